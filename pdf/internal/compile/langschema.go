package compile

import (
	"encoding/json"
	"maps"
	"strings"
)

// LanguageSchema returns the JSON Schema (draft 2020-12) of templates, for editors: it is made of
// the same grammar that the compiler reads templates by. What a schema cannot say, such as the
// types of expressions, Compile tells.
func LanguageSchema() ([]byte, error) {
	g := schemaMaker{defs: map[string]any{}}
	root := g.mapping(language()["a template"])
	g.form("[<a block>]")
	maps.Copy(g.defs, map[string]any{
		"length": pattern(`^-?[0-9]+(\.[0-9]+)? ?(mm|cm|in|pt)$`),
		"width":  pattern(`^([0-9]+(\.[0-9]+)? ?(mm|cm|in|pt|fr|%)|auto)$`),
		"color":  pattern(`^(#[0-9A-Fa-f]{3}|#[0-9A-Fa-f]{6}|none)$`),
		"paint":  pattern(`^(#[0-9A-Fa-f]{3}|#[0-9A-Fa-f]{6}|none|\$\{[\s\S]*\})$`),
	})
	for _, name := range []string{"length", "width"} {
		g.defs[name] = map[string]any{"anyOf": []any{g.defs[name], map[string]any{"const": 0}}}
	}
	root["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	root["title"] = "Quire template, version 1"
	root["$defs"] = g.defs
	return json.MarshalIndent(root, "", " ")
}

func pattern(re string) map[string]any { return map[string]any{"type": "string", "pattern": re} }

// schemaMaker writes mappings of the language as definitions, each once.
type schemaMaker struct{ defs map[string]any }

// mapping is an object with these keys and no others.
func (g *schemaMaker) mapping(m *mapping) map[string]any {
	properties, required := map[string]any{}, []string{}
	for _, k := range m.keys {
		if k.later {
			continue
		}
		if k.needed {
			required = append(required, k.name)
		}
		properties[k.name] = g.forms(k.forms)
	}
	out := map[string]any{"type": "object", "properties": properties, "additionalProperties": false}
	if len(required) > 0 {
		out["required"] = required
	}
	return out
}

func (g *schemaMaker) forms(list []string) any {
	var words, out []any
	for _, f := range list {
		if strings.HasPrefix(f, "'") {
			words = append(words, strings.Trim(f, "'"))
		} else {
			out = append(out, g.form(f))
		}
	}
	if len(words) > 0 {
		out = append(out, map[string]any{"enum": words})
	}
	if len(out) == 1 {
		return out[0]
	}
	return map[string]any{"anyOf": out}
}

func (g *schemaMaker) form(f string) any {
	ref := func(name string) any { return map[string]any{"$ref": "#/$defs/" + name} }
	inner := f[1 : len(f)-1]
	switch {
	case f[0] == '[' && wordsOf(f) != nil:
		return map[string]any{"type": "array", "items": map[string]any{"enum": wordsOf(f)}}
	case f[0] == '[':
		return map[string]any{"type": "array", "items": g.form(inner)}
	case f[0] == '{':
		return map[string]any{"type": "object", "additionalProperties": g.form(inner)}
	case f[0] == '<':
		return g.named(inner)
	case strings.HasPrefix(f, "int="), strings.HasPrefix(f, "num="):
		kind := "integer"
		if f[0] == 'n' {
			kind = "number"
		}
		least, most := bounds(f)
		return map[string]any{"type": kind, "minimum": least, "maximum": most}
	case f == "flag":
		return map[string]any{"type": "boolean"}
	case f == "edges":
		list := map[string]any{"type": "array", "items": ref("length"), "minItems": 2, "maxItems": 4}
		return map[string]any{"anyOf": []any{ref("length"), list}}
	case f == "length", f == "width", f == "color", f == "paint":
		return ref(f)
	case f == "any":
		return map[string]any{}
	}
	// A word, text or expression: any scalar stands for its text.
	return map[string]any{"type": []string{"string", "number", "boolean"}}
}

// named is a reference to the definition of a mapping, or of one of the few that are more than a
// mapping.
func (g *schemaMaker) named(name string) any {
	id := strings.ReplaceAll(name, " ", "-")
	ref := map[string]any{"$ref": "#/$defs/" + id}
	if _, made := g.defs[id]; made {
		return ref
	}
	g.defs[id] = nil // it may hold itself
	scalar := map[string]any{"type": []string{"string", "number", "boolean", "null"}}
	list := func(of string) any { return map[string]any{"type": "array", "items": g.named(of)} }
	switch name {
	case "a block":
		g.defs[id] = map[string]any{"anyOf": g.blocks()}
	case "content": // of cells and items
		g.defs[id] = map[string]any{"anyOf": []any{scalar, g.named("a block"), list("a block")}}
	case "cells": // a row: its cells, or a mapping with how it looks
		g.defs[id] = map[string]any{"anyOf": []any{list("a cell"), g.named("a row")}}
	case "a cell", "an option":
		g.defs[id] = map[string]any{"anyOf": []any{scalar, g.mapping(language()[name])}}
	case "a watermark":
		g.defs[id] = map[string]any{"anyOf": []any{map[string]any{"type": "null"}, g.mapping(language()[name])}}
	default:
		g.defs[id] = g.mapping(language()[name])
	}
	return ref
}

// blocks are the objects that a block may be, one for each kind.
func (g *schemaMaker) blocks() []any {
	var out []any
	for _, k := range kinds() {
		if k.compile == nil {
			continue
		}
		o := g.mapping(blockMapping(k))
		value := g.form("text")
		switch {
		case k.name == "rule":
			value = map[string]any{"anyOf": []any{map[string]any{"type": "null"}, g.named(k.name)}}
		case k.holds:
			value = g.named(k.name)
		case k.name == "barcode":
			value = map[string]any{"enum": barcodeKinds()}
		case k.name == "field":
			value = map[string]any{"enum": fieldKinds()}
		case k.name == "page-break":
			value = map[string]any{"enum": []any{true, "odd", nil}}
		}
		o["properties"].(map[string]any)[k.name] = value
		out = append(out, o)
	}
	for _, name := range []string{"for", "if"} {
		out = append(out, g.mapping(language()["a block with "+name]))
	}
	return out
}
