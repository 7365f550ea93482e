package strictyaml

import (
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// readJSON reads a source that is JSON; ok is false for any other text, which is YAML's.
func (b *builder) readJSON() (root *Node, ok bool) {
	i := b.src.skip(0, spaces)
	if i == len(b.src.text) || b.src.text[i] != '{' && b.src.text[i] != '[' {
		return nil, false
	}
	doubles := jsontext.AllowDuplicateNames(true) // the builder reports them all
	if !jsontext.Value(b.src.text).IsValid(doubles) {
		return nil, false
	}
	j := jsonReader{builder: b, dec: jsontext.NewDecoder(strings.NewReader(b.src.text), doubles)}
	return j.value(), true
}

type jsonReader struct {
	*builder
	dec *jsontext.Decoder
}

// value reads the next value of a text that is known to be valid.
func (j *jsonReader) value() *Node {
	switch j.dec.PeekKind() {
	case '{':
		n := j.open(Mapping)
		pairs := j.pairs(n)
		for j.more('}') {
			key := j.scalar(false)
			pairs.add(key, j.value())
		}
		return n
	case '[':
		n := j.open(Sequence)
		for j.more(']') {
			n.Items = append(n.Items, j.value())
		}
		return n
	}
	return j.scalar(true)
}

func (j *jsonReader) open(k Kind) *Node {
	_, _ = j.dec.ReadToken()
	line, col := j.src.place(int(j.dec.InputOffset()) - 1)
	n := j.node(k, line, col)
	j.enter(n)
	return n
}

// more reports whether another element stands before the bracket end, which it reads.
func (j *jsonReader) more(end jsontext.Kind) bool {
	if j.failed {
		return false
	}
	if j.dec.PeekKind() != end {
		return true
	}
	_, _ = j.dec.ReadToken()
	j.leave()
	return false
}

func (j *jsonReader) scalar(count bool) *Node {
	raw, err := j.dec.ReadValue()
	if err != nil {
		return &Node{Kind: Null, Line: 1, Col: 1}
	}
	off := int(j.dec.InputOffset()) - len(raw)
	line, col := j.src.place(off)
	n := &Node{Line: line, Col: col}
	if count {
		n = j.node(String, line, col)
	}
	if raw[0] != '"' {
		n.Text = string(raw)
		n.Kind = resolve(n.Text)
		j.src.follow(n, off, plain)
		return n
	}
	text, _ := jsontext.AppendUnquote(nil, raw)
	n.Kind, n.Text, n.Quoted = String, string(text), true
	j.src.follow(n, off, double)
	return n
}
