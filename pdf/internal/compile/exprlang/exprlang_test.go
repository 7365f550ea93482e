package exprlang_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"example.com/quire/pdf/internal/compile/decimal"
	"example.com/quire/pdf/internal/compile/exprlang"
	"example.com/quire/pdf/internal/compile/locale"
)

// scope is a record of named values.
type scope struct {
	typ *exprlang.Type
	val exprlang.Value
}

func (s scope) Lookup(name string) (exprlang.Var, bool) {
	i, f := s.typ.Field(name)
	if f == nil {
		return exprlang.Var{}, false
	}
	return exprlang.Var{Field: i, Type: f.Type, Note: f}, true
}

func (s scope) Names() []string {
	var out []string
	for _, f := range s.typ.Fields {
		out = append(out, f.Name)
	}
	return out
}

func (s scope) Used(f *exprlang.Field, off int) {
	if f.Used == [2]int{} {
		f.Used = [2]int{1, off + 1}
	}
}

func basic(t *testing.T, name string, optional bool) *exprlang.Type {
	t.Helper()
	typ, ok := exprlang.Basic(name)
	if !ok {
		t.Fatalf("no type %s", name)
	}
	typ.Optional = optional
	return typ
}

func num(t *testing.T, s string) exprlang.Value {
	t.Helper()
	d, err := decimal.Parse(s)
	if err != nil {
		t.Fatal(err)
	}
	return exprlang.Number(d)
}

// sample is the scope of these tests: a contract note in small.
func sample(t *testing.T) scope {
	t.Helper()
	field := func(name string, typ *exprlang.Type) *exprlang.Field {
		return &exprlang.Field{Name: name, Type: typ}
	}
	side := &exprlang.Type{Kind: exprlang.EnumKind, Enum: []string{"BUY", "SELL"}}
	trade := &exprlang.Type{Kind: exprlang.RecordKind, Fields: []*exprlang.Field{
		field("symbol", basic(t, "string", false)), field("side", side), field("qty", basic(t, "integer", false)),
		field("price", basic(t, "decimal", false)), field("url", basic(t, "string", true)),
	}}
	bank := &exprlang.Type{Kind: exprlang.RecordKind, Optional: true, Fields: []*exprlang.Field{field("iban", basic(t, "string", false))}}
	root := &exprlang.Type{Kind: exprlang.RecordKind, Fields: []*exprlang.Field{
		field("name", basic(t, "string", false)),
		field("n", basic(t, "integer", false)),
		field("price", basic(t, "decimal", false)),
		field("draft", basic(t, "boolean", true)),
		field("day", basic(t, "date", false)),
		field("at", basic(t, "datetime", false)),
		field("none", basic(t, "string", true)),
		field("gap", basic(t, "decimal", true)),
		field("trades", &exprlang.Type{Kind: exprlang.ListKind, Elem: trade}),
		field("tags", &exprlang.Type{Kind: exprlang.ListKind, Elem: basic(t, "string", false)}),
		field("rates", &exprlang.Type{Kind: exprlang.MapKind, Elem: basic(t, "decimal", false)}),
		field("bank", bank),
		field("side", side),
		field("empty", &exprlang.Type{Kind: exprlang.ListKind, Elem: basic(t, "integer", false)}),
		field("big", basic(t, "decimal", false)),
	}}
	row := func(symbol, side, qty, price string, url exprlang.Value) exprlang.Value {
		return exprlang.Record([]exprlang.Value{exprlang.Text(symbol), exprlang.Text(side), num(t, qty), num(t, price), url})
	}
	text := exprlang.Text
	day := time.Date(2026, time.January, 5, 9, 4, 5, 0, time.FixedZone("", 19800))
	return scope{root, exprlang.Record([]exprlang.Value{
		text("Asha <b>"), exprlang.Int(3), num(t, "12.50"), exprlang.Null, exprlang.Date(day), exprlang.DateTime(day), exprlang.Null, exprlang.Null,
		exprlang.List([]exprlang.Value{
			row("INFY", "BUY", "10", "1500.05", text("https://x")),
			row("TCS", "SELL", "3", "3200.10", exprlang.Null),
		}),
		exprlang.List([]exprlang.Value{text("a"), text("b"), text("c")}),
		exprlang.Map([]string{"EUR", "USD"}, []exprlang.Value{num(t, "1.1"), num(t, "0.9")}),
		exprlang.Null,
		text("BUY"),
		exprlang.List(nil),
		num(t, "123456789012345678901234567890.5"),
	})}
}

