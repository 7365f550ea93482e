package web

import (
	"bytes"
	"cmp"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"html"
	"log/slog"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"example.com/quire/internal/httpfield"
)

// writeProblem answers by p in the form that the client prefers.
func (c *Context) writeProblem(p *Problem) {
	h := c.w.Header()
	b := c.app.getBuffer()
	defer c.app.putBuffer(b)
	p.answer(h, c.req.Header["Accept"], &b.Buffer, c.app.log)
	c.w.WriteHeader(p.Status)
	if _, err := c.w.Write(b.Bytes()); err != nil {
		c.abort = true
		c.log(slog.LevelDebug, "error answer not written", err)
	}
}

// problemForms are what a client may ask for, in the order of our preference.
var problemForms = []string{"application/problem+json", "application/json", "application/problem+xml", "application/xml", "text/plain", "text/html", "text/xml"}

// answer writes p's body in the form that accept prefers, and the header that
// goes with it.
func (p *Problem) answer(h http.Header, accept []string, b *bytes.Buffer, log *slog.Logger) {
	if h["Vary"] == nil {
		h["Vary"] = valueAccept
	} else {
		addVary(h, "Accept")
	}
	h["Cache-Control"] = valueNoStore
	for name, values := range p.Header {
		h[http.CanonicalHeaderKey(name)] = values
	}
	if (p.Status == http.StatusServiceUnavailable || p.Status == http.StatusTooManyRequests) && h["Retry-After"] == nil {
		h["Retry-After"] = valueRetry
	}
	switch httpfield.Prefer(accept, problemForms...) {
	case "text/html":
		h["Content-Type"] = valueHTML
		h.Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; base-uri 'none'")
		p.html(b)
	case "text/plain":
		h["Content-Type"] = valueText
		p.text(b)
	case "application/problem+xml", "application/xml", "text/xml":
		h["Content-Type"] = []string{"application/problem+xml"}
		p.xml(b)
	default:
		h["Content-Type"] = valueProblem
		text, err := p.appendJSON(b.AvailableBuffer())
		if err != nil { // an extension that has no JSON form
			log.Error("problem not encodable", slog.String("id", p.Instance), slog.Any("err", err))
			p.Ext = nil
			text, _ = p.appendJSON(b.AvailableBuffer()) // without extensions all members are texts and numbers
		}
		b.Write(text)
	}
	h["Content-Length"] = contentLength(b.Len())
}

// MarshalJSON writes the members of RFC 9457, section 3.1, then the extensions.
func (p *Problem) MarshalJSON() ([]byte, error) { return p.appendJSON(nil) }

// problemMembers are the members that an extension cannot be.
var problemMembers = []string{"type", "title", "status", "detail", "instance", "fields"}

func (p *Problem) appendJSON(b []byte) ([]byte, error) {
	if p.Type == "" {
		b = append(b, `{"type":"about:blank","title":`...)
	} else {
		b = append(appendJSONText(append(b, `{"type":`...), p.Type), `,"title":`...)
	}
	if text := http.StatusText(p.Status); p.Title == "" && text != "" { // which needs no escapes
		b = append(append(append(b, '"'), text...), '"')
	} else {
		b = appendJSONText(b, p.title())
	}
	b = strconv.AppendInt(append(b, `,"status":`...), int64(p.Status), 10)
	if p.Detail != "" {
		b = appendJSONText(append(b, `,"detail":`...), p.Detail)
	}
	if p.Instance != "" {
		b = appendJSONText(append(b, `,"instance":`...), p.Instance)
	}
	put := func(name string, v any) error {
		text, err := json.Marshal(v)
		if err != nil {
			return fmt.Errorf("web: problem member %q: %w", name, err)
		}
		b = append(append(appendJSONText(append(b, ','), name), ':'), text...)
		return nil
	}
	if len(p.Fields) > 0 {
		if err := put("fields", p.Fields); err != nil {
			return nil, err
		}
	}
	if len(p.Ext) > 0 {
		for _, name := range slices.Sorted(maps.Keys(p.Ext)) {
			if slices.Contains(problemMembers, name) {
				continue
			}
			if err := put(name, p.Ext[name]); err != nil {
				return nil, err
			}
		}
	}
	return append(b, '}'), nil
}

// plainJSON marks the bytes that json.Marshal writes as they are.
var plainJSON = func() (plain [256]bool) {
	for c := ' '; c < 0x7f; c++ {
		plain[c] = !strings.ContainsRune(`"\<>&`, c)
	}
	return plain
}()

// appendJSONText appends s as json.Marshal writes it.
func appendJSONText(b []byte, s string) []byte {
	for i := range len(s) {
		if !plainJSON[s[i]] {
			text, _ := json.Marshal(s) // a text always has a JSON form
			return append(b, text...)
		}
	}
	b = append(b, '"')
	b = append(b, s...)
	return append(b, '"')
}

