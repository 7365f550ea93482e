package exprlang_test

import (
	"cmp"
	"errors"
	"slices"
	"strings"
	"testing"

	"example.com/quire/pdf/internal/compile/decimal"
	"example.com/quire/pdf/internal/compile/exprlang"
)

// TestSubjectIsWhatATestProves: where an expression has one, a test of it against null makes the
// value one that is there; where it has none, no test does.
func TestSubjectIsWhatATestProves(t *testing.T) {
	t.Parallel()
	s := sample(t)
	for src, subject := range map[string]string{
		"none":                                  "none",
		"none | upper()":                        "none",
		"truncate(upper(none), 3)":              "none",
		"bank.iban | lower()":                   "bank.iban",
		"rates['EUR'] | number(2)":              "rates['EUR']",
		"rates[ 'EUR' ]":                        "rates[ 'EUR' ]",
		"avg(map(trades, .qty))":                "",
		"map(trades, .qty) | max()":             "",
		"find(trades, .qty > 1).side":           "",
		"avg(map(trades, .qty)) | money('EUR')": "",
	} {
		p, problems := exprlang.Compile(src, s, withLocale("en"))
		if len(problems) > 0 || !p.Type.Optional || p.Subject != subject {
			t.Errorf("%s: subject %q, want %q, %v", src, p.Subject, subject, problems)
			continue
		}
		test, problems := exprlang.Compile(cmp.Or(subject, src)+" != null", s, withLocale("en"))
		if len(problems) > 0 {
			t.Errorf("%s: %v", src, problems)
			continue
		}
		o := withLocale("en")
		o.Known = test.Holds
		if p, problems = exprlang.Compile(src, s, o); len(problems) > 0 || p.Type.Optional != (subject == "") {
			t.Errorf("%s: behind a test of %q it is %s, %v", src, subject, p.Type, problems)
		}
	}
}

// TestTestsExcludeNull: behind a test a value is required, elsewhere it stays optional.
func TestTestsExcludeNull(t *testing.T) {
	t.Parallel()
	s := sample(t)
	for src, optional := range map[string]bool{
		"none":                                                              true,
		"none ?? 'x'":                                                       false,
		"none != null ? none : '-'":                                         false,
		"none == null ? '-' : none":                                         false,
		"none == null ? none : '-'":                                         true,
		"not (none == null) ? none : '-'":                                   false,
		"none != null and n > 1 ? none : '-'":                               false,
		"none != null or n > 1 ? none : '-'":                                true,
		"none == null or n > 1 ? '-' : none":                                false,
		"none == 'x' ? none : '-'":                                          false,
		"none in ['x', 'y'] ? none : '-'":                                   false,
		"bank.iban":                                                         true,
		"bank != null ? bank.iban : '-'":                                    false,
		"bank.iban != null ? bank.iban : '-'":                               false,
		"bank.iban != null ? upper(bank.iban) : ''":                         false,
		"rates['EUR'] != null ? rates['EUR'] : 0":                           false,
		"rates['EUR'] != null ? rates['USD'] : 0":                           true,
		"let u = none; u != null ? u : '-'":                                 false,
		"first(map(trades, .url))":                                          true,
		"first(map(trades, .url != null ? .url : '-')) ?? ''":               false,
		"map(filter(trades, .url != null), .url)[0] ?? ''":                  false,
		"join(map(filter(trades, .url != null and .qty > 1), .url))":        false,
		"find(trades, .url != null).url ?? ''":                              false,
		"draft ? (draft ? 'a' : 'b') : 'c'":                                 false,
		"(none != null ? none : '-') == '-' ? none : 'x'":                   true,
		"(tags ?? [])[0] ?? ''":                                             false,
		"gap > 1 ? gap : 0":                                                 false,
		"any(trades, .url != null and .url contains 'x') ? none : none":     true,
		"any(trades, .url != null) ? first(map(trades, .url)) : 'the same'": true,
	} {
		p, problems := exprlang.Compile(src, s, withLocale("en"))
		if problems != nil {
			t.Errorf("%s: %v", src, problems)
			continue
		}
		if p.Type.Optional != optional {
			t.Errorf("%s is %s", src, p.Type)
		}
	}
	// What a list holds after a filter.
	p, problems := exprlang.Compile("map(filter(trades, .url != null), .url)", s, options)
	if problems != nil || p.Type.Elem.Optional {
		t.Errorf("%v %v", p, problems)
	}
	p, problems = exprlang.Compile("map(trades, .url)", s, options)
	if problems != nil || !p.Type.Elem.Optional {
		t.Errorf("%v %v", p, problems)
	}
}

// TestFactsOfConditionsHoldAround: what a condition proves is taken over by what stands under it.
func TestFactsOfConditionsHoldAround(t *testing.T) {
	t.Parallel()
	s := sample(t)
	cond, problems := exprlang.Compile("bank.iban != null or draft", s, options)
	if problems != nil || len(cond.Holds) != 0 || len(cond.Fails) != 0 {
		t.Fatal(cond, problems)
	}
	cond, problems = exprlang.Compile("bank.iban == null or any(trades, .url != null)", s, options)
	if problems != nil || len(cond.Holds) != 0 || len(cond.Fails) != 1 {
		t.Fatal(cond, problems)
	}
	under := options
	under.Known = cond.Fails
	for src, optional := range map[string]bool{"bank.iban": false, "bank": false, "none": true} {
		p, problems := exprlang.Compile(src, s, under)
		if problems != nil || p.Type.Optional != optional {
			t.Errorf("%s: %v %v", src, p, problems)
		}
	}
}

