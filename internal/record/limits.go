package record

// The limits of a document's data: of JSON text as sent, and of what is frozen.
// They are those of the document engine, which would refuse more; every other
// bound on data in the house is derived from these.
const (
	DataBytes = 8 << 20
	DataDepth = 64 // of nested objects and arrays
	DataNodes = 1_000_000
)

// snapshotDepth is how deep a snapshot can be: the data stands in one object.
const snapshotDepth = DataDepth + 1

// Limits bound what is read as JSON. A zero field means the default named
// beside it.
type Limits struct {
	Bytes int // of the text, and of the canonical form: DataBytes
	Depth int // of nested objects and arrays: DataDepth
	Nodes int // values, those inside others included: DataNodes
}

func (l Limits) withDefaults() Limits {
	if l.Bytes == 0 {
		l.Bytes = DataBytes
	}
	if l.Depth == 0 {
		l.Depth = DataDepth
	}
	if l.Nodes == 0 {
		l.Nodes = DataNodes
	}
	return l
}
