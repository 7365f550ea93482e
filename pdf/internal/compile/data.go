package compile

import (
	"encoding/base64"
	"fmt"
	"regexp"
	"slices"
	"sort"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"example.com/quire/internal/strictjson"
	"example.com/quire/pdf/internal/compile/decimal"
	"example.com/quire/pdf/internal/compile/exprlang"
	"example.com/quire/pdf/internal/diag"
)

// Data is a source of data for one document.
type Data interface {
	// read decodes the data against the contract of p. streams are the paths of the lists in it
	// that are read while the document is laid out.
	read(p *Plan, limits diag.Limits, mem *Memory) (root exprlang.Value, streams [][]string, err error)
}

// JSON returns data that is a JSON text (RFC 8259, UTF-8 without a byte-order
// mark). Diagnostics call it data.json. body is not changed and must not change
// while a document is made of it.
func JSON(body []byte) Data { return jsonData{"data.json", body} }

// NamedJSON is JSON with the name that diagnostics use, such as "note.json".
func NamedJSON(name string, body []byte) Data { return jsonData{name, body} }

type jsonData struct {
	name string
	body []byte
}

// Codes of data.
const (
	codeDataSyntax    = "D201"
	codeDataDuplicate = "D202"
	codeDataType      = "D203"
	codeDataMissing   = "D204"
	codeDataUnknown   = "D205"
	codeDataBytes     = "X307"
	codeDataDepth     = "X308"
	codeDataNodes     = "X309"
)

func (j jsonData) read(p *Plan, limits diag.Limits, mem *Memory) (exprlang.Value, [][]string, error) {
	d := &mem.decoder
	*d = decoder{name: j.name, plan: p, limits: limits, arena: &mem.data, stack: d.stack, path: d.path}
	if n := int64(len(j.body)); n > limits.DataBytes {
		d.report(0, codeDataBytes, "", "the data has %d bytes, more than %d", n, limits.DataBytes)
		return exprlang.Null, nil, d.list.Err()
	}
	v := d.text(string(j.body), p.contract)
	return v, nil, d.list.ErrAnd(d.omitted)
}

// text decodes a JSON text of type t.
func (d *decoder) text(src string, t *exprlang.Type) exprlang.Value {
	d.src = src
	if i := invalidUTF8(d.src); i >= 0 {
		d.report(i, codeDataSyntax, "", "the data is not UTF-8")
		return exprlang.Null
	}
	if strings.HasPrefix(d.src, "\uFEFF") {
		d.report(0, codeDataSyntax, "", "the data starts with a byte-order mark")
		return exprlang.Null
	}
	if d.arena == nil {
		d.arena = &exprlang.Arena{}
	}
	d.arena.Grow(min(len(d.src)/12, 1<<16)) // about one value in a dozen bytes
	d.space()
	v := d.value(t)
	if d.space(); !d.failed && d.at < len(d.src) {
		d.syntax("text behind the data")
	}
	sort.SliceStable(d.list, func(i, j int) bool {
		a, b := d.list[i], d.list[j]
		return a.Line < b.Line || a.Line == b.Line && a.Col < b.Col
	})
	return v
}

func invalidUTF8(s string) int {
	if utf8.ValidString(s) {
		return -1
	}
	for i, r := range s {
		if r == utf8.RuneError && !strings.HasPrefix(s[i:], "\uFFFD") {
			return i
		}
	}
	return -1
}

// decoder reads JSON against a contract: what it returns is right by the
// contract or reported. It has a reader of its own, not that of strictjson: going
// through its tokens costs more than 1.2 times the whole decoding. FuzzData
// holds the two to the same language.
type decoder struct {
	name   string
	src    string
	at     int
	plan   *Plan
	limits diag.Limits
	list   diag.List
	failed bool // a syntax error or a limit: reading stops

	omitted int // problems beyond those in list

	arena *exprlang.Arena
	stack []exprlang.Value // items of the lists that are open
	path  []step
	depth int64
	nodes int64
	field *exprlang.Field // the nearest field, for the note where it is used

	window *window // nil: the text is all there is
}

