package record

// Limits bound what is frozen. A zero field means the default named beside it;
// the defaults are those of the document engine for inline data.
type Limits struct {
	Bytes int // of JSON text as sent, and of the frozen data: 8 MiB
	Depth int // of nested objects and arrays: 64
	Nodes int // values, those inside others included: 1,000,000
}

func (l Limits) withDefaults() Limits {
	if l.Bytes == 0 {
		l.Bytes = 8 << 20
	}
	if l.Depth == 0 {
		l.Depth = 64
	}
	if l.Nodes == 0 {
		l.Nodes = 1_000_000
	}
	return l
}
