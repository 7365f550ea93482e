package clixml

import (
	"bytes"
	"fmt"
	"io"
	"iter"
	"strings"
)

// Namespace is that of a stand-alone document's root.
const Namespace = "http://schemas.microsoft.com/powershell/2004/04"

// textMark is the line with which a text process (pwsh -OutputFormat xml) begins a document.
const textMark = "#< CLIXML"

// StreamValue is a value of a stand-alone document with the stream it belongs to: "output",
// "error", "warning", "verbose", "debug", "progress", "information", in lower case; "" when the
// document does not say.
type StreamValue struct {
	Stream string
	Value  Value
}

// AppendDocument appends a stand-alone document (Export-Clixml, PSSerializer): an <Objs> root with
// the values on indented lines, without a final line end.
func (e *Encoder) AppendDocument(dst []byte, vs ...StreamValue) ([]byte, error) {
	e.reset()
	e.indent = 0
	out := append(dst, `<Objs Version="1.1.0.1" xmlns="`+Namespace+`"`...)
	if len(vs) == 0 {
		return append(out, " />"...), nil
	}
	out = append(out, '>')
	e.in()
	for _, v := range vs {
		e.stream = v.Stream
		out = e.value(out, v.Value, "")
	}
	out = append(e.out(out), "</Objs>"...)
	if e.err != nil {
		return dst, e.err
	}
	return out, nil
}

// Document reads stand-alone documents, one after the other: <Objs> roots, each perhaps after a
// line "#< CLIXML" and an XML declaration. It reads r to its end, up to Limits.Bytes. An error is
// the last pair.
func (d *Decoder) Document(r io.Reader) iter.Seq2[StreamValue, error] {
	return func(yield func(StreamValue, error) bool) {
		d.start(Limits{})
		b, err := io.ReadAll(io.LimitReader(r, d.limits.Bytes+1))
		switch {
		case err != nil:
			yield(StreamValue{}, fmt.Errorf("clixml: read document: %w", err))
			return
		case int64(len(b)) > d.limits.Bytes:
			d.failAs(int(d.limits.Bytes), ErrTooLarge, fmt.Sprintf("document is over the limit of %d bytes", d.limits.Bytes))
		}
		defer d.release()
		b = bytes.TrimPrefix(b, []byte("\xEF\xBB\xBF"))
		d.s, d.pos = string(b), 0
		for d.err == nil {
			more, ok := d.prologue()
			if !ok || !more {
				break
			}
			if !d.root(yield) {
				return
			}
		}
		if d.err != nil {
			yield(StreamValue{}, d.err)
		}
	}
}

// prologue skips what may stand before a root; more is false at the end of the input.
func (d *Decoder) prologue() (more, ok bool) {
	for {
		d.space()
		rest := d.s[d.pos:]
		switch {
		case rest == "":
			return false, true
		case strings.HasPrefix(rest, textMark):
			d.pos += len(textMark)
		case strings.HasPrefix(rest, "<?xml "):
			n := strings.Index(rest, "?>")
			if n < 0 {
				return false, d.fail("an XML declaration that does not end")
			}
			d.pos += n + 2
		default:
			return true, true
		}
	}
}

// root reads one <Objs> and yields its values; false means that the caller has had enough.
func (d *Decoder) root(yield func(StreamValue, error) bool) bool {
	d.element = ""
	tag, empty, ok := d.startTag()
	if !ok {
		return true
	}
	if tag != "Objs" {
		d.unknown(tag, "the root Objs")
		return true
	}
	if raw, found := d.attr("Version"); found {
		text, _ := d.entities(raw, d.pos)
		if v, err := ParseVersion(text); err != nil || v[0] != 1 {
			d.fail(fmt.Sprintf("version %q of CLIXML, not 1.x", clip(raw)))
			return true
		}
	}
	if ns, found := d.attr("xmlns"); !found || ns != Namespace {
		d.fail(fmt.Sprintf("namespace %q of Objs", clip(ns)))
		return true
	}
	// References do not reach from one document into the next.
	clear(d.objects)
	clear(d.types)
	d.objects, d.types, d.sparse, d.strange = d.objects[:0], d.types[:0], nil, nil
	for !empty {
		d.element = "Objs"
		tag, childEmpty, ok := d.child("Objs")
		if !ok {
			return true
		}
		if tag == "" {
			break
		}
		stream, _ := d.attr("S")
		v, ok := d.value(tag, childEmpty)
		if !ok {
			return true
		}
		if !yield(StreamValue{Stream: strings.ToLower(stream), Value: v}, nil) {
			return false
		}
	}
	return true
}