// step is a part of a data path: a name, or an index when there is none.
type step struct {
	name string
	i    int
}

func (d *decoder) pathText() string {
	path := ""
	for _, s := range d.path {
		if s.name == "" {
			path += "[" + strconv.Itoa(s.i) + "]"
		} else {
			path = strictjson.Member(path, s.name)
		}
	}
	return path
}

// mostWrong bounds a report on data: those beyond it are counted.
const mostWrong = 20

// report adds a problem at a byte offset.
func (d *decoder) report(off int, code, hint, format string, args ...any) {
	if len(d.list) >= mostWrong {
		d.omitted++
		return
	}
	off = min(off, len(d.src))
	at := d.window.place(d.src, off)
	d.list.Add(diag.Diagnostic{
		Code: code, File: d.name, DataPath: d.pathText(), Line: at.line, Col: at.col,
		Message: fmt.Sprintf(format, args...), Suggestion: hint,
	})
}

func (d *decoder) syntax(format string, args ...any) {
	if !d.failed {
		d.report(d.at, codeDataSyntax, "", format, args...)
		d.failed = true
	}
}

// use says where the template reads or declares f.
func (d *decoder) use(f *exprlang.Field) string {
	switch {
	case f == nil:
		return ""
	case f.Used[0] > 0:
		return fmt.Sprintf(" (used at %s:%d:%d)", d.plan.file, f.Used[0], f.Used[1])
	}
	return fmt.Sprintf(" (declared at %s:%d:%d)", d.plan.file, f.Declared[0], f.Declared[1])
}

// space skips white space.
func (d *decoder) space() {
	if d.at < len(d.src) && d.src[d.at] <= ' ' {
		d.spaces()
	}
}

func (d *decoder) spaces() {
	for d.at < len(d.src) {
		switch d.src[d.at] {
		case ' ', '\t', '\n', '\r':
			d.at++
		default:
			return
		}
	}
}

// count takes one value from the budget.
func (d *decoder) count() bool {
	if d.nodes++; d.nodes > d.limits.DataNodes && !d.failed {
		d.report(d.at, codeDataNodes, "", "the data has more than %d values", d.limits.DataNodes)
		d.failed = true
	}
	return !d.failed
}

// value reads one value of type t.
func (d *decoder) value(t *exprlang.Type) exprlang.Value {
	if !d.count() {
		return exprlang.Null
	}
	if d.at >= len(d.src) {
		d.syntax("the data ends too early")
		return exprlang.Null
	}
	start := d.at
	switch c := d.src[d.at]; {
	case c == '{' && t.Kind == exprlang.RecordKind:
		return d.record(t)
	case c == '{' && t.Kind == exprlang.MapKind:
		return d.mapping(t)
	case c == '[' && t.Kind == exprlang.ListKind:
		return d.array(t)
	case c == '"' && t.Kind >= exprlang.StringKind && t.Kind <= exprlang.ColorKind:
		s := d.str()
		switch {
		case d.failed:
			return exprlang.Null
		case t.Kind == exprlang.StringKind:
			return exprlang.Text(s)
		}
		return d.textValue(t, start, s)
	case (c == '-' || c >= '0' && c <= '9') && numeric(t):
		return d.number(t, start)
	case c == 't' && t.Kind == exprlang.BooleanKind && d.word("true"):
		return exprlang.Bool(true)
	case c == 'f' && t.Kind == exprlang.BooleanKind && d.word("false"):
		return exprlang.Bool(false)
	case c == 'n' && t.Optional && d.word("null"):
		return exprlang.Null
	}
	got := d.skip()
	if !d.failed {
		d.wrong(t, start, got)
	}
	return exprlang.Null
}

func numeric(t *exprlang.Type) bool {
	return t.Kind == exprlang.IntegerKind || t.Kind == exprlang.DecimalKind || t.Kind == exprlang.NumberKind
}

func (d *decoder) wrong(t *exprlang.Type, off int, got string) {
	want := *t
	want.Optional = false
	d.report(off, codeDataType, written(t, got), "want %s, got %s%s", want.String(), got, d.use(d.field))
}

