package proto

import (
	"fmt"

	"example.com/quire/psrp/clixml"
)

// Rectangle is a part of a console's buffer, edges included.
type Rectangle struct{ Left, Top, Right, Bottom int32 }

// BufferCell is one cell of a console's buffer.
type BufferCell struct {
	Char                   clixml.Char
	Foreground, Background ConsoleColor
	Type                   BufferCellType
}

// BufferCellType tells the halves of a character of double width.
type BufferCellType int32

// The types of cell.
const (
	CellComplete BufferCellType = 0
	CellLeading  BufferCellType = 1
	CellTrailing BufferCellType = 2
)

// KeyInfo is a key that was pressed or released.
type KeyInfo struct {
	VirtualKeyCode  int32
	Char            clixml.Char
	ControlKeyState int32 // flags of .NET's ControlKeyStates
	KeyDown         bool
}

// ReadKeyOptions are the flags of ReadKey.
type ReadKeyOptions int32

// The flags.
const (
	ReadKeyAllowCtrlC     ReadKeyOptions = 1
	ReadKeyNoEcho         ReadKeyOptions = 2
	ReadKeyIncludeKeyDown ReadKeyOptions = 4
	ReadKeyIncludeKeyUp   ReadKeyOptions = 8
)

// ChoiceDescription is one choice of a prompt. An & in its label stands before the shortcut.
type ChoiceDescription struct{ Label, Help string }

// FieldDescription is one field of a prompt.
type FieldDescription struct {
	Name, Label  string
	TypeName     string // "String", "SecureString"
	TypeFullName string // "System.String"
	TypeAssembly string
	Help         string
	Mandatory    bool
	Default      clixml.Value
}

// Secret reports whether the field asks for a SecureString.
func (d FieldDescription) Secret() bool {
	return d.TypeFullName == "System.Security.SecureString" || d.TypeName == "SecureString"
}

// Value returns the encoded form of a host call's parameter.
func (r Rectangle) Value() clixml.Value {
	return object(prop("left", clixml.Int32(r.Left)), prop("top", clixml.Int32(r.Top)), prop("right", clixml.Int32(r.Right)), prop("bottom", clixml.Int32(r.Bottom)))
}

// Value returns the encoded form of a host call's parameter.
func (c BufferCell) Value() clixml.Value {
	return object(prop("character", c.Char.Value()), prop("foregroundColor", clixml.Int32(int32(c.Foreground))),
		prop("backgroundColor", clixml.Int32(int32(c.Background))), prop("bufferCellType", clixml.Int32(int32(c.Type))))
}

// Value returns the encoded form of a host call's result.
func (k KeyInfo) Value() clixml.Value {
	return object(prop("virtualKeyCode", clixml.Int32(k.VirtualKeyCode)), prop("character", k.Char.Value()),
		prop("controlKeyState", clixml.Int32(k.ControlKeyState)), prop("keyDown", clixml.Bool(k.KeyDown)))
}

// Value returns the encoded form of a host call's parameter.
func (c ChoiceDescription) Value() clixml.Value {
	return object(prop("label", clixml.String(c.Label)), prop("helpMessage", clixml.String(c.Help)))
}

// Value returns the encoded form of a host call's parameter.
func (d FieldDescription) Value() clixml.Value {
	metadata := (&clixml.Object{TypeNames: clixml.ArrayListTypes(), Base: (&clixml.List{}).Value()}).Value()
	p := []clixml.Property{
		prop("name", clixml.String(d.Name)), prop("label", clixml.String(d.Label)), prop("parameterTypeName", clixml.String(d.TypeName)),
		prop("parameterTypeFullName", clixml.String(d.TypeFullName)), prop("parameterAssemblyFullName", clixml.String(d.TypeAssembly)),
		prop("helpMessage", clixml.String(d.Help)), prop("isMandatory", clixml.Bool(d.Mandatory)), prop("metadata", metadata),
		prop("modifiedByRemotingProtocol", clixml.Bool(false)), prop("isFromRemoteHost", clixml.Bool(false)),
	}
	if !d.Default.IsNil() {
		p = append(p, prop("defaultValue", d.Default))
	}
	return object(p...)
}

