package cos

import "bytes"

// OperatorNames reads content as Operators does, but for the names alone: f is called for each
// operator that has any among its operands, in their order, and for an inline image with those in
// its dictionary. Other operands are passed over without being read, which costs a fraction; names
// in arrays and dictionaries are of them. f must keep neither op nor the slice.
func OperatorNames(data []byte, f func(op []byte, names []Name) error) error {
	p := parser{b: data, whole: true, depth: 64, m: &memory{}}
	var names []Name
	for p.space() {
		start := p.pos
		switch c := p.b[start]; {
		case c == '/':
			o, _ := p.name() // it ends with the data at the latest
			if n, isName := o.(Name); isName {
				if len(names) == mostOperands {
					names = names[:copy(names, names[1:])]
				}
				names = append(names, n)
			}
			continue
		case p.skip():
			continue
		case charClass[c] == classRegular && len(names) == 0 && c != 'B': // an operator without names, or no object
			p.skipRegular()
			continue
		}
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
			continue
		}
		if p.pos == start { // a word of no characters
			p.pos++
			continue
		}
		op := data[start:p.pos]
		if string(k) == "BI" {
			names, op = names[:0], []byte("EI")
			for _, x := range p.inlineImage().Dict {
				if n, isName := x.Value.(Name); isName {
					names = append(names, n)
				}
			}
		}
		if len(names) > 0 {
			if err := f(op, names); err != nil {
				return err
			}
			names = names[:0]
		}
	}
	return nil
}

// skip passes over a number, a string, an array of both, or an operator without operands that
// matter; it reports false, and stays where it is, before anything else and before what does not
// end.
func (p *parser) skip() bool {
	start := p.pos
	switch c := p.b[start]; {
	case c == '(':
		return p.skipLiteral()
	case c == '<':
		return p.skipHex()
	case c == '[':
		p.pos++
		for p.space() {
			switch c := p.b[p.pos]; {
			case c == ']':
				p.pos++
				return true
			case c == '(' && p.skipLiteral(), c == '<' && p.skipHex():
			case numeric(c):
				p.skipRegular()
			default:
				p.pos = start
				return false
			}
		}
		p.pos = start
		return false
	case numeric(c):
		p.skipRegular()
		return true
	}
	return false
}

func numeric(c byte) bool { return c >= '0' && c <= '9' || c == '-' || c == '.' || c == '+' }

func (p *parser) skipRegular() {
	for p.pos < len(p.b) && charClass[p.b[p.pos]] == classRegular {
		p.pos++
	}
}

func (p *parser) skipHex() bool {
	if p.pos+1 < len(p.b) && p.b[p.pos+1] == '<' {
		return false
	}
	n := bytes.IndexByte(p.b[p.pos:], '>')
	if n < 0 {
		return false
	}
	p.pos += n + 1
	return true
}

func (p *parser) skipLiteral() bool {
	open := 0
	for i := p.pos; i < len(p.b); i++ {
		switch p.b[i] {
		case '(':
			open++
		case ')':
			if open--; open == 0 {
				p.pos = i + 1
				return true
			}
		case '\\':
			i++ // of a longer escape the rest is digits and line ends
		}
	}
	return false
}
