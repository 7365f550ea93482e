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

	NumTypes // how many there are
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

// types says of each type its name and its namespace.
var types = [NumTypes]struct {
	name string
	ns   Namespace
}{
	P:        {name: "P"},
	H:        {name: "H"},
	Document: {name: "Document"},
	Part:     {name: "Part"},
	Sect:     {name: "Sect"},
	FENote:   {name: "FENote"},
	Aside:    {name: "Aside"},
	Div:      {name: "Div"},
	L:        {name: "L"},
	LI:       {name: "LI"},
	Lbl:      {name: "Lbl"},
	LBody:    {name: "LBody"},
	Table:    {name: "Table"},
	Caption:  {name: "Caption"},
	THead:    {name: "THead"},
	TBody:    {name: "TBody"},
	TFoot:    {name: "TFoot"},
	TR:       {name: "TR"},
	TH:       {name: "TH"},
	TD:       {name: "TD"},
	Figure:   {name: "Figure"},
	Link:     {name: "Link"},
	Span:     {name: "Span"},
	Em:       {name: "Em"},
	Strong:   {name: "Strong"},
	TOC:      {name: "TOC", ns: PDF17},  // PDF 2.0 dropped it
	TOCI:     {name: "TOCI", ns: PDF17}, // PDF 2.0 dropped it
	Form:     {name: "Form"},
	Code:     {name: "Code", ns: PDF17}, // PDF 2.0 dropped it
}

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