// readAs reads an encoded form.
func readAs[T any](what string, v clixml.Value, read func(f *fields) T) (T, error) {
	f := fields{v: v}
	t := read(&f)
	if f.err != nil {
		return t, fmt.Errorf("psrp: read %s: %w", what, f.err)
	}
	return t, nil
}

// CoordinatesOf reads the encoded form.
func CoordinatesOf(v clixml.Value) (Coordinates, error) {
	return readAs("Coordinates", v, func(f *fields) Coordinates { return Coordinates{X: f.int32("x"), Y: f.int32("y")} })
}

// SizeOf reads the encoded form.
func SizeOf(v clixml.Value) (Size, error) {
	return readAs("Size", v, func(f *fields) Size { return Size{Width: f.int32("width"), Height: f.int32("height")} })
}

// RectangleOf reads the encoded form.
func RectangleOf(v clixml.Value) (Rectangle, error) {
	return readAs("Rectangle", v, func(f *fields) Rectangle {
		return Rectangle{f.int32("left"), f.int32("top"), f.int32("right"), f.int32("bottom")}
	})
}

func (f *fields) char(name string) clixml.Char {
	v := f.get(name)
	c, ok := v.Base().Char()
	if !ok && f.err == nil {
		f.fail(name, "%v, not a Char", v.Kind())
	}
	return c
}

// BufferCellOf reads the encoded form.
func BufferCellOf(v clixml.Value) (BufferCell, error) {
	return readAs("BufferCell", v, func(f *fields) BufferCell {
		return BufferCell{
			Char: f.char("character"), Foreground: ConsoleColor(f.int32("foregroundColor")),
			Background: ConsoleColor(f.int32("backgroundColor")), Type: BufferCellType(f.int32("bufferCellType")),
		}
	})
}

// KeyInfoOf reads the encoded form.
func KeyInfoOf(v clixml.Value) (KeyInfo, error) {
	return readAs("KeyInfo", v, func(f *fields) KeyInfo {
		return KeyInfo{
			VirtualKeyCode: f.int32("virtualKeyCode"), Char: f.char("character"),
			ControlKeyState: f.int32("controlKeyState"), KeyDown: f.bool("keyDown"),
		}
	})
}

// ChoicesOf reads a list of choices.
func ChoicesOf(v clixml.Value) ([]ChoiceDescription, error) {
	return readList("choices", v, func(f *fields) ChoiceDescription {
		return ChoiceDescription{Label: f.optText("label"), Help: f.optText("helpMessage")}
	})
}

// FieldsOf reads a list of fields.
func FieldsOf(v clixml.Value) ([]FieldDescription, error) {
	return readList("fields", v, func(f *fields) FieldDescription {
		return FieldDescription{
			Name: f.text("name"), Label: f.optText("label"), TypeName: f.optText("parameterTypeName"),
			TypeFullName: f.optText("parameterTypeFullName"), TypeAssembly: f.optText("parameterAssemblyFullName"),
			Help: f.optText("helpMessage"), Mandatory: f.optBool("isMandatory"), Default: f.opt("defaultValue"),
		}
	})
}

func readList[T any](what string, v clixml.Value, read func(f *fields) T) ([]T, error) {
	l, ok := v.List()
	if !ok {
		return nil, fmt.Errorf("psrp: read %s: %v, not a list", what, v.Kind())
	}
	out := make([]T, 0, len(l.Items))
	for i, item := range l.Items {
		t, err := readAs(fmt.Sprintf("%s %d", what, i), item, read)
		if err != nil {
			return nil, err
		}
		out = append(out, t)
	}
	return out, nil
}

// ListValue returns the encoded form of a list.
func ListValue[T interface{ Value() clixml.Value }](items []T) clixml.Value {
	l := &clixml.List{}
	for _, item := range items {
		l.Items = append(l.Items, item.Value())
	}
	return (&clixml.Object{TypeNames: clixml.ArrayListTypes(), Base: l.Value()}).Value()
}