// written says how a value of a type is written, where what was got looks like one.
func written(t *exprlang.Type, got string) string {
	s, isText := strings.CutPrefix(got, "string ")
	switch {
	case t.Kind == exprlang.DateKind && isText && reDay.MatchString(s):
		return "this date does not exist"
	case t.Kind == exprlang.DateKind:
		return `write a day as "2026-01-31"`
	case t.Kind == exprlang.DateTimeKind:
		return `write a time as "2026-01-31T18:30:00Z"`
	case numeric(t) && isText && reNumber.MatchString(s):
		if strings.Contains(s, ",") {
			return "write a number without quotes and with a point"
		}
		return "write it without quotes"
	case t.Kind == exprlang.StringKind && (strings.HasPrefix(got, "number") || strings.HasPrefix(got, "integer")):
		return "write it in double quotes"
	}
	return ""
}

var (
	reDay    = regexp.MustCompile(`^"\d{4}-\d\d-\d\d"$`)
	reNumber = regexp.MustCompile(`^"[-+]?[\d.,']+"$`)
)

func (d *decoder) word(w string) bool {
	if !strings.HasPrefix(d.src[d.at:], w) {
		return false
	}
	d.at += len(w)
	return true
}

// textValue makes a value of type t from a string.
func (d *decoder) textValue(t *exprlang.Type, start int, s string) exprlang.Value {
	switch t.Kind {
	case exprlang.StringKind:
		return exprlang.Text(s)
	case exprlang.EnumKind:
		for _, v := range t.Enum {
			if v == s {
				return exprlang.Text(v)
			}
		}
		d.report(start, codeDataType, exprlang.Nearest(s, t.Enum), "want %s, got %s%s", alternatives(t.Enum), quoted(s), d.use(d.field))
		return exprlang.Null
	case exprlang.DateKind:
		if v, err := time.Parse(time.DateOnly, s); err == nil {
			return exprlang.Date(v)
		}
	case exprlang.DateTimeKind:
		if v, err := time.Parse(time.RFC3339, s); err == nil {
			return exprlang.DateTime(v)
		}
	case exprlang.ColorKind:
		if v, ok := exprlang.Color(s); ok {
			return v
		}
		d.report(start, codeDataType, `write "#rrggbb" or "none"`, "want a colour, got %s%s", quoted(s), d.use(d.field))
		return exprlang.Null
	case exprlang.ImageKind:
		if _, rest, ok := strings.Cut(s, ";base64,"); ok && strings.HasPrefix(s, "data:") {
			s = rest
		}
		if b, err := base64.StdEncoding.DecodeString(s); err == nil {
			return exprlang.Text(string(b))
		}
	}
	d.wrong(t, start, "string "+quoted(s))
	return exprlang.Null
}

// quoted shows a string in a message, long ones cut.
func quoted(s string) string {
	if r := []rune(s); len(r) > 40 {
		return strconv.Quote(string(r[:40])) + "..."
	}
	return strconv.Quote(s)
}

func (d *decoder) number(t *exprlang.Type, start int) exprlang.Value {
	if v, n := decimal.Short(d.src[start:]); n > 0 && (start+n == len(d.src) || !inNumber[d.src[start+n]]) {
		d.at += n
		if v.Scale() == 0 || t.Kind == exprlang.DecimalKind {
			return exprlang.Number(v)
		}
		return d.numberOf(t, start, v)
	}
	lit := d.numberText()
	v, err := decimal.Parse(lit)
	switch {
	case err == decimal.ErrRange: //nolint:errorlint // Parse returns it bare
		d.report(start, codeDataType, "", "the number has more than %d digits%s", decimal.MaxDigits, d.use(d.field))
		return exprlang.Null
	case err != nil:
		d.at = start
		d.syntax("%s is not a JSON number", quoted(lit))
		return exprlang.Null
	}
	return d.numberOf(t, start, v)
}