var options = exprlang.Options{MaxBytes: 4096, MaxNodes: 1000, PredicateDepth: 2}

func withLocale(tag string) exprlang.Options {
	o := options
	o.Locale, _ = locale.Lookup(tag)
	o.NoLocale, o.Language = "no formats", tag
	return o
}

func machine(s scope) *exprlang.Machine {
	return &exprlang.Machine{Slots: []exprlang.Value{s.val}, Steps: 1000, Memory: 1 << 20, Range: 100}
}

// run compiles and prints; problems and errors print as [CODE message].
func run(t *testing.T, s scope, src string, o exprlang.Options) string {
	t.Helper()
	p, problems := exprlang.Compile(src, s, o)
	if problems != nil {
		var out []string
		for _, p := range problems {
			text := fmt.Sprintf("[%s %d %s", p.Code, p.Off+1, p.Message)
			if p.Hint != "" {
				text += "; " + p.Hint
			}
			out = append(out, text+"]")
		}
		return strings.Join(out, " ")
	}
	m := machine(s)
	out, err := p.Append(m, nil)
	if err != nil {
		e, ok := err.(*exprlang.Error) //nolint:errorlint // the documented type, never wrapped
		if !ok {
			t.Fatalf("%s: error of type %T", src, err)
		}
		return fmt.Sprintf("[%s %d %s]", e.Code, e.Off+1, e.Message)
	}
	return string(out)
}