// TestRoundingOfTheDocument (rule 47): the mode of a document is that of round, of division and of
// all formats, at each tie; a call may name another one.
func TestRoundingOfTheDocument(t *testing.T) {
	t.Parallel()
	s := sample(t)
	ties := []string{"0.5", "-0.5", "1.5", "-1.5", "2.5", "-2.5"}
	for mode, want := range map[decimal.Mode]string{
		decimal.HalfEven: "0 0 2 -2 2 -2",
		decimal.HalfUp:   "1 -1 2 -2 3 -3",
		decimal.HalfDown: "0 0 1 -1 2 -2",
		decimal.Up:       "1 -1 2 -2 3 -3",
		decimal.Down:     "0 0 1 -1 2 -2",
	} {
		o := withLocale("en")
		o.Rounding = mode
		o.Locale = o.Locale.Rounding(mode)
		eval := func(src string) string {
			p, problems := exprlang.Compile(src, s, o)
			if problems != nil {
				t.Fatalf("%s: %v", src, problems)
			}
			b, err := p.Append(machine(s), nil)
			if err != nil {
				t.Fatalf("%s: %v", src, err)
			}
			return string(b)
		}
		var rounded, printed, paid, percent, named []string
		for _, tie := range ties {
			rounded = append(rounded, eval("round("+tie+")"))
			printed = append(printed, eval("number("+tie+", 0)"))
			paid = append(paid, strings.ReplaceAll(eval("money("+tie+", 'JPY')"), "¥", ""))
			percent = append(percent, strings.TrimSuffix(eval("percent("+tie+" / 100, 0)"), "%"))
			named = append(named, eval("round("+tie+", 0, 'half-even')"))
		}
		for what, got := range map[string][]string{"round": rounded, "number": printed, "money": paid, "percent": percent} {
			if strings.Join(got, " ") != want {
				t.Errorf("%s by %s: %v, want %s", what, decimal.Modes[mode], got, want)
			}
		}
		if got := strings.Join(named, " "); got != "0 0 2 -2 2 -2" {
			t.Errorf("round by name under %s: %s", decimal.Modes[mode], got)
		}
		third := map[bool]string{false: "0." + strings.Repeat("6", 34), true: "0." + strings.Repeat("6", 33) + "7"}
		if got := eval("2 / 3"); got != third[mode != decimal.Down] {
			t.Errorf("2 / 3 by %s is %s", decimal.Modes[mode], got)
		}
		if got := eval("avg([0, 2, 0])"); got != third[mode != decimal.Down] {
			t.Errorf("avg by %s is %s", decimal.Modes[mode], got)
		}
	}
}

// TestSortingTakesItsStepsFirst (rule 46): the budget of a sort depends on the count of items, not
// on their order, and is taken before work begins; equal keys keep their order.
func TestSortingTakesItsStepsFirst(t *testing.T) {
	t.Parallel()
	const n = 256
	item := &exprlang.Type{Kind: exprlang.RecordKind, Fields: []*exprlang.Field{
		{Name: "key", Type: basic(t, "integer", false)}, {Name: "at", Type: basic(t, "integer", false)},
	}}
	typ := &exprlang.Type{Kind: exprlang.RecordKind, Fields: []*exprlang.Field{{Name: "items", Type: &exprlang.Type{Kind: exprlang.ListKind, Elem: item}}}}
	list := func(key func(i int) int) scope {
		items := make([]exprlang.Value, n)
		for i := range items {
			items[i] = exprlang.Record([]exprlang.Value{exprlang.Int(key(i)), exprlang.Int(i)})
		}
		return scope{typ, exprlang.Record([]exprlang.Value{exprlang.List(items)})}
	}
	orders := map[string]scope{
		"sorted":   list(func(i int) int { return i }),
		"reversed": list(func(i int) int { return n - i }),
		"equal":    list(func(int) int { return 7 }),
		"mixed":    list(func(i int) int { return i * 37 % 16 }),
	}
	steps := map[string]int64{}
	for name, s := range orders {
		p, problems := exprlang.Compile("sortBy(items, .key)", s, options)
		if problems != nil {
			t.Fatal(problems)
		}
		run := func(budget int64) (exprlang.Value, int64, error) {
			m := &exprlang.Machine{Slots: []exprlang.Value{s.val}, Steps: budget, Memory: 1 << 20, Range: 100}
			v, err := p.Eval(m)
			return v, budget - m.Steps, err
		}
		v, used, err := run(1 << 20)
		if err != nil {
			t.Fatal(name, err)
		}
		steps[name] = used
		for i := 1; i < v.Len(); i++ {
			a, b := v.At(i-1), v.At(i)
			if c := a.At(0).Dec().Cmp(b.At(0).Dec()); c > 0 || c == 0 && a.At(1).Dec().Cmp(b.At(1).Dec()) > 0 {
				t.Errorf("%s: item %d is out of order", name, i)
			}
		}
		if _, _, err := run(used); err != nil {
			t.Errorf("%s: with just its steps: %v", name, err)
		}
		var e *exprlang.Error
		if _, _, err := run(used - 1); !errors.As(err, &e) || e.Code != exprlang.CodeSteps {
			t.Errorf("%s: with a step too few: %v", name, err)
		}
	}
	all := []int64{steps["sorted"], steps["reversed"], steps["equal"], steps["mixed"]}
	if slices.Min(all) != slices.Max(all) || all[0] < n*8 {
		t.Errorf("steps by order: %v", steps)
	}
}