// numberOf makes a value of type t from a number.
func (d *decoder) numberOf(t *exprlang.Type, start int, v decimal.Decimal) exprlang.Value {
	switch t.Kind {
	case exprlang.IntegerKind:
		whole := v.Trim()
		if whole.Scale() > 0 {
			d.wrong(t, start, "number "+v.String())
			return exprlang.Null
		}
		v = whole
	case exprlang.NumberKind:
		v = v.Trim()
	}
	return exprlang.Number(v)
}

// numberText takes the characters that numbers are made of.
func (d *decoder) numberText() string {
	rest := d.src[d.at:]
	n := 0
	for n < len(rest) && inNumber[rest[n]] {
		n++
	}
	d.at += n
	return rest[:n]
}

var inNumber = func() (t [256]bool) {
	for _, c := range "+-.0123456789eE" {
		t[c] = true
	}
	return t
}()

// enter opens a list or object.
func (d *decoder) enter() bool {
	d.at++
	if d.depth++; d.depth > d.limits.DataDepth && !d.failed {
		d.report(d.at-1, codeDataDepth, "", "the data is nested deeper than %d levels", d.limits.DataDepth)
		d.failed = true
	}
	d.space()
	return !d.failed
}

// next goes to the next item of a list or object: true when there is one.
func (d *decoder) next(first bool, closing byte) bool {
	d.space()
	switch {
	case d.failed:
		return false
	case d.at >= len(d.src):
		d.syntax("the data ends too early")
		return false
	case d.src[d.at] == closing:
		d.at++
		d.depth--
		return false
	case first:
		return true
	case d.src[d.at] != ',':
		d.syntax("want , or %c", closing)
		return false
	}
	d.at++
	if d.space(); d.at < len(d.src) && d.src[d.at] == closing {
		d.syntax("a comma before %c", closing)
	}
	return !d.failed
}

// key reads a key and its colon.
func (d *decoder) key() string {
	if d.at >= len(d.src) || d.src[d.at] != '"' {
		d.syntax("want a key in quotes")
		return ""
	}
	k := d.str()
	if d.space(); d.at >= len(d.src) || d.src[d.at] != ':' {
		d.syntax("want : behind a key")
		return ""
	}
	d.at++
	d.space()
	return k
}

func (d *decoder) record(t *exprlang.Type) exprlang.Value {
	start := d.at
	if !d.enter() {
		return exprlang.Null
	}
	v := d.arena.Record(len(t.Fields))
	here := len(d.path)
	d.path = append(d.path, step{})[:here] // with room for one
	var few uint64                         // fields that were there, of the first 64
	var more map[int]bool                  // and the others
	var unknown map[string]bool            // names beside the contract
	outer := d.field
	// The field behind the last one: most texts have them in the order of the contract.
	next, closed := d.inOrder(t, d.arena.Fields(v))
	few = 1<<next - 1
	for first := true; !closed && d.next(first, '}'); first = false {
		keyAt := d.at
		i, f, k := d.keyOf(t, next)
		if d.failed {
			break
		}
		next = i + 1
		d.path = d.path[:here+1]
		d.path[here].name = k
		duplicate := false
		switch {
		case f == nil:
			duplicate = unknown[k]
			if unknown == nil {
				unknown = map[string]bool{}
			}
			unknown[k] = true
		case i < 64:
			duplicate = few&(1<<i) != 0
			few |= 1 << i
		default:
			duplicate = more[i]
			if more == nil {
				more = map[int]bool{}
			}
			more[i] = true
		}
		switch {
		case duplicate:
			d.report(keyAt, codeDataDuplicate, "", "the key appears twice")
			d.skip()
		case f == nil:
			d.report(keyAt, codeDataUnknown, exprlang.Nearest(k, fieldNames(t)), "unknown field")
			d.skip()
		default:
			d.field = f
			d.arena.SetField(v, i, d.value(f.Type))
		}
		d.path = d.path[:here]
	}
	d.field = outer
	if all := uint64(1)<<len(t.Fields) - 1; !d.failed && (few != all || len(t.Fields) > 64) {
		for i, f := range t.Fields {
			if i < 64 && few&(1<<i) != 0 || more[i] || d.window == nil && f.Type.Optional {
				continue
			}
			d.path = append(d.path, step{name: f.Name})
			if d.window.cut(d.at) {
				d.early()
			} else if !f.Type.Optional {
				d.report(start, codeDataMissing, "", "the field is missing%s", d.use(f))
			}
			d.path = d.path[:len(d.path)-1]
		}
	}
	return v
}

