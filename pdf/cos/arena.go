package cos

// Arena allocates objects that live until its writer is reset, in memory that the next file reuses.
// [Writer.Arena] returns it, for use by the writer's goroutine.
//
// Objects are pointers there, because an interface that holds a value allocates memory for each: a
// watcher finds their values with [As]. A cipher, which makes others of them, gets values.
type Arena struct {
	values bool

	refs    pieces[Ref]
	fixed   pieces[Fixed]
	decimal pieces[Decimal]
	ints    pieces[Int]
	names   pieces[Name]
	texts   pieces[Text]
	strings pieces[String]
	arrays  pieces[Array]
	dicts   pieces[Dict]
	objects pieces[Object]
	entries pieces[Entry]
	digits  hexOf
}

// Ref returns a reference.
func (a *Arena) Ref(r Ref) Object { return made(a, &a.refs, r) }

// Fixed returns a length.
func (a *Arena) Fixed(v int64) Object { return made(a, &a.fixed, Fixed(v)) }

// Decimal returns the real number mantissa x 10^-scale.
func (a *Arena) Decimal(mantissa int64, scale int) Object {
	return made(a, &a.decimal, Decimal{mantissa, scale})
}

// Int returns an integer.
func (a *Arena) Int(v int) Object { return made(a, &a.ints, Int(v)) }

// Name returns a name that is not a constant.
func (a *Arena) Name(s string) Object { return made(a, &a.names, Name(s)) }

// Text returns a text string.
func (a *Arena) Text(s string) Object { return made(a, &a.texts, Text(s)) }

// String returns a byte string.
func (a *Arena) String(s string) Object { return made(a, &a.strings, String(s)) }

// hex returns a byte string in hexadecimal, which is bytes while the object is used.
func (a *Arena) hex(bytes []byte) Object {
	if a.values {
		return Hex(bytes)
	}
	a.digits = hexOf(bytes)
	return &a.digits
}

// hexOf prints as Hex.
type hexOf []byte

// AppendPDF implements [Object].
func (h *hexOf) AppendPDF(dst []byte) []byte { return AppendHex(dst, *h) }

// Items returns an empty array with a capacity of n items.
func (a *Arena) Items(n int) Array { return Array(a.objects.take(n)[:0]) }

// Array returns an array, which must not change any more.
func (a *Arena) Array(items Array) Object { return made(a, &a.arrays, items) }

// List returns an array of a few items.
func (a *Arena) List(items ...Object) Object { return a.Array(append(a.Items(len(items)), items...)) }

// Entries returns an empty dictionary with a capacity of n entries.
func (a *Arena) Entries(n int) Dict { return Dict(a.entries.take(n)[:0]) }

// Dict returns a dictionary, which must not change any more.
func (a *Arena) Dict(entries Dict) Object { return made(a, &a.dicts, entries) }

// made puts an object into one of the arena's pieces.
func made[T Object, P interface {
	*T
	Object
}](a *Arena, pieces *pieces[T], v T) Object {
	if a.values {
		return v
	}
	p := P(pieces.one())
	*p = v
	return p
}

// As returns an object as a value of its type, also one of an arena.
func As[T Object](o Object) (v T, ok bool) {
	if v, ok = o.(T); ok {
		return v, true
	}
	if p, pointer := any(o).(*T); pointer {
		return *p, true
	}
	return v, false
}

// turn is called between objects. A piece holds what was made with it, and what that refers to:
// pieces of different kinds that overlap would hold each other, one behind the other, from the
// first page of a long document to the last. When one is used up, all begin anew.
func (a *Arena) turn() {
	if !a.entries.used && !a.objects.used {
		return
	}
	a.refs.turn()
	a.fixed.turn()
	a.decimal.turn()
	a.ints.turn()
	a.names.turn()
	a.texts.turn()
	a.strings.turn()
	a.arrays.turn()
	a.dicts.turn()
	a.objects.turn()
	a.entries.turn()
}

// reset takes all back for a file of other options.
func (a *Arena) reset(values bool) {
	a.values = values
	a.refs.reset()
	a.fixed.reset()
	a.decimal.reset()
	a.ints.reset()
	a.names.reset()
	a.texts.reset()
	a.strings.reset()
	a.arrays.reset()
	a.dicts.reset()
	a.objects.reset()
	a.entries.reset()
}

// pieces hands out zero values from pieces of memory, the first of which is kept for the next file.
type pieces[T any] struct {
	free  []T
	first []T
	taken int
	used  bool // one was used up since the last turn
}

// leastPiece and mostPiece bound a piece, in values.
const leastPiece, mostPiece = 16, 512

func (p *pieces[T]) one() *T { return &p.take(1)[0] }

func (p *pieces[T]) take(n int) []T {
	if n > len(p.free) {
		p.used = p.free != nil
		p.free = make([]T, max(n, min(max(p.taken, leastPiece), mostPiece)))
	}
	p.taken += n
	s := p.free[:n:n]
	p.free = p.free[n:]
	return s
}

func (p *pieces[T]) turn() {
	if p.taken > 0 {
		p.free = nil
	}
	p.used = false
}

// reset clears what was taken of the first piece, which grows to what files need.
func (p *pieces[T]) reset() {
	clear(p.first[:min(p.taken, len(p.first))])
	if p.taken > len(p.first) && len(p.first) < mostPiece {
		p.first = make([]T, min(max(p.taken, leastPiece), mostPiece))
	}
	p.free, p.taken, p.used = p.first, 0, false
}
