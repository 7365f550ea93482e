package svg

import (
	"bytes"
	"crypto/sha256"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"example.com/quire/pdf/internal/diag"
)

// The namespaces.
const (
	space      = "http://www.w3.org/2000/svg"
	spaceXLink = "http://www.w3.org/1999/xlink"
	spaceXML   = "http://www.w3.org/XML/1998/namespace"
)

// File is an SVG file that was read. It is immutable and safe for concurrent use.
type File struct {
	hash   [sha256.Size]byte
	root   *node
	ids    map[string]*node
	rules  []rule
	index  map[string][]int // rules by the key of what they select
	limits diag.Limits
	warn   []Warning // of the style sheet
	nodes  int64
	bytes  int64
}

// size is what the file takes up once it is read, about.
func (f *File) size() int64 {
	const node = 256 // with a few attributes
	return node*f.nodes + 2*f.bytes
}

// node is an element, or with an empty name the text between two.
type node struct {
	name      string
	attrs     []attr
	text      string
	parent    *node
	kids      []*node
	line, col int
	foreign   bool // of another namespace: not drawn, and no business of ours
}

type attr struct{ name, value string }

func (n *node) get(name string) string {
	for i := range n.attrs {
		if n.attrs[i].name == name {
			return n.attrs[i].value
		}
	}
	return ""
}

func (n *node) has(name string) bool {
	for i := range n.attrs {
		if n.attrs[i].name == name {
			return true
		}
	}
	return false
}

// Is reports whether data looks like an SVG file and not like any kind of bitmap.
func Is(data []byte) bool {
	data = bytes.TrimPrefix(data, []byte("\xEF\xBB\xBF"))
	return bytes.HasPrefix(bytes.TrimLeft(data, " \t\r\n"), []byte("<"))
}

// reader reads one file.
type reader struct {
	dec   *xml.Decoder
	f     *File
	at    *node // the open element
	root  *node
	nodes int64
	depth int64
	css   []*node // style elements
}

// Read reads an SVG file. Errors are *Error with the place in the file and *diag.LimitError.
func Read(data []byte, l diag.Limits) (*File, error) {
	l = l.WithDefaults()
	if err := diag.Check("SVGBytes", int64(len(data)), l.SVGBytes, ""); err != nil {
		return nil, err
	}
	data = bytes.TrimPrefix(data, []byte("\xEF\xBB\xBF"))
	r := &reader{
		dec: xml.NewDecoder(bytes.NewReader(data)),
		f:   &File{hash: sha256.Sum256(data), ids: map[string]*node{}, limits: l},
	}
	for {
		line, col := r.dec.InputPos()
		tok, err := r.dec.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err == nil {
			err = r.token(tok, line, col)
		} else {
			err = r.syntax(err)
		}
		if err != nil {
			return nil, err
		}
	}
	if r.root == nil {
		return nil, &Error{Line: 1, Col: 1, Message: "no svg element"}
	}
	r.f.root = r.root
	for _, n := range r.css {
		if err := r.f.sheet(n); err != nil {
			return nil, err
		}
	}
	r.f.indexRules()
	if err := diag.Check("SVGElements", r.nodes+int64(len(r.f.rules)), l.SVGElements, ""); err != nil {
		return nil, err
	}
	r.f.nodes, r.f.bytes = r.nodes, int64(len(data))
	return r.f, nil
}

// syntax is an error of the XML decoder at its place.
func (r *reader) syntax(err error) error {
	line, col := r.dec.InputPos()
	e := &Error{Line: line, Col: col, Message: err.Error()}
	if se, ok := errors.AsType[*xml.SyntaxError](err); ok {
		e.Message = se.Msg
		if strings.HasPrefix(se.Msg, "invalid character entity &") && !strings.Contains(se.Msg, "(no semicolon)") {
			e.Refused, e.Remedy = true, "write the character itself"
		}
	}
	return e
}

func refuse(line, col int, remedy, format string, args ...any) error {
	return &Error{Line: line, Col: col, Refused: true, Message: fmt.Sprintf(format, args...), Remedy: remedy}
}

func (r *reader) token(tok xml.Token, line, col int) error {
	switch t := tok.(type) {
	case xml.StartElement:
		return r.open(t, line, col)
	case xml.EndElement:
		r.at = r.at.parent
		r.depth--
	case xml.CharData:
		if r.at == nil {
			if len(bytes.TrimSpace(t)) > 0 {
				return &Error{Line: line, Col: col, Message: "text outside of the svg element"}
			}
			return nil
		}
		if r.at.foreign {
			return nil
		}
		return r.add(&node{text: string(t), line: line, col: col})
	case xml.Directive:
		return refuse(line, col, "remove it: a drawing needs none", "a document type definition (<!%s", head(string(t)))
	case xml.ProcInst:
		if t.Target != "xml" {
			return refuse(line, col, "remove it", "the processing instruction %q", t.Target)
		}
	}
	return nil
}

// head is the first word of a directive.
func head(s string) string {
	word, _, _ := strings.Cut(s, " ")
	return word + ")"
}

