package exprlang

import (
	"time"

	"github.com/expr-lang/expr/ast"
)

// dateArg checks an argument that is a date, or a datetime, of which the day in its own zone
// counts.
func (c *checker) dateArg(name string, n ast.Node) *expr {
	e := c.node(n)
	if e.typ.Kind != Invalid && e.typ.Kind != DateKind && e.typ.Kind != DateTimeKind {
		return c.bad(n, CodeType, "", "%s wants a date, got %s", name, e.typ)
	}
	return e
}

// countArg checks an argument that is a whole number.
func (c *checker) countArg(name string, n ast.Node) *expr {
	e := c.node(n)
	if e.typ.Kind != Invalid && e.typ.Kind != IntegerKind {
		return c.bad(n, CodeType, "", "%s wants a whole number, got %s", name, e.typ)
	}
	return e
}

// maxShift bounds what may be added to a date: more than there are days from year 1 to 9999.
const maxShift = 4_000_000

// shifted is addDays(d, n) and addMonths(d, n). A date stays a date, a datetime keeps its time of
// day and its zone.
func (c *checker) shifted(n *ast.CallNode) *expr {
	name := callee(n)
	d, by := c.dateArg(name, n.Arguments[0]), c.countArg(name, n.Arguments[1])
	if d.typ.Kind == Invalid || by.typ.Kind == Invalid {
		return c.invalid(n)
	}
	shift := addMonths
	if name == "addDays" {
		shift = func(t time.Time, n int) time.Time { return t.AddDate(0, 0, n) }
	}
	return c.dated(n, d, func(m *Machine, t time.Time) (time.Time, error) {
		v, err := by.need(m)
		if err != nil {
			return t, err
		}
		count, ok := v.Dec().Int64()
		if !ok || count < -maxShift || count > maxShift {
			return t, fail(by.off, CodeValue, "%s cannot add %s", name, v.Dec())
		}
		return shift(t, int(count)), nil
	})
}

// addMonths adds calendar months; a day that the month does not have is its last: 31 January and
// one month is 28 or 29 February.
func addMonths(t time.Time, n int) time.Time {
	y, m, d := t.Date()
	first := time.Date(y, m+time.Month(n), 1, t.Hour(), t.Minute(), t.Second(), t.Nanosecond(), t.Location())
	return first.AddDate(0, 0, min(d, daysIn(first))-1)
}

func daysIn(t time.Time) int {
	y, m, _ := t.Date()
	return time.Date(y, m+1, 0, 0, 0, 0, 0, time.UTC).Day()
}

// monthEdge is startOfMonth(d) and endOfMonth(d): a date.
func (c *checker) monthEdge(n *ast.CallNode) *expr {
	name := callee(n)
	d := c.dateArg(name, n.Arguments[0])
	if d.typ.Kind == Invalid {
		return d
	}
	e := c.dated(n, d, func(_ *Machine, t time.Time) (time.Time, error) {
		y, m, _ := t.Date()
		day := 1
		if name == "endOfMonth" {
			day = daysIn(t)
		}
		return time.Date(y, m, day, 0, 0, 0, 0, time.UTC), nil
	})
	inner := e.eval
	e.typ = &Type{Kind: DateKind}
	e.eval = func(m *Machine) (Value, error) {
		v, err := inner(m)
		if err != nil {
			return Null, err
		}
		return Date(v.Time()), nil
	}
	return e
}

// dated builds a call that makes a date, or a datetime, of one.
func (c *checker) dated(n *ast.CallNode, d *expr, of func(*Machine, time.Time) (time.Time, error)) *expr {
	off, end := c.span(n)
	return &expr{typ: d.typ.required(), off: off, end: end, desc: d.desc, eval: func(m *Machine) (Value, error) {
		v, err := d.need(m)
		if err != nil {
			return Null, err
		}
		t, err := of(m, v.Time())
		if err != nil {
			return Null, err
		}
		if y := t.Year(); y < 1 || y > 9999 {
			return Null, fail(off, CodeValue, "the date lies outside the years 1 to 9999")
		}
		if v.kind == datetime {
			return DateTime(t), nil
		}
		return Date(t), nil
	}}
}

// dayNumber counts the days of t's calendar date from an epoch.
func dayNumber(t time.Time) int64 { return Date(t).num }

// between is daysBetween(a, b), the days from a to b, and age(born, on), the full years.
func (c *checker) between(n *ast.CallNode) *expr {
	name := callee(n)
	a, b := c.dateArg(name, n.Arguments[0]), c.dateArg(name, n.Arguments[1])
	if a.typ.Kind == Invalid || b.typ.Kind == Invalid {
		return c.invalid(n)
	}
	off, end := c.span(n)
	return &expr{typ: typeInteger, off: off, end: end, desc: a.desc, eval: func(m *Machine) (Value, error) {
		x, y, err := need2(m, a, b)
		if err != nil {
			return Null, err
		}
		if name == "daysBetween" {
			return Int(int(dayNumber(y.Time()) - dayNumber(x.Time()))), nil
		}
		if dayNumber(y.Time()) < dayNumber(x.Time()) {
			return Null, fail(off, CodeValue, "age: the day is before the birth")
		}
		return Int(fullYears(x.Time(), y.Time())), nil
	}}
}

// fullYears is the age of one who is born on a day. A birthday on 29 February is on 1 March in
// other years.
func fullYears(born, on time.Time) int {
	y, m, d := born.Date()
	years := on.Year() - y
	birthday := time.Date(on.Year(), m, d, 0, 0, 0, 0, time.UTC)
	if dayNumber(on) < dayNumber(birthday) {
		years--
	}
	return years
}

// weekday is weekday(d), 1 for Monday to 7 for Sunday (ISO 8601).
func (c *checker) weekday(n *ast.CallNode) *expr {
	d := c.dateArg("weekday", n.Arguments[0])
	if d.typ.Kind == Invalid {
		return d
	}
	off, end := c.span(n)
	return &expr{typ: typeInteger, off: off, end: end, desc: d.desc, eval: func(m *Machine) (Value, error) {
		v, err := d.need(m)
		if err != nil {
			return Null, err
		}
		return Int((int(v.Time().Weekday())+6)%7 + 1), nil
	}}
}