func TestValues(t *testing.T) {
	t.Parallel()
	s := sample(t)
	o := withLocale("en-IN")
	for _, tt := range []struct{ src, want string }{
		{"name", "Asha <b>"},
		{"price", "12.50"},
		{"trades[0].price", "1500.05"},
		{"trades[-1].symbol", "TCS"},
		{"day", "2026-01-05"},
		{"at", "2026-01-05T09:04:05+05:30"},
		{"0.1 + 0.2", "0.3"},
		{"0.10 + 0.2", "0.30"},
		{"1 / 3", "0.3333333333333333333333333333333333"},
		{"7 / 2", "3.5"},
		{"7 % 4", "3"},
		{"-price * 2", "-25.00"},
		{"9223372036854775807 + 1", "9223372036854775808"},
		{"9223372036854775807 * 9223372036854775807", "85070591730234615847396907784232501249"},
		{"big * 2", "246913578024691357802469135781.0"},
		{".5 + 1.", "1.5"},
		{"1_000", "1000"},
		{"n == 3.0", "true"},
		{"price == 12.5", "true"},
		{"price in [1, 12.5]", "true"},
		{"side == 'BUY'", "true"},
		{"side != 'BUY'", "false"},
		{"side in ['SELL']", "false"},
		{"day < at ", "[T107 5 date and datetime have no order]"},
		{"draft == true", "false"},
		{"draft == null", "true"},
		{"not draft and none == nil", "true"},
		{"draft ? 'x' : 'y'", "y"},
		{"n > 2 ? 1 : 2.5", "1"},
		{"1 < n <= 3", "true"},
		{"name + '!'", "Asha <b>!"},
		{"name contains 'sha'", "true"},
		{"name startsWith 'sha'", "false"},
		{"name not endsWith 'x'", "true"},
		{"'b' in tags", "true"},
		{"'EUR' in rates", "true"},
		{"rates['EUR']", "1.1"},
		{"rates.USD", "0.9"},
		{"rates['XXX'] ?? 0", "0"},
		{"bank.iban | default('no bank')", "no bank"},
		{"bank?.iban ?? '-'", "-"},
		{"tags[1:] | join('+')", "b+c"},
		{"tags[:2] | join()", "a and b"},
		{"tags[:99] | join('/')", "a/b/c"},
		{"tags[-2:-1] | join('/')", "b"},
		{"day | date", "[T106 10 date has no brackets; write | date('long')]"},
		{"tags | join", "[T106 11 join has no brackets; write | join()]"},
		{"price | money ", "[T106 14 money has no brackets; write | money('EUR')]"},
		{"join(tags, 'or')", "a, b or c"},
		{"len(tags) + len(name) + len(rates)", "13"},
		{"total(map(trades, (.side == 'BUY' ? 1 : -1) * .qty * .price))", "5400.20"},
		{"total([])", "0"},
		{"sum(map(trades, .qty))", "13"},
		{"sum(n, price, 1)", "16.50"},
		{"sum(empty)", "0"},
		{"avg(map(trades, .qty))", "6.5"},
		{"avg(empty) ?? 0", "0"},
		{"min(map(trades, .price))", "1500.05"},
		{"max(map(trades, .price))", "3200.10"},
		{"max(n - 10, 0)", "0"},
		{"abs(n - 10)", "7"},
		{"round(2.5, 0, 'half-up')", "3"},
		{"round(-2.345, 2, 'half-down')", "-2.34"},
		{"round(2.001, 2, 'up')", "2.01"},
		{"round(-2.009, 2, 'down')", "-2.00"},
		{"keys(rates) | join('+')", "EUR+USD"},
		{"sum(values(rates))", "2.0"},
		{"map(entries(rates), .key + '=' + (.value | number(1))) | join(' ')", "EUR=1.1 USD=0.9"},
		{"addDays(day, 26) | date('iso')", "2026-01-31"},
		{"addMonths(addDays(day, 26), 1) | date('iso')", "2026-02-28"},
		{"addMonths(addDays(day, 26), -11) | date('iso')", "2025-02-28"},
		{"addMonths(addDays(day, 26), 25) | date('iso')", "2028-02-29"},
		{"addDays(at, 1) | datetime('long', 'short')", "6 January 2026 at 9:04\u202fam"},
		{"startOfMonth(at) | date('iso')", "2026-01-01"},
		{"endOfMonth(addMonths(day, 1)) | date('iso')", "2026-02-28"},
		{"daysBetween(day, addMonths(day, 12))", "365"},
		{"daysBetween(addDays(day, 3), at)", "-3"},
		{"age(day, addDays(addMonths(day, 120), -1))", "9"},
		{"age(day, addMonths(day, 120))", "10"},
		{"weekday(day)", "1"},
		{"weekday(addDays(day, -1))", "7"},
		{"map(sortBy(trades, .price, 'desc'), .symbol) | join('+')", "TCS+INFY"},
		{"map(sortBy(trades, .qty), .symbol) | join('+')", "TCS+INFY"},
		{"sortBy(['b', 'a', 'B'], #) | join('')", "Bab"},
		{"map(sortBy(trades, 1), .symbol) | join('+')", "INFY+TCS"},
		{"total(map(trades, .qty))", "13"},
		{"count(trades, .qty > 5)", "1"},
		{"all(trades, .qty > 2) and any(trades, .qty > 9) and one(trades, .qty == 3) and none(trades, .qty > 99)", "true"},
		{"all(empty, # > 1)", "true"},
		{"any(empty, # > 1)", "false"},
		{"map(filter(trades, .side == 'SELL'), .symbol) | join()", "TCS"},
		{"map(trades, #index) | len()", "2"},
		{"find(trades, .qty == 3).symbol", "TCS"},
		{"find(trades, .qty == 99).symbol | default('none')", "none"},
		{"first(tags) + last(tags)", "ac"},
		{"first(empty) | default(7)", "7"},
		{"flatten([[1, 2], [3]]) | total()", "6"},
		{"total(1..10)", "55"},
		{"len(3..1)", "0"},
		{"trim('  x ') + trim('--y-', '-')", "xy"},
		{"split('a,b', ',') | last()", "b"},
		{"replace('aXbX', 'X', '-')", "a-b-"},
		{"hasPrefix('abc', 'ab') and hasSuffix('abc', 'bc')", "true"},
		{"let x = price * 2; x + x", "50.00"},
		{"let x = 1; let y = x + 1; x + y", "3"},
		{"total(map(trades, (let q = .qty; q * 2)))", "26"},
		{"round(7.8535 * 600, 2)", "4712.10"},
		{"round(0.125, 2) + 0", "0.12"}, // ties go to the even digit, as in the formats
		{"round(0.135, 2)", "0.14"},
		{"round(-0.125, 2)", "-0.12"},
		{"round(-0.0051, 2)", "-0.01"},
		{"round(1, 2)", "1.00"},
		{"round(2.5) + round(3.5)", "6"},
		{"round(3.5) | ordinal()", "4th"},
		{"round(big * 3.01, 1)", "371604934927160493492716049350.4"},
		{"0.125 | round(2) | money('INR')", "₹0.12"},
		{"0.125 | money('INR')", "₹0.12"},
		{"total(map(trades, round(.price / 3, 2)))", "1566.72"},
		{"total(map(trades, {let q = .qty; let i = #index; q * i}))", "3"},
		{"1234567 | number(2)", "12,34,567.00"},
		{"price | number()", "12.50"},
		{"price | money('INR')", "₹12.50"},
		{"-1234567.005 | money('USD')", "-$12,34,567.00"},
		{"0.075 | percent(1)", "7.5%"},
		{"0.075 | percent()", "8%"},
		{"day | date()", "5 Jan 2026"},
		{"day | date('long')", "5 January 2026"},
		{"at | date('iso')", "2026-01-05"},
		{"at | date('HH:mm')", "09:04"},
		{"at | time()", "9:04\u202fam"},
		{"at | time('medium')", "9:04:05\u202fam"},
		{"at | datetime('long', 'short')", "5 January 2026 at 9:04\u202fam"},
		{"ordinal(22)", "22nd"},
		{"plural(n, 'item', 'items')", "items"},
		{"plural(1, {one: 'item', other: 'items'})", "item"},
		{"plural(1.0, {one: 'item', other: 'items'})", "items"},
		{"upper(name) + lower('ÀB') + title('hello wORLD, don’t')", "ASHA <B>àbHello WORLD, Don’t"},
		{"truncate('abcdef', 4)", "abc…"},
		{"truncate('abc', 3)", "abc"},
		{"truncate('abe\u0301f', 4)", "ab…"},
		{"none | upper() | default('-')", "-"},
		{"gap | money('INR') | default('n/a')", "n/a"},
		{"`raw`", "raw"},
		{"!draft", "true"},
		{"true or none == 'x'", "true"},
		{"null ?? 1", "1"},
	} {
		if got := run(t, s, tt.src, o); got != tt.want {
			t.Errorf("%s\n got %s\nwant %s", tt.src, got, tt.want)
		}
	}
}

