package font

// subrSet is the set of subroutines of an INDEX that are called.
type subrSet []bool

// noSubr stands for a subroutine that nothing calls: it returns at once.
var noSubr = []byte{opReturn}

// keep returns the objects of x, those not in the set empty.
func (s subrSet) keep(x *cffIndex) func(int) []byte {
	return func(i int) []byte {
		if s[i] {
			return x.get(i)
		}
		return noSubr
	}
}

// size is the size of the INDEX that keep makes; one without objects is left out.
func (s subrSet) size(x *cffIndex) int {
	if x.count == 0 {
		return 0
	}
	return len(appendIndex(nil, x.count, s.keep(x)))
}

// subrCalls follows charstrings to the subroutines that they call.
type subrCalls struct {
	c       *cff
	globals subrSet
	locals  []subrSet // by Font DICT
	budget  int       // bytes that may still be looked at
	accents bool      // letters may be made of two by their standard names (TN5177, appendix C)
	// width is told how wide a glyph is, and whether from the nominal width (TN5177, 4.1) or, where
	// it does not say, by default; nil: nobody asks. Of a fraction the integer below.
	width func(w int32, nominal bool)
}

// maxCharstringBytes bounds what all glyphs of a subset may run through: a subroutine that calls
// another twice, and that one a third, soon takes longer than anyone waits. The largest fonts for
// Chinese have 20 million.
const maxCharstringBytes = 1 << 27

func newSubrCalls(c *cff) *subrCalls {
	s := &subrCalls{c: c, globals: make(subrSet, c.globals.count), locals: make([]subrSet, len(c.dicts)), budget: maxCharstringBytes}
	for i := range s.locals {
		s.locals[i] = make(subrSet, c.dicts[i].locals.count)
	}
	return s
}

// Operators of charstrings (Adobe Technical Note 5177, below: TN5177, appendix A).
const (
	opHStem     = 1
	opVStem     = 3
	opCallSubr  = 10
	opReturn    = 11
	opEscape    = 12
	opEndChar   = 14
	opHStemHM   = 18
	opHintMask  = 19
	opCntrMask  = 20
	opVStemHM   = 23
	opShortInt  = 28
	opCallGSubr = 29
)

// maxSubrDepth and maxOperands are the limits of TN5177, appendix B.
const (
	maxSubrDepth = 10
	maxOperands  = 48
)

// charstring is the state of one glyph: as much of the stack and the hints as is needed to find the
// numbers of subroutines and the length of hint masks.
type charstring struct {
	calls *subrCalls
	dict  int
	stack [maxOperands]int32 // integers; what is not one is 0
	n     int
	hints int
	done  bool
	moved bool // the first operator that clears the stack was seen: the width is known
}

func (s *subrCalls) glyph(g GID) error {
	cs := &charstring{calls: s, dict: s.c.dictOf(g)}
	return cs.run(s.c.charstrings.get(int(g)), 0)
}

func (cs *charstring) push(v int32) error {
	if cs.n == maxOperands {
		return cffError("a charstring has too many operands")
	}
	cs.stack[cs.n] = v
	cs.n++
	return nil
}

// run follows b to its end or its return.
func (cs *charstring) run(b []byte, depth int) error {
	if depth > maxSubrDepth {
		return cffError("subroutines call each other too deeply")
	}
	if cs.calls.budget -= len(b) + 1; cs.calls.budget < 0 {
		return cffError("the charstrings run too long")
	}
	for i := 0; i < len(b) && !cs.done; {
		c := b[i]
		if c >= 32 || c == opShortInt {
			v, size := operand(b[i:])
			if size == 0 {
				return cffError("a charstring is cut off")
			}
			if err := cs.push(v); err != nil {
				return err
			}
			i += size
			continue
		}
		i++
		cs.first(c)
		switch c {
		case opReturn:
			return nil
		case opCallSubr, opCallGSubr:
			if err := cs.call(c == opCallGSubr, depth); err != nil {
				return err
			}
			continue
		case opEndChar:
			if cs.n >= 4 && !cs.calls.accents {
				return &UnsupportedError{Kind: "CFF with accented letters made by endchar"}
			}
			cs.done = true
		case opHStem, opVStem, opHStemHM, opVStemHM:
			cs.hints += cs.n / 2
		case opHintMask, opCntrMask:
			cs.hints += cs.n / 2 // a vstem may be left out before it
			i += (cs.hints + 7) / 8
		case opEscape:
			if i >= len(b) {
				return cffError("a charstring is cut off")
			}
			if err := cs.escape(b[i]); err != nil {
				return err
			}
			i++
			continue
		}
		cs.n = 0
	}
	return nil
}

// first tells the width, which stands before the operands of the first operator that clears the
// stack, as one operand too many (TN5177, 4.1).
func (cs *charstring) first(op byte) {
	if cs.moved || cs.calls.width == nil {
		return
	}
	extra := false
	switch op {
	case opHStem, opVStem, opHStemHM, opVStemHM, opHintMask, opCntrMask:
		extra = cs.n%2 == 1
	case 21: // rmoveto
		extra = cs.n > 2
	case 4, 22: // vmoveto, hmoveto
		extra = cs.n > 1
	case opEndChar:
		extra = cs.n == 1 || cs.n == 5
	default:
		return
	}
	cs.moved = true
	if extra {
		cs.calls.width(cs.stack[0], true)
	} else {
		cs.calls.width(0, false)
	}
}

// operand decodes the number at the start of b (TN5177, 3.2); a size of 0 says that it is cut off.
func operand(b []byte) (v int32, size int) {
	switch c := b[0]; {
	case c == opShortInt && len(b) >= 3:
		return int32(i16(b, 1)), 3 //nolint:gosec // G115: 16 bits
	case c == opShortInt:
		return 0, 0
	case c <= 246:
		return int32(c) - 139, 1
	case c <= 250 && len(b) >= 2:
		return (int32(c)-247)*256 + int32(b[1]) + 108, 2
	case c <= 254 && len(b) >= 2:
		return -(int32(c)-251)*256 - int32(b[1]) - 108, 2
	case c == 255 && len(b) >= 5:
		return int32(u32(b, 1)) >> 16, 5 //nolint:gosec // G115: a signed 16.16 number
	}
	return 0, 0
}

// call follows the subroutine whose number is on the stack, less the bias of TN5177, 4.7.
func (cs *charstring) call(global bool, depth int) error {
	x, set := &cs.calls.c.dicts[cs.dict].locals, cs.calls.locals[cs.dict]
	if global {
		x, set = &cs.calls.c.globals, cs.calls.globals
	}
	if cs.n == 0 {
		return cffError("a charstring calls no number")
	}
	cs.n--
	k := int(cs.stack[cs.n])
	switch {
	case x.count < 1240:
		k += 107
	case x.count < 33900:
		k += 1131
	default:
		k += 32768
	}
	if k < 0 || k >= x.count {
		return cffError("a charstring calls a subroutine that is not there")
	}
	set[k] = true
	return cs.run(x.get(k), depth+1)
}

// escape does an operator of two bytes. Flexes clear the stack. Those that reckon are refused: what
// they leave could be the number of a subroutine, and no font in use has them.
func (cs *charstring) escape(op byte) error {
	switch op {
	case 34, 35, 36, 37: // hflex, flex, hflex1, flex1
	case 0: // dotsection, which does nothing
	default:
		return &UnsupportedError{Kind: "CFF with charstrings that reckon"}
	}
	cs.n = 0
	return nil
}
