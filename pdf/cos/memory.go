package cos

// memory is what parsers use again, object after object: where arrays and dictionaries are gathered
// until it is known how long they are, and names and words that were read before. It belongs to one
// reader, or to one content stream.
type memory struct {
	text    []byte   // of an object; nil while one is read from it
	raw     []byte   // data of a stream before its filters are undone; nil meanwhile
	tail    [32]byte // what stands behind the data of a stream
	values  []Object
	entries []Entry
	words   [256]Object // each a Name or a keyword, in the place of its hash
}

// What a memory holds on to: one large object is no reason to hold its size for ever.
const (
	keptText   = 64 << 10 // bytes
	keptRaw    = 1 << 20
	keptValues = 4 << 10 // values of arrays, and entries of dictionaries
	keptWord   = 32      // bytes of a name or a word
)

// place returns where a word may stand that was read before.
func (m *memory) place(t []byte) *Object {
	h := uint32(len(t)) //nolint:gosec // G115: a hash
	for _, c := range t {
		h = h*31 + uint32(c)
	}
	return &m.words[(h^h>>8)%uint32(len(m.words))]
}

// name returns a name, in no new memory when the last one in its place was the same.
func (m *memory) name(t []byte) Object {
	if len(t) > keptWord {
		return Name(t)
	}
	at := m.place(t)
	if n, ok := (*at).(Name); !ok || string(n) != string(t) {
		*at = Name(t)
	}
	return *at
}

// keyword is name for a keyword.
func (m *memory) keyword(t []byte) Object {
	if len(t) > keptWord {
		return keyword(t)
	}
	at := m.place(t)
	if k, ok := (*at).(keyword); !ok || string(k) != string(t) {
		*at = keyword(t)
	}
	return *at
}

// array takes the values gathered from a place on.
func (m *memory) array(from int) Array {
	a := append(make(Array, 0, len(m.values)-from), m.values[from:]...)
	m.dropValues(from)
	return a
}

// dict takes the entries gathered from a place on.
func (m *memory) dict(from int) Dict {
	d := append(make(Dict, 0, len(m.entries)-from), m.entries[from:]...)
	m.dropEntries(from)
	return d
}

func (m *memory) dropValues(from int) {
	clear(m.values[from:]) // it keeps nothing alive
	if m.values = m.values[:from]; from == 0 && cap(m.values) > keptValues {
		m.values = nil
	}
}

func (m *memory) dropEntries(from int) {
	clear(m.entries[from:])
	if m.entries = m.entries[:from]; from == 0 && cap(m.entries) > keptValues {
		m.entries = nil
	}
}