// TestLetterCaseIsThatOfTheLanguage: also of languages that have no formats.
func TestLetterCaseIsThatOfTheLanguage(t *testing.T) {
	t.Parallel()
	s := sample(t)
	for _, tt := range []struct{ lang, src, want string }{
		{"de", "upper('Straße')", "STRASSE"},
		{"tr", "upper('istanbul') + lower('IĞDIR') + title('istanbul')", "İSTANBULığdırİstanbul"},
		{"nl", "title('ijsland')", "IJsland"},
		{"el", "upper('άνοιξη') + lower('ΟΔΟΣ')", "ΑΝΟΙΞΗοδος"},
		{"en", "upper('istanbul') + title('3rd ﬁnal')", "ISTANBUL3rd Final"},
	} {
		if got := run(t, s, tt.src, withLocale(tt.lang)); got != tt.want {
			t.Errorf("%s: %s\n got %s\nwant %s", tt.lang, tt.src, got, tt.want)
		}
	}
}

func TestProblems(t *testing.T) {
	t.Parallel()
	s := sample(t)
	o := withLocale("en-IN")
	for _, tt := range []struct{ src, want string }{
		{"", "[T106 1 the expression is empty]"},
		{"nam", `[T104 1 no field, variable or parameter "nam"; did you mean "name"?]`},
		{"trades[0].qtty", `[T104 11 no field "qtty" in trades[]; did you mean "qty"?]`},
		{"map(trades, .qtty)", `[T104 14 no field "qtty" in trades[]; did you mean "qty"?]`},
		{"trades.qty", `[T107 8 trades is a list and has no field "qty"; take one item, or loop over them]`},
		{"name.x", `[T107 6 name is string and has no field "x"]`},
		{"name[0]", "[T107 5 name is string and has no items]"},
		{"side == 'BUYY'", `[T107 9 side is never "BUYY"; did you mean "BUY"?]`},
		{"side in ['SEL']", `[T107 10 side is never "SEL"; did you mean "SELL"?]`},
		{"name == n", "[T107 6 string and integer are never equal]"},
		{"name + n", `[T107 6 + wants numbers, got string and integer; put texts and values side by side: "${a} ${b}"]`},
		{"name < n", "[T107 6 string and integer have no order]"},
		{"n ? 1 : 2", "[T107 1 want a condition, got integer]"},
		{"n > 1 ? 1 : 'a'", "[T107 13 one branch is integer, the other string]"},
		{"2 ** 3", "[T109 3 powers are not part of the template language]"},
		{"2 ^ 3", "[T109 3 powers are not part of the template language]"},
		{"name matches 'a'", "[T109 6 matches is not part of the template language; use contains, startsWith or endsWith]"},
		{"$env", "[T107 1 $env is not part of the template language]"},
		{"$env['name']", "[T107 1 $env is not part of the template language]"},
		{"reduce(trades, .qty)", "[T109 1 function reduce is not part of the template language]"},
		{"sum(trades)", "[T107 5 sum wants numbers, got [record]; write sum(map(list, .field))]"},
		{"round(price, 1, 'nearest')", "[T107 17 round wants one of the modes half-even, half-up, half-down, up, down]"},
		{"keys(tags)", "[T107 6 keys wants a map, got [string]]"},
		{"min(n)", "[T107 5 min wants a list of numbers, or several numbers, got integer]"},
		{"addDays(name, 1)", "[T107 9 addDays wants a date, got string]"},
		{"addMonths(day, price)", "[T107 16 addMonths wants a whole number, got decimal]"},
		{"toJSON(name)", "[T109 1 function toJSON is not part of the template language]"},
		{"duration('1h')", "[T109 1 function duration is not part of the template language]"},
		{"reduce(tags, #acc + #)", "[T109 1 function reduce is not part of the template language]"},
		{"sortBy(trades, .price, 'down')", "[T107 24 the order of sortBy is 'asc' or 'desc']"},
		{"sortBy(trades, #)", "[T107 16 sortBy wants a number, a text or a date as key, got record]"},
		{"mony(n, 'EUR')", `[T109 1 no function mony; did you mean "money"?]`},
		{"section(0)", "[T107 9 want a level of headings, a number from 1 to 9]"},
		{"money(n)", "[T109 1 money takes 2 arguments, got 1]"},
		{"number(n, 1, 2)", "[T109 1 number takes 1 to 2 arguments, got 3]"},
		{"100000000000000000000", "[T106 21 an integer has at most 18 digits here; write it with a point, as in 100000000000000000000.0]"},
		{"name.trim()", "[T109 6 values have no methods; write trim(...)]"},
		{"price | money('euro')", `[T107 15 "euro" is not an ISO 4217 currency code; did you mean "EUR"?]`},
		{"name | money('EUR')", "[T107 1 money wants a number, got string]"},
		{"n | number(price)", "[T107 12 number wants a count of fraction digits from 0 to 30]"},
		{"n | number(-1)", "[T107 12 number wants a count of fraction digits from 0 to 30]"},
		{"day | date('lnog')", `[T107 12 "lnog" is neither a style (short, medium, long, full) nor a pattern; did you mean "long"?]`},
		{"day | date('HH:mm')", "[T107 12 a date has no time of day]"},
		{"day | time()", "[T107 1 time wants a datetime, got date]"},
		{"at | time('long')", "[T107 11 a time has the styles short and medium]"},
		{"name | date()", "[T107 1 date wants a date or a datetime, got string]"},
		{"at | date(name)", "[T107 11 the style of date is a text in quotes]"},
		{"plural(n, {one: 'x'})", `[T107 11 plural wants a form for "other"]`},
		{"plural(n, {ones: 'x', other: 'y'})", `[T107 12 no plural category "ones"; did you mean "one"?]`},
		{"round(name, 2)", "[T107 7 round wants a number, got string]"},
		{"round(price, n)", "[T107 14 round wants a count of fraction digits from 0 to 30]"},
		{"round(price, 31)", "[T107 14 round wants a count of fraction digits from 0 to 30]"},
		{"round()", "[T109 1 round takes 1 to 3 arguments, got 0]"},
		{"plural(n, 'x')", "[T107 11 plural wants a form for each category; write {one: 'item', other: 'items'}]"},
		{"{a: 1}", "[T107 1 a mapping is allowed in plural() only]"},
		{"[1, 'a']", "[T107 5 an item is string, those before it are integer]"},
		{"1; 2", "[T107 1 this form of expression is not part of the template language]"},
		{"# + 1", "[T106 1 "},
		{"map(tags, #acc)", "[T107 11 no pointer #acc]"},
		{"map(trades, map(tags, map(tags, #)))", "[X306 23 predicates nest deeper than 2 levels; put the inner part into a variable]"},
		{"total(tags)", "[T107 1 total wants a list of numbers, got [string]; write total(map(list, .field))]"},
		{"join(trades)", "[T107 6 join wants a list of strings, got [record]]"},
		{"len(n)", "[T107 5 len wants a list, a map or a string, got integer]"},
		{"flatten(tags)", "[T107 1 flatten wants a list of lists, got [string]]"},
		{"n in name", "[T107 3 in wants a list or a map, got string]"},
		{"n in tags", "[T107 3 integer is never in [string]]"},
		{"n in rates", "[T107 3 the keys of a map are strings, not integer]"},
		{"rates[n]", "[T107 7 the key of a map is a string, not integer]"},
		{"tags['x']", `[T107 6 tags is a list and has no field "x"; take one item, or loop over them]`},
		{"tags[price]", "[T107 6 the index of a list is an integer, not decimal]"},
		{"tags[price:]", "[T107 6 the bound of a slice is an integer, not decimal]"},
		{"name[1:]", "[T107 5 name is string; only lists have slices]"},
		{"trades == trades", "[T107 8 values of type [record] cannot be compared]"},
		{"1.5..2", "[T107 4 .. wants integers, got decimal and integer; round(x) gives an integer]"},
		{"-name", "[T107 1 - wants a number, got string]"},
		{"name contains n", "[T107 6 contains wants strings, got string and integer]"},
		{"none ?? n", "[T107 6 the value is string, its replacement integer]"},
		{"ordinal(price)", "[T107 9 ordinal wants an integer, got decimal]"},
		{"upper(n)", "[T107 7 upper wants a string, got integer]"},
		{"truncate(name, 'x')", "[T107 16 truncate wants a count of characters, got string]"},
		{"len", `[T107 1 "len" is a function; write len(...)]`},
		{"money", `[T107 1 "money" is a function; write money(...)]`},
		{"b'ab'", "[T107 1 this form of expression is not part of the template language]"},
		{"name = 'x'", "[T106 6 assignment is not part of the expression language; compare with ==]"},
		{"(1 + ", "[T106 1 ( without )]"},
		{"1 + ", "[T106 4 the expression ends too early]"},
		{"upper('(' + name", "[T106 6 ( without )]"},
		{"trades[0", "[T106 7 [ without ]]"},
		{"upper(‘a’)", "[T106 7 unrecognized character: U+2018 '‘'; write straight quotes, ']"},
		{"price * 1,2", "[T106 10 unexpected (\",\"); numbers have a point, as in 1.5]"},
		{"page", `[T107 1 "page" is a function; write page()]`},
		{"price | money(CHF)", "[T104 15 no field, variable or parameter \"CHF\"; a text is written in quotes, 'CHF']"},
		{"day | date('DD.MM.YYYY')", "[T107 12 \"DD.MM.YYYY\" is neither a style (short, medium, long, full) nor a pattern; did you mean \"dd.MM.yyyy\"?]"},
		{"day | date('qqq')", "[T107 12 \"qqq\" is neither a style (short, medium, long, full) nor a pattern; a pattern is made of letters, as in dd.MM.yyyy]"},
		{"day | date('dd.mm.yyyy')", "[T107 12 a date has no time of day; mm are minutes; did you mean \"dd.MM.yyyy\"?]"},
		{"page() + 1", "[T107 8 + wants numbers, got page number and integer]"},
		{"n > 1 ? page() : page()", "[T107 9 page(), pages(), pageOf(), numberOf() and section() must be alone in ${...}]"},
		{"map(tags, page())", "[T107 1 page(), pages(), pageOf(), numberOf() and section() must be alone in ${...}]"},
		{"'open", "[T106 "},
		{"nam + pric", `[T104 1 no field, variable or parameter "nam"; did you mean "name"?] [T104 7 no field, variable or parameter "pric"; did you mean "price"?]`},
		{"'é' + nam", `[T104 8 no field, variable or parameter "nam"; did you mean "name"?]`},
	} {
		if got := run(t, s, tt.src, o); got != tt.want && (!strings.HasSuffix(tt.want, " ") || !strings.HasPrefix(got, tt.want)) {
			t.Errorf("%s\n got %s\nwant %s", tt.src, got, tt.want)
		}
	}
}

