package compile

import (
	"bytes"
	"encoding/json"
	"flag"
	"go/ast"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"go.yaml.in/yaml/v4"
)

func languageSchema(tb testing.TB) *jsonschema.Schema {
	tb.Helper()
	src, err := LanguageSchema()
	if err != nil {
		tb.Fatal(err)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(src))
	if err != nil {
		tb.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("template.json", doc); err != nil {
		tb.Fatal(err)
	}
	s, err := c.Compile("template.json")
	if err != nil {
		tb.Fatal(err)
	}
	return s
}

// valid judges a template by the schema.
func valid(tb testing.TB, s *jsonschema.Schema, src []byte) error {
	tb.Helper()
	var v any
	if err := yaml.Unmarshal(src, &v); err != nil {
		tb.Fatal(err)
	}
	b, err := json.Marshal(v)
	if err != nil {
		tb.Fatal(err)
	}
	if v, err = jsonschema.UnmarshalJSON(bytes.NewReader(b)); err != nil {
		tb.Fatal(err)
	}
	return s.Validate(v)
}

// TestSchemaFileIsThatOfTheLanguage: schema/v1.json is what the grammar makes.
func TestSchemaFileIsThatOfTheLanguage(t *testing.T) {
	t.Parallel()
	const file = "../../../schema/v1.json"
	want, err := LanguageSchema()
	if err != nil {
		t.Fatal(err)
	}
	want = append(want, '\n')
	if update := flag.Lookup("update"); update != nil && update.Value.String() == "true" {
		if err := os.WriteFile(file, want, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := os.ReadFile(file); err != nil || !bytes.Equal(got, want) {
		t.Errorf("schema/v1.json is not that of the language; run the test with -update (%v)", err)
	}
}

// TestSamplesHoldTheSchemaOfTheLanguage: every template that compiles holds the schema that editors
// have.
func TestSamplesHoldTheSchemaOfTheLanguage(t *testing.T) {
	t.Parallel()
	s := languageSchema(t)
	count := 0
	for _, glob := range []string{"testdata/samples/*.yaml", "../../../examples/pdf/samples/*/template.yaml"} {
		files, err := filepath.Glob(glob)
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			src, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Contains(src, []byte("\nbody:")) {
				continue // a theme or components
			}
			count++
			if err := valid(t, s, src); err != nil {
				t.Errorf("%s: %v", file, err)
			}
		}
	}
	if count < 25 {
		t.Errorf("%d templates", count)
	}
	page, err := os.ReadFile("../../../docs/templates.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range regexp.MustCompile("(?s)```yaml (template|body)\n(.*?)```").FindAllSubmatch(page, -1) {
		src := m[2]
		if string(m[1]) == "body" && bytes.HasPrefix(src, []byte("- ")) {
			src = append([]byte("quire: 1\nname: x\nlang: en\ntitle: x\nbody:\n"), src...)
		} else if string(m[1]) == "body" {
			continue
		}
		if err := valid(t, s, src); err != nil {
			t.Errorf("docs/templates.md: %v\n%s", err, src)
		}
	}
}

// TestSchemaAndCompilerRefuseTheSameKeys: a key that the compiler calls unknown is none of the
// schema, and every mapping of the schema refuses one.
func TestSchemaAndCompilerRefuseTheSameKeys(t *testing.T) {
	t.Parallel()
	s := languageSchema(t)
	const head = "quire: 1\nname: x\nlang: en\ntitle: x\n"
	for _, src := range []string{
		head + "zzz: 1\nbody: [{text: a}]", head + "page: {zzz: 1}\nbody: [{text: a}]",
		head + "body: [{text: a, zzz: 1}]", head + "body: [{box: {zzz: 1, do: [{text: a}]}}]",
		head + "body: [{table: {columns: [{head: a, zzz: 1}], rows: [[a]]}}]",
		head + "body: [{table: {columns: [{head: a}], rows: [{cells: [a], zzz: 1}]}}]",
		head + "body: [{table: {columns: [{head: a}], rows: [[{text: a, zzz: 1}]]}}]",
		head + "body: [{text: a, tabs: [{at: 1mm, zzz: 1}]}]", head + "styles: {a: {zzz: 1}}\nbody: [{text: a}]",
		head + "body: [{for: 'x in [1]', do: [{text: a}], zzz: 1}]", head + "body: [{if: 'true', do: [{text: a}], zzz: 1}]",
		head + "body: [{rule: {thickness: 1pt}, lang: de}]", head + "body: [{text: a, artifact: x}]", head + "sign: {}\nbody: [{text: a}]",
		head + "body: [{txet: a}]", head + "body: [{text: a, align: middle}]", head + "body: [{spacer: 3}]",
	} {
		_, err := Compile(t.Context(), []byte(src), Options{File: "x.yaml"})
		if err == nil {
			t.Errorf("the compiler takes %s", src)
		}
		if valid(t, s, []byte(src)) == nil && !strings.Contains(src, "spacer") {
			t.Errorf("the schema takes %s", src)
		}
	}
}

// TestEveryKeyOfTheGrammarIsRead: the compiler asks for each key that the grammar has, and for no
// other.
func TestEveryKeyOfTheGrammarIsRead(t *testing.T) {
	t.Parallel()
	keys, _ := literals(t)
	read := map[string]bool{}
	for _, k := range slices.Concat(keys, styleKeys, tableKeys(t)) {
		read[k] = true
	}
	known := map[string]bool{}
	for name, m := range language() {
		for _, k := range m.keys {
			known[k.name] = true
			if !k.later && !read[k.name] {
				t.Errorf("%s: nobody reads %q", name, k.name)
			}
			for _, f := range k.forms {
				if of := strings.Trim(f, "[]{}"); strings.HasPrefix(of, "<") && language()[strings.Trim(of, "<>")] == nil &&
					!slices.Contains([]string{"<a block>", "<content>", "<cells>"}, of) {
					t.Errorf("%s.%s: there is no %s", name, k.name, of)
				}
			}
		}
	}
	for _, k := range kinds() {
		known[k.name] = true
		if k.compile != nil && language()[k.name] == nil {
			t.Errorf("the grammar has no %s", k.name)
		}
	}
	for _, k := range keys {
		if !known[k] {
			t.Errorf("the compiler reads %q, which the grammar has not", k)
		}
	}
}

// tableKeys are the keys that the compiler's source reads by tables: `{"key", &field}`.
func tableKeys(t *testing.T) (out []string) {
	t.Helper()
	inspect(t, func(n ast.Node) {
		if l, ok := n.(*ast.CompositeLit); ok && len(l.Elts) >= 2 {
			out = append(out, texts(t, l.Elts[:1])...)
		}
	})
	return append(out, "top", "right", "bottom", "left", "all", "rows", "columns", "width", "color", "dash", "extends")
}

// TestWordsOfTheGrammarAreThoseOfTheCompiler: each choice that the compiler offers is one of the
// grammar, and each of the grammar is offered.
func TestWordsOfTheGrammarAreThoseOfTheCompiler(t *testing.T) {
	t.Parallel()
	offered := map[string]bool{}
	inspect(t, func(n ast.Node) {
		if call, ok := n.(*ast.CallExpr); ok {
			if words := offers(t, call); len(words) > 0 {
				offered[joined(words)] = true
			}
		}
	})
	known := map[string]bool{}
	for _, m := range language() {
		for _, k := range m.keys {
			var words []string
			for _, f := range k.forms {
				words = append(words, wordsOf(f)...)
			}
			if len(words) > 0 {
				known[joined(words)] = true
			}
		}
	}
	for _, elsewhere := range []string{"all", "print modify copy annotate fill assemble print-high", "L M Q H", "down half-down half-even half-up up"} {
		offered[joined(strings.Fields(elsewhere))] = true // not by choice with words
	}
	offered[joined([]string{"on", "off"})] = true
	for _, words := range slices.Sorted(maps.Keys(offered)) {
		if !known[words] {
			t.Errorf("the grammar has no choice of %s", words)
		}
	}
	for _, words := range slices.Sorted(maps.Keys(known)) {
		if !offered[words] {
			t.Errorf("the compiler offers no choice of %s", words)
		}
	}
}

func joined(words []string) string {
	words = slices.Clone(words)
	slices.Sort(words)
	return strings.Join(words, " ")
}

// TestGrammarOfMappingsIsComplete: what a message calls a mapping is how the grammar calls it.
func TestGrammarOfMappingsIsComplete(t *testing.T) {
	t.Parallel()
	open := []string{
		"a block", "vars", "styles", "types", "data", "components", "params", "with", "slots", "families", "the value of a payment", "the ",
		"the value of ", "a ",
	}
	for _, what := range objectNames(t) {
		if language()[what] == nil && !slices.Contains(open, what) {
			t.Errorf("the grammar has no %q", what)
		}
	}
}

func objectNames(t *testing.T) (out []string) {
	t.Helper()
	inspect(t, func(n ast.Node) {
		call, ok := n.(*ast.CallExpr)
		if !ok || len(call.Args) != 3 {
			return
		}
		if m, ok := call.Fun.(*ast.SelectorExpr); ok && m.Sel.Name == "object" {
			out = append(out, texts(t, call.Args[2:])...)
		}
	})
	if len(out) < 20 {
		t.Errorf("%d mappings", len(out))
	}
	return out
}
