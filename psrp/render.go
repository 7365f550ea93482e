package psrp

import (
	"context"
	"strings"
	"unicode/utf8"

	"example.com/quire/psrp/clixml"
	"example.com/quire/psrp/host"
)

type outDefaultArgs struct {
	InputObject any
	Transcript  bool
}

// outDefault shows its input on the client's host, and writes no output: what an interactive
// client pipes its lines into. Objects of one shape that follow each other are a table.
func outDefault(ctx context.Context, _ outDefaultArgs, c *Call) error {
	console := c.Host().Console
	if console == nil {
		for _, err := range Input[clixml.Value](c) {
			if err != nil {
				return err
			}
		}
		return nil
	}
	t := &textTable{}
	flush := func() error {
		for _, line := range t.lines() {
			if err := console.WriteLine(ctx, host.LinePlain, line, host.Style{}); err != nil {
				return err
			}
		}
		*t = textTable{}
		return nil
	}
	show := func(v clixml.Value) error {
		if t.add(v) {
			return nil
		}
		if err := flush(); err != nil {
			return err
		}
		if t.add(v) {
			return nil
		}
		kind := host.LinePlain
		if o, ok := v.Object(); ok && strings.HasSuffix(o.TypeName(), "ErrorRecord") {
			kind = host.LineError
		}
		for line := range strings.SplitSeq(textFor(v), "\n") {
			if err := console.WriteLine(ctx, kind, line, host.Style{}); err != nil {
				return err
			}
		}
		return nil
	}
	for v, err := range Input[clixml.Value](c) {
		if err != nil {
			return err
		}
		for _, part := range parts(v) {
			if err := show(part); err != nil {
				return err
			}
		}
	}
	return flush()
}

// parts are what of a value is shown by itself: the items of a list, the entries of a dictionary,
// nothing of null.
func parts(v clixml.Value) []clixml.Value {
	if v.IsNil() {
		return nil
	}
	if l, ok := v.List(); ok {
		return l.Items
	}
	d, ok := v.Dict()
	if !ok {
		return []clixml.Value{v}
	}
	var entries []clixml.Value
	for _, e := range d.Entries {
		o := &clixml.Object{TypeNames: []string{"System.Collections.DictionaryEntry", "System.Object"}}
		o.Extended = clixml.Properties{{Name: "Name", Value: e.Key}, {Name: "Value", Value: e.Value}}
		entries = append(entries, o.Value())
	}
	return entries
}

// textTable gathers objects of one shape.
type textTable struct {
	typeName string
	header   []string
	rows     [][]string
}

const (
	tableRows    = 100 // more begin another table
	tableColumns = 6   // more are a list
	columnWidth  = 60
)

// add takes an object if it is of the table's shape, and so shown as a row.
func (t *textTable) add(v clixml.Value) bool {
	names, values := shown(v)
	o, _ := v.Object()
	if len(names) == 0 || len(names) > tableColumns || len(t.rows) == tableRows {
		return false
	}
	if t.header == nil {
		t.header, t.typeName = names, o.TypeName()
	} else if o.TypeName() != t.typeName || strings.Join(names, "\x00") != strings.Join(t.header, "\x00") {
		return false
	}
	t.rows = append(t.rows, values)
	return true
}

func (t *textTable) lines() []string {
	if len(t.rows) == 0 {
		return nil
	}
	width := make([]int, len(t.header))
	rule := make([]string, len(t.header))
	for i, h := range t.header {
		width[i] = utf8.RuneCountInString(h)
		rule[i] = strings.Repeat("-", width[i])
		for _, row := range t.rows {
			width[i] = max(width[i], utf8.RuneCountInString(row[i]))
		}
	}
	out := []string{""}
	for _, row := range append([][]string{t.header, rule}, t.rows...) {
		var b strings.Builder
		for i, cell := range row {
			b.WriteString(cell)
			if i < len(row)-1 {
				b.WriteString(strings.Repeat(" ", width[i]-utf8.RuneCountInString(cell)+1))
			}
		}
		out = append(out, strings.TrimRight(b.String(), " "))
	}
	return append(out, "")
}

// shown are the names and texts of an object's properties; none of what is shown as its text.
func shown(v clixml.Value) (names, values []string) {
	o, ok := v.Object()
	if !ok || v.Base().Kind() != clixml.KindObject || strings.HasSuffix(o.TypeName(), "Record") {
		return nil, nil
	}
	for _, properties := range []clixml.Properties{o.Extended, o.Adapted} {
		for _, p := range properties {
			text := strings.NewReplacer("\r", " ", "\n", " ").Replace(textFor(p.Value))
			if r := []rune(text); len(r) > columnWidth {
				text = string(r[:columnWidth-1]) + "…"
			}
			names, values = append(names, p.Name), append(values, text)
		}
	}
	return names, values
}

// textFor is a value as a person reads it.
func textFor(v clixml.Value) string {
	if v.IsNil() {
		return ""
	}
	if s, ok := v.Base().Text(); ok {
		return s
	}
	if s, ok := plainText(v); ok {
		return s
	}
	o, ok := v.Object()
	if !ok {
		return v.String()
	}
	if o.HasToString {
		return o.ToString
	}
	if names, values := shown(v); len(names) > tableColumns {
		var lines []string
		for i, n := range names {
			lines = append(lines, n+" : "+values[i])
		}
		return strings.Join(lines, "\n")
	}
	return v.String()
}