func TestErrors(t *testing.T) {
	t.Parallel()
	s := sample(t)
	o := withLocale("en-IN")
	for _, tt := range []struct{ src, want string }{
		{"none", "[D206 1 none is missing]"},
		{"bank.iban", "[D206 1 bank.iban is missing]"},
		{"gap + 1", "[D206 1 gap is missing]"},
		{"gap | money('INR')", "[D206 1 gap is missing]"},
		{"round(gap, 2)", "[D206 7 gap is missing]"},
		{"gap < 1", "[D206 1 gap is missing]"},
		{"none + 'x'", "[D206 1 none is missing]"},
		{"trades[1].url", "[D206 1 trades[].url is missing]"},
		{"total(map(trades, .url == 'x' ? gap : 1 + gap))", "[D206 43 gap is missing]"},
		{"trades[9].symbol", "[D207 8 index 9 is outside trades with 2 items]"},
		{"tags[-4]", "[D207 6 index -4 is outside tags with 3 items]"},
		{"1 / (n - 3)", "[D207 3 division by zero]"},
		{"1 % (n - 3)", "[D207 3 division by zero]"},
		{"price | money(name)", `[D207 15 "Asha <b>" is not an ISO 4217 currency code]`},
		{"truncate(name, n - 3)", "[D207 16 truncate wants a positive count, got 0]"},
		{"total(1..n*1000)", "[X311 8 the range 1..3000 has more than 100 items]"},
		{"total(map(1..100, total(map(1..100, #))))", "[X310 "},
		{"now() | date()", "[T119 1 now() needs a render time, and none is given]"},
		{"ordinal(9223372036854775807 * 2)", "[D207 "},
		{"total([1, gap])", "[D206 1 a number is missing in a total]"},
		{"join([name, none])", "[D206 6 a text is missing in a list]"},
	} {
		if got := run(t, s, tt.src, o); got != tt.want && (!strings.HasSuffix(tt.want, " ") || !strings.HasPrefix(got, tt.want)) {
			t.Errorf("%s\n got %s\nwant %s", tt.src, got, tt.want)
		}
	}
}

