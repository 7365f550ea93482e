package locale_test

import (
	"bufio"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"example.com/quire/pdf/internal/compile/decimal"
	"example.com/quire/pdf/internal/compile/locale"
)

func parse(t *testing.T, s string) decimal.Decimal {
	t.Helper()
	d, err := decimal.Parse(s)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// TestCLDR holds every format against testdata/cldr48.tsv: locale, format,
// value, text. The texts are those of ICU 78 (CLDR 48), rounding half-even.
func TestCLDR(t *testing.T) {
	t.Parallel()
	f, err := os.Open("testdata/cldr48.tsv")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close() //nolint:errcheck // read only
	lines, failed, tags := 0, 0, map[string]bool{}
	for s := bufio.NewScanner(f); s.Scan(); lines++ {
		col := strings.Split(s.Text(), "\t")
		l, ok := locale.Lookup(col[0])
		if !ok {
			t.Fatalf("no locale %s", col[0])
		}
		tags[l.Tag()] = true
		if got := format(t, l, col[1], col[2]); got != col[3] {
			if failed++; failed < 40 {
				t.Errorf("%s %s %s = %q, want %q", col[0], col[1], col[2], got, col[3])
			}
		}
	}
	if lines < 8000 || len(tags) != len(locale.Tags()) {
		t.Errorf("only %d lines of %d locales were checked", lines, len(tags))
	}
}

func format(t *testing.T, l *locale.Locale, what, value string) string {
	t.Helper()
	name, arg, _ := strings.Cut(what, " ")
	style := locale.Style(0)
	for i, s := range locale.Styles {
		if s == arg {
			style = locale.Style(i)
		}
	}
	places, _ := strconv.Atoi(arg) // 0 where arg is no number
	switch name {
	case "number":
		return string(l.Number(nil, parse(t, value), places))
	case "percent":
		return string(l.Percent(nil, parse(t, value), places))
	case "money":
		return string(l.Money(nil, parse(t, value), arg))
	case "plural":
		return locale.Categories[l.Plural(parse(t, value))]
	case "list":
		return string(l.Join(nil, strings.Split(value, "|"), arg == "or"))
	}
	at, err := time.Parse(time.RFC3339, value)
	if err != nil {
		t.Fatal(err)
	}
	switch name {
	case "date":
		return string(l.Time(nil, at, l.DatePattern(style)))
	case "time":
		return string(l.Time(nil, at, l.TimePattern(style)))
	case "datetime":
		return string(l.Time(nil, at, l.DateTimePattern(style, locale.Short)))
	}
	t.Fatalf("unknown format %q", what)
	return ""
}

func TestOrdinal(t *testing.T) {
	t.Parallel()
	want := map[string]map[int64]string{
		"en": {1: "1st", 2: "2nd", 3: "3rd", 4: "4th", 11: "11th", 12: "12th", 13: "13th", 21: "21st", 112: "112th", -1: "-1st"},
		"fr": {1: "1er", 2: "2e", 21: "21e"},
		"de": {1: "1."},
		"es": {3: "3.º"},
		"pt": {3: "3º"},
		"nl": {8: "8e"},
		"sv": {1: "1:a", 2: "2:a", 3: "3:e", 11: "11:e", 12: "12:e", 22: "22:a"},
		"hi": {1: "1ला", 2: "2रा", 4: "4था", 5: "5वाँ", 6: "6ठा", 21: "21वाँ"},
		"ja": {3: "第3"},
		"ar": {3: "3"},

		"ar-EG": {12: "١٢"},
	}
	for tag, cases := range want {
		l, _ := locale.Lookup(tag)
		for n, text := range cases {
			if got := string(l.Ordinal(nil, n)); got != text {
				t.Errorf("%s: ordinal of %d = %q, want %q", tag, n, got, text)
			}
		}
	}
}

func TestLookup(t *testing.T) {
	t.Parallel()
	for tag, want := range map[string]string{"en-us": "en", "EN-IN": "en-IN", "de-DE": "de", "pt-BR": "pt", "no": "nb", "zh-hans-cn": "zh", "de-CH": "de-CH"} {
		if l, ok := locale.Lookup(tag); !ok || l.Tag() != want {
			t.Errorf("Lookup(%q) = %v, %v", tag, l, ok)
		}
	}
	for _, tag := range []string{"", "en-AU", "fr-CH", "zh-TW", "ar-SA", "x"} {
		if _, ok := locale.Lookup(tag); ok {
			t.Errorf("Lookup(%q) found tables that are not its own", tag)
		}
	}
	if n := len(locale.Tags()); n != 26 {
		t.Errorf("%d tags", n)
	}
	for _, tag := range locale.Tags() {
		if _, ok := locale.Lookup(tag); !ok {
			t.Errorf("Lookup(%q) fails", tag)
		}
	}
}

func TestNumberKeepsDigits(t *testing.T) {
	t.Parallel()
	in, _ := locale.Lookup("en-IN")
	for value, want := range map[string]string{
		"1234567.00":                    "12,34,567.00",
		"0.10":                          "0.10",
		"-100000":                       "-1,00,000",
		"123456789012345678901234567.5": "12,34,56,78,90,12,34,56,78,90,12,34,567.5",
	} {
		if got := string(in.Number(nil, parse(t, value), -1)); got != want {
			t.Errorf("number %s = %q, want %q", value, got, want)
		}
	}
	if got := string(in.Percent(nil, parse(t, "0.18250"), -1)); got != "18.25%" {
		t.Errorf("percent = %q", got)
	}
	if got := string(in.Money(nil, parse(t, "1"), "XTS")); got != "XTS\u00a01.00" {
		t.Errorf("money without a symbol = %q", got)
	}
	if locale.Fraction("KWD") != 3 || locale.Fraction("JPY") != 0 || locale.Fraction("EUR") != 2 {
		t.Error("fraction digits")
	}
	for _, good := range []string{"AED", "EUR", "ZWG", "DEM", "ZWL"} {
		if !locale.ValidCurrency(good) {
			t.Errorf("%q is not taken for a currency", good)
		}
	}
	for _, bad := range []string{"", "eur", "EURO", "E1R", "XYZ", "R A", "UR ", " EU"} {
		if locale.ValidCurrency(bad) {
			t.Errorf("%q taken for a currency", bad)
		}
	}
}

// TestUnknownPartNamesLanguageOrRegion: languages, scripts and regions are those of the registry,
// and what is near to one that is none is among those proposed.
func TestUnknownPartNamesLanguageOrRegion(t *testing.T) {
	t.Parallel()
	for tag, want := range map[string]string{
		"en": "", "de-CH": "", "EN-us": "", "zh-Hant-TW": "", "gsw-CH": "", "es-419": "", "sr-Latn": "", "x-mine": "", "de-1996": "",
		"de-u-co-phonebk": "", "xx": "xx", "xx-yy-zz": "xx", "en-YY": "YY", "zh-Hant-QZ": "QZ", "eg": "eg",
		"gsx": "gsx", "qqz": "", "sr-Latm": "Latm", "zh-hant": "", "yue-Hant-HK": "", "de-1901": "", "sl-rozaj": "", "mul": "", "und": "",
	} {
		part, known := locale.UnknownPart(tag)
		if part != want || (len(known) > 0) != (want != "") {
			t.Errorf("%s: %q", tag, part)
		}
	}
	for tag, meant := range map[string]string{"gsv": "gsw", "sr-Latm": "Latn", "uz-Cyrk": "Cyrl"} {
		part, known := locale.UnknownPart(tag)
		if !slices.ContainsFunc(known, func(k string) bool { return strings.EqualFold(k, meant) }) {
			t.Errorf("%s: %q, and %q is not among %v", tag, part, meant, known)
		}
	}
}

func TestPattern(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, time.March, 9, 0, 5, 6, 0, time.UTC)
	de, _ := locale.Lookup("de")
	for pattern, want := range map[string]string{
		"yyyy-MM-dd":         "2026-03-09",
		"d.M.yy":             "9.3.26",
		"EEEE 'der' d. MMMM": "Montag der 9. März",
		"EEE, HH:mm:ss":      "Mo., 00:05:06",
		"h 'o''clock' a":     "12 o'clock AM",
		"''yy":               "'26",
	} {
		p, err := locale.ParsePattern(pattern)
		if err != nil {
			t.Fatal(err)
		}
		if got := string(de.Time(nil, at, p)); got != want {
			t.Errorf("%s = %q, want %q", pattern, got, want)
		}
	}
	for tag, want := range map[string]string{
		"pl": "3 marca, marzec, poniedziałek", "fi": "3 maaliskuuta, maaliskuu, maanantai", "ar-EG": "٣ مارس, مارس, الاثنين",
	} {
		l, _ := locale.Lookup(tag)
		p, err := locale.ParsePattern("M MMMM, LLLL, cccc")
		if got := string(l.Time(nil, at, p)); got != want || err != nil {
			t.Errorf("%s: %q, %v", tag, got, err)
		}
	}
	for _, bad := range []string{"YYYY", "ddd", "yyyyy", "'open", "n", "MMMMM"} {
		if _, err := locale.ParsePattern(bad); err == nil {
			t.Errorf("pattern %q was taken", bad)
		}
	}
	p, _ := locale.ParsePattern("yyyy HH")
	if !p.HasDate() || !p.HasTime() {
		t.Error("HasDate, HasTime")
	}
	if p, _ = locale.ParsePattern("dd"); p.HasTime() {
		t.Error("dd has a time")
	}
}
