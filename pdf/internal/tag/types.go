package tag

import "example.com/quire/pdf/cos"

// Type is a structure type (ISO 32000-2, 14.8.4).
type Type uint8

// The structure types in use. H stands for H1, H2 and so on: Elem.Level says which.
const (
	P Type = iota
	H
	Document
	Aside
	Div
	L
	LI
	Lbl
	LBody
	Table
	Caption
	THead
	TBody
	TFoot
	TR
	TH
	TD
	Figure
	Link
	Span
	Em
	Strong
	Code
	Sect
	TOC
	TOCI
	Part
	FENote
	Form
	numTypes
)

// Namespace is the name space of a structure type (14.8.6).
type Namespace uint8

// The namespaces.
const (
	PDF2  Namespace = iota // of PDF 2.0
	PDF17                  // of PDF 1.7, for types that 2.0 dropped
)

var namespaceURI = [...]string{
	PDF2:  "http://iso.org/pdf2/ssn",
	PDF17: "http://iso.org/pdf/ssn",
}

// types says of each type its name, its namespace, and the types whose elements an
// element of it may hold: the rows of ISO/TS 32005:2023, table 5.
var types = [numTypes]struct {
	name  string
	ns    Namespace
	holds set
}{
	P:        {name: "P", holds: inline | of(L, Table)},
	H:        {name: "H", holds: inline | of(Sect)},
	Document: {name: "Document", holds: blocks | of(Document, Part, TOC, Aside, Link, Code, FENote, Form)},
	Part:     {name: "Part", holds: 1<<numTypes - 1},
	Sect:     {name: "Sect", holds: blocks | of(Part, TOC, Aside, Lbl, Caption, Link, Code, FENote, Form)},
	FENote:   {name: "FENote", holds: (blocks | inline | of(Part, Aside, Caption)) &^ of(H)},
	Aside:    {name: "Aside", holds: blocks | of(Document, Part, TOC, Lbl, Caption, Link, Code, FENote, Form)},
	Div:      {name: "Div", holds: of(TOC, TOCI) | blocks | inline | of(Document, Part, Aside, LI, LBody, Caption, THead, TBody, TFoot, TR, TH, TD)},
	L:        {name: "L", holds: of(L, LI, Caption)},
	LI:       {name: "LI", holds: of(Div, Lbl, LBody)},
	Lbl:      {name: "Lbl", holds: inline &^ of(Lbl)},
	LBody:    {name: "LBody", holds: (blocks | inline | of(Part, Aside, Caption)) &^ of(Lbl)},
	Table:    {name: "Table", holds: of(Caption, THead, TBody, TFoot, TR)},
	Caption:  {name: "Caption", holds: blocks | inline | of(Part, Aside)},
	THead:    {name: "THead", holds: of(TR)},
	TBody:    {name: "TBody", holds: of(TR)},
	TFoot:    {name: "TFoot", holds: of(TR)},
	TR:       {name: "TR", holds: of(TH, TD)},
	TH:       {name: "TH", holds: blocks | inline},
	TD:       {name: "TD", holds: blocks | inline},
	Figure:   {name: "Figure", holds: blocks | inline | of(Part, Aside, Caption)},
	Link:     {name: "Link", holds: blocks | inline | of(Part, Aside, Caption)},
	Span:     {name: "Span", holds: inline},
	Em:       {name: "Em", holds: inline},
	Strong:   {name: "Strong", holds: inline},
	TOC:      {name: "TOC", ns: PDF17, holds: of(Part, TOC, TOCI, Caption)}, // PDF 2.0 dropped it
	TOCI:     {name: "TOCI", ns: PDF17, holds: of(Div, P, Lbl, TOC)},
	Form:     {name: "Form", holds: of(Div, L, Lbl, Table, Caption, Figure, Code, Part, FENote)},
	Code:     {name: "Code", ns: PDF17, holds: (blocks | inline | of(Part, Aside, Caption)) &^ of(H)}, // PDF 2.0 dropped it
}

// set is a set of types, one bit each.
type set uint32

const (
	inline = set(1<<Lbl | 1<<Figure | 1<<Link | 1<<Span | 1<<Em | 1<<Strong | 1<<Code | 1<<FENote | 1<<Form)
	blocks = set(1<<Div | 1<<P | 1<<H | 1<<L | 1<<Table | 1<<Figure | 1<<Sect)
)

func of(types ...Type) (s set) {
	for _, t := range types {
		s |= 1 << t
	}
	return s
}

// MayHold reports whether an element of type t may hold one of type kid.
func (t Type) MayHold(kid Type) bool { return types[t].holds&(1<<kid) != 0 }

// String returns the name of the type, H for headings of any level.
func (t Type) String() string { return types[t].name }

// MostLevels17 is how many levels of headings PDF 1.7 has (ISO 32000-1, 14.8.4.3.2); PDF 2.0
// has no highest.
const MostLevels17 = 6

// AppendName appends the name of e's structure type in PDF syntax.
func (e *Elem) AppendName(b []byte) []byte {
	if e.Type == H {
		return cos.AppendInt(append(b, "/H"...), int64(max(e.Level, 1)))
	}
	return append(append(b, '/'), types[e.Type].name...) // letters and digits alone
}