// TestBudgets: rule 24, huge ranges and values end by budget.
func TestBudgets(t *testing.T) {
	t.Parallel()
	s := sample(t)
	for src, code := range map[string]string{
		strings.Repeat("n + ", 1200) + "n":               "X304",
		strings.Repeat("1+", 1200) + "1":                 "X305",
		"let a = 'xxxxxxxx'; " + doubled("a", 20):        "X312",
		"let a = 9999999999999999.9; " + squared("a", 9): "D207",
		"let a = 0.1; " + squared("a", 14):               "D207",
		"let a = 0.0; " + squared("a", 26) + " == 1":     "D207",
		"let a = 1.0; " + squared("a", 40):               "D207",
		"replace(replace('aaaaaaaaaa', '', 'bbbbbbbbbb'), '', '" + strings.Repeat("c", 3000) + "') + '' | len()": "",
	} {
		got := run(t, s, src, withLocale("en"))
		if code != "" && !strings.HasPrefix(got, "["+code) {
			t.Errorf("%.40s...: %.80s, want %s", src, got, code)
		}
	}
	p, problems := exprlang.Compile("map(1..100, split('aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa', 'a'))[0][0]", s, options)
	if problems != nil {
		t.Fatal(problems)
	}
	m := machine(s)
	m.Memory = 10_000
	if _, err := p.Eval(m); err == nil {
		t.Error("a small memory budget was not seen")
	}
}

