package cos

import "bytes"

// InlineImage is the operand of the operator EI (ISO 32000-2, 8.9.7): the dictionary of an image in
// a content stream, with its keys as written. As an [Object] it prints the dictionary.
type InlineImage struct {
	Dict Dict
	Data []byte // as it is encoded
}

// AppendPDF implements [Object].
func (i InlineImage) AppendPDF(dst []byte) []byte { return i.Dict.AppendPDF(dst) }

// mostOperands is how many operands of one operator are kept: what stands before them means
// nothing, for no operator takes as many (DeviceN colours have at most 32 and a name).
const mostOperands = 64

// Operators calls f with each operator of a content stream (7.8.2) and its operands, until f
// returns an error. f must not keep args. Data that is not content is skipped, so that data of any
// kind gives no error except f's and that of the limit of nesting.
func Operators(data []byte, f func(op []byte, args []Object) error) error {
	p := parser{b: data, whole: true, depth: 64, m: &memory{}}
	var args []Object
	for p.space() {
		start := p.pos
		o, err := p.object(1)
		if err != nil {
			if _, broken := err.(syntaxError); !broken { //nolint:errorlint // the parser returns it bare
				return err
			}
			if p.pos == start { // a string that does not end: what follows is of it
				return nil
			}
			continue
		}
		k, isWord := o.(keyword)
		if !isWord {
			if len(args) == mostOperands {
				args = args[1:]
			}
			args = append(args, o)
			continue
		}
		if p.pos == start { // a word of no characters
			p.pos++
			continue
		}
		op := data[start:p.pos]
		if string(k) == "BI" {
			args = append(args[:0], p.inlineImage())
			op = []byte("EI")
		}
		if err := f(op, args); err != nil {
			return err
		}
		args = args[:0]
	}
	return nil
}

// inlineImage reads what follows BI, to its EI.
func (p *parser) inlineImage() InlineImage {
	i := InlineImage{}
	for p.space() {
		start := p.pos
		o, err := p.object(1)
		if err != nil {
			p.pos = len(p.b) // as in Operators
			return i
		}
		if k, word := o.(keyword); word {
			if string(k) == "ID" {
				break
			}
			if p.pos == start {
				p.pos++
			}
			continue
		}
		key, named := o.(Name)
		if !named {
			continue
		}
		if !p.space() {
			return i
		}
		start = p.pos
		v, err := p.object(1)
		if err != nil {
			p.pos = len(p.b) // as in Operators
			return i
		}
		if _, word := v.(keyword); word {
			if p.pos = start; string(p.b[start:min(start+2, len(p.b))]) != "ID" {
				p.pos = start + 1
			}
			continue
		}
		i.Dict = append(i.Dict, E(key, v))
	}
	p.pos = min(p.pos+1, len(p.b)) // the white space behind ID
	for at := p.pos; ; {
		n := bytes.Index(p.b[at:], []byte("EI"))
		if n < 0 {
			i.Data, p.pos = p.b[p.pos:], len(p.b)
			return i
		}
		end := at + n
		if p.ends(end) {
			i.Data = bytes.TrimRight(p.b[p.pos:end], "\r\n")
			p.pos = end + 2
			return i
		}
		at = end + 2
	}
}

// ends reports whether the letters EI at a place end an inline image: white space before them, and
// behind them what looks like content.
func (p *parser) ends(at int) bool {
	if at > 0 && charClass[p.b[at-1]] != classSpace {
		return false
	}
	rest := p.b[at+2:]
	if len(rest) > 0 && charClass[rest[0]] != classSpace {
		return false
	}
	for _, c := range rest[:min(len(rest), 16)] {
		if c >= 0x80 || c < ' ' && charClass[c] != classSpace {
			return false
		}
	}
	return true
}