func (p *Problem) text(b *bytes.Buffer) {
	fmt.Fprintf(b, "%d %s\n", p.Status, p.title())
	if p.Detail != "" {
		fmt.Fprintf(b, "%s\n", p.Detail)
	}
	for _, f := range p.Fields {
		fmt.Fprintf(b, "- %s\n", f)
	}
	if p.Instance != "" {
		fmt.Fprintf(b, "id %s\n", p.Instance)
	}
}

// String returns the place and the detail in one line.
func (f FieldError) String() string {
	place := strings.TrimSpace(f.Source + " " + f.Name + f.Pointer)
	if f.Line > 0 {
		place = fmt.Sprintf("%s line %d column %d", place, f.Line, f.Column)
	}
	return strings.TrimPrefix(place+": "+f.Detail, ": ")
}

func (p *Problem) html(b *bytes.Buffer) {
	title := html.EscapeString(p.title())
	fmt.Fprintf(b, "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>%d %s</title>"+
		"<style>body{font:1rem/1.5 system-ui,sans-serif;margin:4rem auto;max-width:40rem;padding:0 1rem}small{color:#595959}</style>"+
		"</head><body><main><h1>%d %s</h1>", p.Status, title, p.Status, title)
	if p.Detail != "" {
		fmt.Fprintf(b, "<p>%s</p>", html.EscapeString(p.Detail))
	}
	if len(p.Fields) > 0 {
		b.WriteString("<ul>")
		for _, f := range p.Fields {
			fmt.Fprintf(b, "<li>%s</li>", html.EscapeString(f.String()))
		}
		b.WriteString("</ul>")
	}
	if p.Instance != "" {
		fmt.Fprintf(b, "<p><small>%s</small></p>", html.EscapeString(p.Instance))
	}
	b.WriteString("</main></body></html>\n")
}

// xml writes the form of RFC 9457, appendix B. An extension is left out when its name is none
// of XML or its value has no JSON form.
func (p *Problem) xml(b *bytes.Buffer) {
	kind := cmp.Or(p.Type, "about:blank")
	b.WriteString(xml.Header + `<problem xmlns="urn:ietf:rfc:7807">`)
	put := func(name, text string) {
		if text != "" {
			xmlElement(b, name, text)
		}
	}
	put("type", kind)
	put("title", p.title())
	put("status", fmt.Sprint(p.Status))
	put("detail", p.Detail)
	put("instance", p.Instance)
	if len(p.Fields) > 0 {
		texts := make([]any, len(p.Fields))
		for i, f := range p.Fields {
			texts[i] = f.String()
		}
		xmlElement(b, "fields", texts)
	}
	for _, name := range slices.Sorted(maps.Keys(p.Ext)) {
		if slices.Contains(problemMembers, name) {
			continue
		}
		if text, err := json.Marshal(p.Ext[name]); err == nil {
			d := json.NewDecoder(bytes.NewReader(text))
			d.UseNumber()
			var v any
			if d.Decode(&v) == nil {
				xmlElement(b, name, v)
			}
		}
	}
	b.WriteString("</problem>\n")
}

// xmlElement writes a JSON value as an element: an object as elements of its names, an
// array as elements named i.
func xmlElement(b *bytes.Buffer, name string, v any) {
	if !isXMLName(name) {
		return
	}
	b.WriteString("<" + name + ">")
	switch v := v.(type) {
	case map[string]any:
		for _, inner := range slices.Sorted(maps.Keys(v)) {
			xmlElement(b, inner, v[inner])
		}
	case []any:
		for _, item := range v {
			xmlElement(b, "i", item)
		}
	case nil:
	default:
		_ = xml.EscapeText(b, []byte(fmt.Sprint(v))) // a bytes.Buffer takes everything
	}
	b.WriteString("</" + name + ">")
}

// isXMLName takes the names of ASCII without a colon, which RFC 9457, section 3.2, advises.
func isXMLName(name string) bool {
	return name != "" && (isLetter(name[0]) || name[0] == '_') &&
		every(name, func(c byte) bool { return isLetter(c) || isDigit(c) || c == '_' || c == '-' || c == '.' })
}

// addVary adds a field name to Vary unless it is there.
func addVary(h http.Header, name string) {
	for _, line := range h["Vary"] {
		for part := range strings.SplitSeq(line, ",") {
			if part = strings.TrimSpace(part); strings.EqualFold(part, name) || part == "*" {
				return
			}
		}
	}
	if lines := h["Vary"]; lines != nil || name != valueAccept[0] {
		h["Vary"] = append(lines, name)
		return
	}
	h["Vary"] = valueAccept
}