func doubled(name string, n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "let %s%d = %s + %s; ", "v", i, name, name)
		name = fmt.Sprintf("v%d", i)
	}
	return b.String() + name
}

func squared(name string, n int) string {
	return strings.ReplaceAll(doubled(name, n), "+", "*")
}

func TestNow(t *testing.T) {
	t.Parallel()
	s := sample(t)
	p, problems := exprlang.Compile("now() | date('long')", s, withLocale("de"))
	if problems != nil || p.Constant {
		t.Fatal(problems, p)
	}
	m := machine(s)
	m.Now = time.Date(2026, time.March, 9, 23, 0, 0, 0, time.UTC)
	if out, err := p.Append(m, nil); err != nil || string(out) != "9. März 2026" {
		t.Errorf("%q %v", out, err)
	}
}

func TestWithoutLocale(t *testing.T) {
	t.Parallel()
	o := options
	o.NoLocale = `no formats for "xx"`
	s := sample(t)
	for _, src := range []string{"n | number()", "price | money('EUR')", "day | date()", "join(tags)", "ordinal(n)", "plural(n, 'a', 'b')"} {
		if got := run(t, s, src, o); !strings.HasPrefix(got, "[T117") || !strings.Contains(got, `no formats for "xx"`) {
			t.Errorf("%s: %s", src, got)
		}
	}
	if got := run(t, s, "join(tags, '-') + upper(name)", o); got != "a-b-cASHA <B>" {
		t.Error(got)
	}
}