// add puts a node into the open element, within the limit.
func (r *reader) add(n *node) error {
	r.nodes++
	if err := diag.Check("SVGElements", r.nodes, r.f.limits.SVGElements, place(n)); err != nil {
		return err
	}
	n.parent = r.at
	if r.at != nil {
		r.at.kids = append(r.at.kids, n)
	}
	return nil
}

func place(n *node) string { return strconv.Itoa(n.line) + ":" + strconv.Itoa(n.col) }

func (r *reader) open(t xml.StartElement, line, col int) error {
	n := &node{name: t.Name.Local, line: line, col: col}
	n.foreign = t.Name.Space != space || r.at != nil && r.at.foreign
	if r.at == nil {
		switch {
		case r.root != nil:
			return &Error{Line: line, Col: col, Message: "a second root element"}
		case n.name != "svg":
			return &Error{Line: line, Col: col, Message: fmt.Sprintf("the root element is %q, not svg", n.name)}
		case n.foreign:
			return &Error{Line: line, Col: col, Message: "the svg element is not in its namespace", Remedy: `write <svg xmlns="` + space + `">`}
		}
		r.root = n
	}
	r.depth++
	if err := diag.Check("SVGDepth", r.depth, r.f.limits.SVGDepth, place(n)); err != nil {
		return err
	}
	if err := r.add(n); err != nil {
		return err
	}
	r.at = n
	if n.foreign {
		return nil
	}
	if n.name == "script" {
		return refuse(line, col, "remove it: a drawing on paper runs nothing", "a script")
	}
	if err := r.attributes(n, t.Attr); err != nil {
		return err
	}
	if id := n.get("id"); id != "" {
		if _, dup := r.f.ids[id]; !dup { // the first one counts, as in browsers
			r.f.ids[id] = n
		}
	}
	if n.name == "style" {
		r.css = append(r.css, n)
	}
	return nil
}

func (r *reader) attributes(n *node, attrs []xml.Attr) error {
	n.attrs = make([]attr, 0, len(attrs))
	seen := make(map[xml.Name]bool, len(attrs))
	for _, a := range attrs {
		if seen[a.Name] {
			return &Error{Line: n.line, Col: n.col, Message: fmt.Sprintf("%s has the attribute %q twice", n.name, a.Name.Local)}
		}
		seen[a.Name] = true
		name := a.Name.Local
		switch a.Name.Space {
		case "":
		case spaceXLink:
			if name != "href" || n.has("href") {
				continue
			}
		case spaceXML:
			if name == "base" {
				return refuse(n.line, n.col, "remove it: a drawing refers to itself only", "xml:base on %s", n.name)
			}
			name = "xml:" + name
		default:
			continue
		}
		if err := r.judge(n, name, a.Value); err != nil {
			return err
		}
		if a.Name.Space == "" && name == "href" && n.has("href") {
			n.set("href", a.Value) // it counts, not xlink:href (SVG 2, 13.2)
			continue
		}
		n.attrs = append(n.attrs, attr{name, a.Value})
	}
	return nil
}

func (n *node) set(name, value string) {
	for i := range n.attrs {
		if n.attrs[i].name == name {
			n.attrs[i].value = value
		}
	}
}

// judge refuses attributes that run something or reach out of the file.
func (r *reader) judge(n *node, name, value string) error {
	if len(name) > 2 && strings.EqualFold(name[:2], "on") {
		return refuse(n.line, n.col, "remove it: a drawing on paper runs nothing", "the script in %s of %s", name, n.name)
	}
	value = strings.TrimSpace(value)
	if name == "href" {
		switch {
		case strings.HasPrefix(value, "#") || value == "":
		case n.name == "a":
			if scheme, _, _ := strings.Cut(value, ":"); strings.EqualFold(strings.TrimSpace(scheme), "javascript") {
				return refuse(n.line, n.col, "remove it", "the script in href of a")
			}
		case n.name == "image" && len(value) > 5 && strings.EqualFold(value[:5], "data:"):
		default:
			return refuse(n.line, n.col, "put what it names into the file and refer to it as #id", "%s refers to %s outside of the file", n.name, diag.Quote(value))
		}
	}
	if ref, outside := outsideURL(value); outside {
		return refuse(n.line, n.col, "put what it names into the file and refer to it as url(#id)", "%s of %s refers to %s outside of the file", name, n.name, diag.Quote(ref))
	}
	return nil
}

// outsideURL returns the first url() of a style that is not one of the file itself.
func outsideURL(s string) (ref string, outside bool) {
	for {
		_, rest, found := cutURL(s)
		if !found {
			return "", false
		}
		ref, s, _ = strings.Cut(rest, ")")
		ref = strings.Trim(ref, " \t\r\n\"'")
		if !strings.HasPrefix(ref, "#") {
			return ref, true
		}
	}
}

// cutURL cuts s around the first "url(", in letters of any case.
func cutURL(s string) (before, after string, found bool) {
	for i := 0; ; i++ {
		n := strings.IndexByte(s[i:], '(')
		if n < 0 {
			return s, "", false
		}
		if i += n; i >= 3 && strings.EqualFold(s[i-3:i], "url") {
			return s[:i-3], s[i+1:], true
		}
	}
}