// CellsValue returns the encoded form of a two-dimensional array of cells: a flat list and the two
// lengths. Rows are equally long.
func CellsValue(rows [][]BufferCell) clixml.Value {
	width := 0
	if len(rows) > 0 {
		width = len(rows[0])
	}
	var flat []BufferCell
	for _, r := range rows {
		flat = append(flat, r...)
	}
	lengths := &clixml.List{Items: []clixml.Value{clixml.Int(int64(len(rows))), clixml.Int(int64(width))}}
	return object(prop("mae", ListValue(flat)), prop("mal", (&clixml.Object{TypeNames: clixml.ArrayListTypes(), Base: lengths.Value()}).Value()))
}

// CellsOf reads the encoded form of a two-dimensional array of cells.
func CellsOf(v clixml.Value) ([][]BufferCell, error) {
	lengths, err := arrayLengths(v)
	if err != nil {
		return nil, err
	}
	mae, _ := v.Get("mae")
	flat, _ := mae.List()
	if len(lengths) != 2 || flat == nil || lengths[0] < 0 || lengths[1] < 0 || lengths[1] > 0 && lengths[0] > int64(len(flat.Items))/lengths[1] || lengths[0]*lengths[1] != int64(len(flat.Items)) {
		return nil, fmt.Errorf("psrp: read cells: lengths %v do not fit what is there", lengths)
	}
	if len(flat.Items) == 0 {
		return nil, nil
	}
	rows := make([][]BufferCell, lengths[0])
	for y := range rows {
		for x := range lengths[1] {
			c, err := BufferCellOf(flat.Items[int64(y)*lengths[1]+x])
			if err != nil {
				return nil, err
			}
			rows[y] = append(rows[y], c)
		}
	}
	return rows, nil
}

func arrayLengths(v clixml.Value) ([]int64, error) {
	mal, _ := v.Get("mal")
	l, ok := mal.List()
	if !ok {
		return nil, fmt.Errorf("psrp: read array: no list of its lengths")
	}
	var out []int64
	for _, item := range l.Items {
		n, ok := item.Int()
		if !ok {
			return nil, fmt.Errorf("psrp: read array: a length is %v", item.Kind())
		}
		out = append(out, n)
	}
	return out, nil
}

// Int32sValue returns the encoded form of an array of numbers, as PromptForChoice takes its
// defaults.
func Int32sValue(n []int32) clixml.Value {
	l := &clixml.List{}
	for _, x := range n {
		l.Items = append(l.Items, clixml.Int32(x))
	}
	list := (&clixml.Object{TypeNames: clixml.ArrayListTypes(), Base: l.Value()}).Value()
	lengths := (&clixml.Object{TypeNames: clixml.ArrayListTypes(), Base: clixml.NewList(clixml.Int(int64(len(n)))).Value()}).Value()
	return object(prop("mae", list), prop("mal", lengths))
}

// Int32sOf reads numbers: an encoded array, a list or nothing.
func Int32sOf(v clixml.Value) ([]int32, error) {
	if v.IsNil() {
		return nil, nil
	}
	if mae, ok := v.Get("mae"); ok {
		v = mae
	}
	l, ok := v.List()
	if !ok {
		return nil, fmt.Errorf("psrp: read numbers: %v, not a list", v.Kind())
	}
	var out []int32
	for _, item := range l.Items {
		n, err := Int32Of(item)
		if err != nil {
			return nil, err
		}
		out = append(out, n)
	}
	return out, nil
}

// Int32Of reads a number.
func Int32Of(v clixml.Value) (int32, error) {
	n, ok := v.Int()
	if !ok || n != int64(int32(n)) { //nolint:gosec // G115: the comparison is the check
		return 0, fmt.Errorf("psrp: read number: %v, not one of 32 bits", v.Kind())
	}
	return int32(n), nil //nolint:gosec // G115: checked
}

// TextOf reads a string; null is the empty one.
func TextOf(v clixml.Value) (string, error) {
	s, ok := v.Base().Text()
	if !ok && !v.IsNil() {
		return "", fmt.Errorf("psrp: read text: %v, not a string", v.Kind())
	}
	return s, nil
}

// Value returns the encoded form, which WriteProgress takes too.
func (r *ProgressRecord) Value() clixml.Value { return r.body(clixml.Version{}) }

// ProgressOf reads the encoded form of WriteProgress's record.
func ProgressOf(v clixml.Value) (*ProgressRecord, error) {
	return readAs("progress", v, func(f *fields) *ProgressRecord { return decodeProgress(f).(*ProgressRecord) })
}