// TestPath: a plain field path is recognised and reads slots alone.
func TestPath(t *testing.T) {
	t.Parallel()
	s := sample(t)
	for src, want := range map[string]string{"name": "0 [0]", "bank.iban": "0 [11 0]", "bank?.iban": "0 [11 0]"} {
		p, problems := exprlang.Compile(src, s, options)
		if problems != nil || p.Path == nil {
			t.Fatalf("%s: %v %v", src, problems, p)
		}
		if got := fmt.Sprint(p.Path.Slot, p.Path.Steps); got != want {
			t.Errorf("%s: path %s, want %s", src, got, want)
		}
	}
}

func TestUsed(t *testing.T) {
	t.Parallel()
	s := sample(t)
	if _, problems := exprlang.Compile("map(trades, .qty)", s, options); problems != nil {
		t.Fatal(problems)
	}
	_, trades := s.typ.Field("trades")
	_, qty := trades.Type.Elem.Field("qty")
	_, name := s.typ.Field("name")
	if trades.Used != [2]int{1, 5} || qty.Used != [2]int{1, 14} || name.Used != [2]int{} {
		t.Error(trades.Used, qty.Used, name.Used)
	}
}

func FuzzCompile(f *testing.F) {
	for _, s := range []string{
		"name", "total(map(trades, (.side == 'BUY' ? 1 : -1) * .qty * .price))", "day | date('long')",
		"let x = 1; x + n", "tags[1:] | join('+')", "plural(n, {one: 'a', other: 'b'})", "1..n", "rates['a'] ?? 1", "if n > 1 { 1 } else { 2 }",
		"map(filter(trades, .qty > 1), {.price})", "#", "$env", "1e999", "a?.b?.[c]", "0x1F + 0b1", "-1.5e3 ** 2",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, src string) {
		s := sample(t)
		p, problems := exprlang.Compile(src, s, withLocale("de"))
		if (p == nil) == (len(problems) == 0) {
			t.Fatal("neither a program nor a problem")
		}
		for _, q := range problems {
			if q.Off < 0 || q.Off > len(src) || q.Message == "" || q.Code == "" {
				t.Fatalf("problem %+v of %q", q, src)
			}
		}
		if p == nil {
			return
		}
		v, err := p.Eval(machine(s))
		if err != nil {
			if _, ok := err.(*exprlang.Error); !ok { //nolint:errorlint // the documented type, never wrapped
				t.Fatalf("%q: %T", src, err)
			}
			return
		}
		again, err := p.Eval(machine(s))
		if err != nil || string(again.AppendText(nil)) != string(v.AppendText(nil)) {
			t.Fatalf("%q is not a pure function", src)
		}
	})
}
