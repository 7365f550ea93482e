package form

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"
)

const xfdfSpace = "http://ns.adobe.com/xfdf/"

// xfdf reads the element fields. What else there is, annotations above all, is passed over;
// formatted text is an error, for what it says would be lost in part. A document type is refused,
// and with it all entities but those of XML itself.
func (r *reader) xfdf(data []byte) error {
	d := xml.NewDecoder(bytes.NewReader(data))
	d.CharsetReader = func(charset string, _ io.Reader) (io.Reader, error) {
		return nil, fmt.Errorf("the encoding %q; want UTF-8", charset)
	}
	x := xfdfReader{r: r}
	for {
		t, err := d.RawToken()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return r.fail("", err.Error())
		}
		if err := x.token(t); err != nil {
			return err
		}
	}
	if len(x.open) > 0 || !x.root {
		return r.fail("", "no XFDF, or not all of it")
	}
	return nil
}

// xfdfReader follows the elements of a file.
type xfdfReader struct {
	r    *reader
	root bool
	open []xfdfElem
}

// xfdfElem is an element that is open.
type xfdfElem struct {
	tag    string // as it is written, with its prefix
	name   string // of the element, without
	field  string // full name, within fields
	values []string
	valued bool
	text   strings.Builder
}

func (x *xfdfReader) token(t xml.Token) error {
	switch t := t.(type) {
	case xml.Directive:
		return x.r.fail("", "a document type, which is refused")
	case xml.ProcInst:
		if t.Target != "xml" {
			return x.r.fail("", "a processing instruction "+t.Target)
		}
	case xml.CharData:
		if n := len(x.open); n > 0 && x.open[n-1].name == "value" {
			x.open[n-1].text.Write(t)
		}
	case xml.StartElement:
		return x.start(t)
	case xml.EndElement:
		return x.end(t)
	}
	return nil
}

func (x *xfdfReader) start(t xml.StartElement) error {
	n := len(x.open)
	if n >= mostDepth {
		return x.r.fail("", fmt.Sprintf("elements more than %d deep", mostDepth))
	}
	if n == 0 {
		if x.root || t.Name.Local != "xfdf" {
			return x.r.fail("", "the outermost element is not xfdf")
		}
		x.root = true
	}
	e := xfdfElem{tag: t.Name.Space + ":" + t.Name.Local}
	parent := ""
	if n > 0 {
		parent = x.open[n-1].name
		e.field = x.open[n-1].field
	}
	switch at := t.Name.Local; {
	case n == 0, at == "fields" && parent == "xfdf":
		e.name = at
	case at == "field" && (parent == "fields" || parent == "field"):
		e.name = at
		for _, a := range t.Attr {
			if a.Name.Local == "name" {
				e.field = below(e.field, a.Value)
			}
		}
		if len(e.field) > mostName {
			return x.r.fail(e.field[:40]+"...", "a name that is too long")
		}
	case at == "value" && parent == "field":
		e.name = at
	case at == "value-richtext" && parent == "field":
		return x.r.fail(e.field, "formatted text, which is not set; give its plain text as value")
	case parent == "value":
		return x.r.fail(e.field, "an element within a value")
	}
	x.open = append(x.open, e)
	return nil
}

func (x *xfdfReader) end(t xml.EndElement) error {
	n := len(x.open) - 1
	if n < 0 || x.open[n].tag != t.Name.Space+":"+t.Name.Local {
		return x.r.fail("", "an element </"+t.Name.Local+"> that was not begun")
	}
	e := &x.open[n]
	x.open = x.open[:n]
	switch e.name {
	case "value":
		up := &x.open[n-1]
		if up.valued = true; len(up.values) >= mostFields {
			return x.r.fail(up.field, "too many values")
		}
		up.values = append(up.values, e.text.String())
	case "field":
		if e.valued {
			return x.r.add(e.field, e.values)
		}
	}
	return nil
}

func appendXFDF(b []byte, file string, values []Value) []byte {
	w := bytes.NewBuffer(b)
	w.WriteString(xml.Header + `<xfdf xmlns="` + xfdfSpace + `" xml:space="preserve">` + "\n")
	if file != "" {
		w.WriteString(`  <f href="` + escaped(file) + "\"/>\n")
	}
	w.WriteString("  <fields>\n")
	var write func(n *node, indent string)
	write = func(n *node, indent string) {
		w.WriteString(indent + `<field name="` + escaped(n.part) + `">`)
		if n.is != nil {
			is := n.is.Is
			if len(is) == 0 {
				is = []string{""}
			}
			for _, s := range is {
				w.WriteString("<value>" + escaped(s) + "</value>")
			}
		}
		if len(n.kids) > 0 {
			w.WriteByte('\n')
			for _, kid := range n.kids {
				write(kid, indent+"  ")
			}
			w.WriteString(indent)
		}
		w.WriteString("</field>\n")
	}
	for _, n := range hierarchy(values).kids {
		write(n, "    ")
	}
	w.WriteString("  </fields>\n</xfdf>\n")
	return w.Bytes()
}

// escaped is a text in XML.
func escaped(s string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(s)) // a Builder takes everything
	return b.String()
}
