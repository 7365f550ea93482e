package compile

import (
	"slices"

	"example.com/quire/pdf/doc"
	"example.com/quire/pdf/internal/arena"
	"example.com/quire/pdf/internal/compile/exprlang"
)

// Memory is what documents are made in, one after the other. It is for one document at a time. The
// zero value is ready.
type Memory struct {
	renders  arena.Of[render]
	machine  exprlang.Machine
	data     exprlang.Arena
	decoder  decoder
	values   arena.Of[exprlang.Value]
	texts    arena.Of[doc.Text]
	headings arena.Of[doc.Heading]
	fields   arena.Of[doc.Field]
	images   arena.Of[doc.Image]
	tables   arena.Of[doc.Table]
	columns  arena.Of[doc.Column]
	spans    arena.Of[doc.Span]
	rows     arena.Of[doc.Row]
	cells    arena.Of[doc.Cell]
	frames   []arena.Of[frame] // by depth, see frame
	counts   arena.Of[int]
	besides  arena.Of[doc.Beside]
	lists    arena.Of[[]doc.Node]
	nodes    arena.Of[doc.Node]
	batches  []*batch // all
	idle     []*batch // that no table uses
	kept     keptTexts

	poisons bool // see Poison
}

// Poison lets the memory of rows in m serve once: that of a row is overwritten with a marker when
// the next one is made, which has its own. It is for tests, which hold documents against those that
// are made so.
func Poison(m *Memory) { m.poisons = true }

// The most that is kept of one document for the next one, in values, in batches and in depths of
// frames.
const mostKept, mostBatches, mostDepths = 4096, 8, 16

// mostData is how many values of data are kept, 1.5 MiB: as many as a table of some thousand rows
// has.
const mostData = 1 << 15

// Reset forgets the document: nothing that was made of it may be used any more.
func (m *Memory) Reset() {
	m.renders.Reset()
	m.machine.Reset()
	m.data.Reset(mostData)
	d := &m.decoder
	clear(d.stack[:cap(d.stack)])
	clear(d.path[:cap(d.path)])
	*d = decoder{stack: d.stack[:0], path: d.path[:0]}
	if cap(d.stack)+cap(d.path) > mostKept {
		*d = decoder{}
	}
	m.values.Reset()
	m.texts.Reset()
	m.headings.Reset()
	m.fields.Reset()
	m.images.Reset()
	m.tables.Reset()
	m.columns.Reset()
	m.spans.Reset()
	m.rows.Reset()
	m.cells.Reset()
	for i := range m.frames {
		m.frames[i].Reset()
	}
	if len(m.frames) > mostDepths {
		m.frames = slices.Clone(m.frames[:mostDepths])
	}
	m.counts.Reset()
	for _, b := range m.batches {
		b.clear()
	}
	if len(m.batches) > mostBatches {
		clear(m.batches[mostBatches:])
		m.batches = m.batches[:mostBatches]
	}
	m.idle = append(m.idle[:0], m.batches...)
	m.besides.Reset()
	m.lists.Reset()
	m.nodes.Reset()
	m.kept = keptTexts{}
}

// part lets what is made next lie in blocks of its own: values that point to others would keep the
// memory of those before for as long as any of them is in use.
func (m *Memory) part() {
	m.renders.Part()
	m.values.Part()
	m.texts.Part()
	m.headings.Part()
	m.fields.Part()
	m.images.Part()
	m.tables.Part()
	m.columns.Part()
	m.spans.Part()
	m.rows.Part()
	m.cells.Part()
	for i := range m.frames {
		m.frames[i].Part()
	}
	m.counts.Part()
	m.besides.Part()
	m.lists.Part()
	m.nodes.Part()
}

// frame returns a frame of that depth. Each depth has blocks of its own: a frame points to one
// outside it, and in a block of both, which lives as long as any in it, each would keep those
// before it.
func (m *Memory) frame(depth int) *frame {
	for depth >= len(m.frames) {
		m.frames = append(m.frames, arena.Of[frame]{})
	}
	f := m.frames[depth].One()
	f.depth = depth
	return f
}

// batch returns memory for the rows of a table, which release gives back.
func (m *Memory) batch() *batch {
	if n := len(m.idle); n > 0 {
		b := m.idle[n-1]
		m.idle = m.idle[:n-1]
		return b
	}
	b := &batch{}
	m.batches = append(m.batches, b)
	return b
}

// release takes back what batch returned: its rows are valid until another table begins.
func (m *Memory) release(b *batch) {
	if m.poisons {
		b.poison()
	}
	b.reset()
	m.idle = append(m.idle, b)
}