// inOrder reads the fields of a record as long as they are the next ones of the contract, with
// values that are written in the plainest way, as those of most records are; vals are the fields of
// the record. It returns how many they are; closed says that the record ends with them. What comes
// next is a key that is read as any other, and right or wrong by the same rules.
func (d *decoder) inOrder(t *exprlang.Type, vals []exprlang.Value) (n int, closed bool) {
	if d.failed || d.nodes+int64(len(vals)) > d.limits.DataNodes || len(vals) > 64 {
		return 0, false
	}
	src, at := d.src, d.at // where the key begins
	for n < len(vals) && !closed {
		f := t.Fields[n]
		p := at + len(f.Name) + len(`"":`) // where the value begins
		if p >= len(src) || src[at] != '"' || src[p-2] != '"' || src[p-1] != ':' || src[at+1:p-2] != f.Name {
			break
		}
		if p = plainValue(&vals[n], f.Type, src, p); p == 0 || p+1 >= len(src) {
			break
		}
		if closed = src[p] == '}'; !closed && (src[p] != ',' || src[p+1] != '"') {
			break
		}
		at = p + 1
		n++
	}
	d.at = at
	d.nodes += int64(n)
	if closed {
		d.depth--
	}
	return n, closed
}

// plainValue reads the value at a byte of src, a string without escapes or a short number. end is
// where it ends, 0 when it is another one, or not of type t.
func plainValue(v *exprlang.Value, t *exprlang.Type, src string, at int) (end int) {
	switch t.Kind {
	case exprlang.StringKind, exprlang.EnumKind:
		if src[at] != '"' {
			return 0
		}
		at++
		n := at
		for n < len(src) && !endsPlain[src[n]] {
			n++
		}
		if n == len(src) || src[n] != '"' {
			return 0
		}
		s := src[at:n]
		if t.Kind == exprlang.EnumKind {
			i := slices.Index(t.Enum, s)
			if i < 0 {
				return 0
			}
			s = t.Enum[i]
		}
		*v = exprlang.Text(s)
		return n + 1
	case exprlang.IntegerKind, exprlang.DecimalKind:
		d, n := decimal.Short(src[at:])
		if n == 0 || t.Kind == exprlang.IntegerKind && d.Scale() > 0 {
			return 0
		}
		*v = exprlang.Number(d)
		return at + n
	}
	return 0
}

// keyOf reads a key of a record and its colon. f is nil when the contract has no such field; next
// is the place of the field that is tried first.
func (d *decoder) keyOf(t *exprlang.Type, next int) (i int, f *exprlang.Field, k string) {
	if next < len(t.Fields) {
		f, rest := t.Fields[next], d.src[d.at:]
		if n := len(f.Name); len(rest) > n+2 && rest[0] == '"' && rest[n+1] == '"' && rest[n+2] == ':' && rest[1:n+1] == f.Name {
			d.at += n + 3
			d.space()
			return next, f, f.Name
		}
	}
	k = d.key()
	i, f = t.Field(k)
	return i, f, k
}

func fieldNames(t *exprlang.Type) []string {
	names := make([]string, len(t.Fields))
	for i, f := range t.Fields {
		names[i] = f.Name
	}
	return names
}

func (d *decoder) array(t *exprlang.Type) exprlang.Value {
	if !d.enter() {
		return exprlang.Null
	}
	base := len(d.stack)
	d.path = append(d.path, step{})
	for i := 0; d.next(i == 0, ']'); i++ {
		d.path[len(d.path)-1].i = i
		v := d.value(t.Elem)
		d.stack = append(d.stack, v)
	}
	d.path = d.path[:len(d.path)-1]
	v := d.arena.List(d.stack[base:])
	d.stack = d.stack[:base]
	if d.window.here(d.path) {
		v = d.window.rows
	}
	return v
}
