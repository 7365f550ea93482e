package tag

import (
	"example.com/quire/pdf/cos"
	"example.com/quire/pdf/internal/arena"
)

// objects is a list of objects, which is kept for as long as the document is being made. Elements
// follow each other in the file as on the pages: of a run of them it has where the run begins, as
// the difference to the end of the run before, and how long it is.
type objects struct {
	runs  arena.Numbers
	last  int64 // object
	run   int64 // objects of the last run, which is not yet in runs
	ended int64 // the last object of the run before
}

// follow appends an object that belongs to the last run, and reports whether it does.
func (o *objects) follow(ref cos.Ref) bool {
	if int64(ref.Num) != o.last+1 || o.run == 0 {
		return false
	}
	o.last++
	o.run++
	return true
}

// begin appends an object that begins a run.
func (o *objects) begin(ref cos.Ref) {
	o.end()
	o.last, o.run = int64(ref.Num), 1
}

// end ends a run: the next object begins another.
func (o *objects) end() {
	if o.run > 0 {
		o.runs.Add(o.last - o.run + 1 - o.ended)
		o.runs.Add(o.run)
		o.ended, o.run = o.last, 0
	}
}

func (o *objects) reset() {
	o.runs.Reset()
	*o = objects{runs: o.runs}
}

// reader returns a reader of the runs, the last of which has ended.
func (o *objects) reader() objectsReader { return objectsReader{runs: o.runs.Reader()} }

type objectsReader struct {
	runs arena.NumberReader
	last int64
}

// append appends references to the objects of n runs, with a space between them, and returns how
// many there are.
func (r *objectsReader) append(b []byte, n int64) ([]byte, int) {
	count := 0
	for i := range n {
		if i > 0 {
			b = append(b, ' ')
		}
		first := r.last + r.runs.Next()
		run := r.runs.Next()
		b = cos.AppendRefs(b, object(first), int(run))
		r.last = first + run - 1
		count += int(run)
	}
	return b, count
}

func object(num int64) cos.Ref { return cos.Ref{Num: uint32(num)} } //nolint:gosec // G115: the number of an object
