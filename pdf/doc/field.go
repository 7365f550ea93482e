package doc

// FieldKind is what is entered into a form field (ISO 32000-2, 12.7.5).
type FieldKind uint8

// The kinds of fields.
const (
	FieldText      FieldKind = iota // text
	FieldCheckBox                   // on or off
	FieldRadio                      // one of several buttons
	FieldChoice                     // one of a list that drops down
	FieldList                       // one or several of a list that is shown
	FieldSignature                  // the place for a signature
)

// FieldOption is one of the values that a field can have.
type FieldOption struct {
	Value string // what the field then holds
	Text  string // what is shown; empty: Value
}

// Shown returns what is shown of the option.
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
	CaptionAuto FieldCaption = iota // right of a check box, above everything else
	CaptionNone                     // nowhere: programs show it when one points at the field
)

// Field is a field of an interactive form. Fields of one name, kind and values are one field that
// is shown in several places. A field never splits; its appearance is made when the document is, so
// that it looks the same in every program, and no script is ever written.
type Field struct {
	Block
	Kind FieldKind
	Name string // parts with full stops between them make a hierarchy, as in "address.city"
	// Label says what is to be entered. It is needed: programs show it and read it out.
	Label   string
	Caption FieldCaption
	// Values are what the field holds: at most one but for a list with Multiple. A check box is on
	// when it is that of its option.
	Values []string
	// Options are those of choices, lists and radio buttons, of which there is one for each. The
	// one option of a check box is what it holds when it is on; without it that is "Yes".
	Options []FieldOption

	Required, ReadOnly bool
	Multiline          bool // text of several lines
	Password           bool // text is not shown
	Comb               bool // each of the Max characters of a text has a cell of its own
	Editable           bool // a choice may be any text
	Multiple           bool // several of a list may be chosen
	Max                int  // characters of a text at most; 0: any number
	// Fit makes the letters as large as the field allows, at least 4 points, at most those of the
	// style where lines are broken.
	Fit bool

	Width, Height Length // 0: as wide as its place, as high as its kind needs
	Border        Line   // the zero Line is none
	Background    Color
	Round         bool // a radio button or check box is a circle
	From          Origin
}

// fieldBorder is the frame of fields that name none.
var fieldBorder = Line{Width: Pt / 2, Color: RGB(0x70, 0x70, 0x70)}

// NewField returns a field with the usual frame.
func NewField(kind FieldKind, name, label string) Field {
	return Field{Kind: kind, Name: name, Label: label, Border: fieldBorder, Round: kind == FieldRadio}
}

// Field appends a form field, such as NewField returns it.
func (b *Builder) Field(f Field) *Builder { return b.Add(&f) }
