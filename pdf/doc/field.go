package doc

// FieldKind is the type of a form field (ISO 32000-2, 12.7.5).
type FieldKind uint8

// The kinds of fields.
const (
	FieldText      FieldKind = iota // text
	FieldCheckBox                   // on or off
	FieldRadio                      // one of several buttons
	FieldChoice                     // a drop-down list
	FieldList                       // one or several of a list that is shown
	FieldSignature                  // the place for a signature
	FieldButton                     // a button that does something: Action
)

// ResetForm is the action that gives all fields of the document their initial values.
const ResetForm = "reset"

// FieldOption is one of the possible values of a field.
type FieldOption struct {
	Value string // the value of the field
	Text  string // the text shown; empty: Value
}

// Shown returns the text shown for the option.
func (o FieldOption) Shown() string {
	if o.Text != "" {
		return o.Text
	}
	return o.Value
}

// FieldCaption says where the label of a field is printed.
type FieldCaption uint8

// The places.
const (
	CaptionAuto FieldCaption = iota // in a button, right of a check box, above everything else
	CaptionNone                     // nowhere: programs show it when one points at the field
)

// Field is a field of an interactive form. Fields of one name, kind and values are one field that
// is shown in several places. A field never splits; its appearance is made when the document is, so
// that it looks the same in every program, and no script is ever written.
type Field struct {
	Block
	Kind FieldKind
	Name string // parts with full stops between them make a hierarchy, as in "address.city"
	// Label describes the field. It is required: viewers show it and assistive technology reads it.
	Label   string
	Caption FieldCaption
	// Values are the initial values: at most one, except in a list with Multiple. A check box is
	// checked if this is the value of its option.
	Values []string
	// Options are the options of choices, lists and radio buttons, one button for each. The single
	// option of a check box is its value when checked; without it, that is "Yes".
	Options []FieldOption

	Required, ReadOnly bool
	Multiline          bool // text of several lines
	Password           bool // text is not shown
	Comb               bool // a cell for each of the Max characters
	Editable           bool // a choice may be any text
	Multiple           bool // several of a list may be chosen
	Max                int  // characters of a text at most; 0: any number
	// Fit makes the text as large as the field allows: at least 4 points, and in a multiline field
	// at most the size of the style.
	Fit bool

	Width, Height Length // 0: as wide as its place, as high as its kind needs
	Border        Line   // the zero Line draws nothing
	Background    Color
	Round         bool // a radio button or check box is a circle
	// Show are the lines that a signature field shows when it is signed while the document is made,
	// in their order; nil: all.
	Show []SignatureLine
	// Picture is shown beside these lines, such as a signature by hand: as large as fits in the
	// left half of the field, or in all of it if there are no lines. Of the image, Name and Data
	// count.
	Picture *Image
	// Action is what a button does: ResetForm, or an address to open: https:, http:, mailto: or
	// tel:. PDF/A allows no buttons.
	Action string
	From   Origin // what the first of Values is made of, or Action, for diagnostics
}

// fieldBorder is the frame of fields that name none.
var fieldBorder = Line{Width: Pt / 2, Color: RGB(0x70, 0x70, 0x70)}

// NewField returns a field with the usual frame.
func NewField(kind FieldKind, name, label string) Field {
	return Field{Kind: kind, Name: name, Label: label, Border: fieldBorder, Round: kind == FieldRadio}
}

// Field appends a form field, such as NewField returns it.
func (b *Builder) Field(f Field) *Builder { return b.Add(&f) }
