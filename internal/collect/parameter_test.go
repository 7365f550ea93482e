package collect

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.com/quire/internal/record"
)

func TestCallsBringWhatASourceDeclares(t *testing.T) {
	ten := "10"
	s := Source{Name: "api", Parameters: []Parameter{
		{Name: "host", Type: String, Max: 5},
		{Name: "n", Type: Integer, Default: &ten},
		{Name: "on", Type: Boolean},
		{Name: "day", Type: Date},
		{Name: "side", Type: Enum, Values: []string{"buy", "sell"}},
	}}
	good := func() record.Parameters {
		return record.Parameters{
			"host": json.RawMessage(`"a\u00e9"`), "on": json.RawMessage("true"), "day": json.RawMessage(`"2026-02-28"`), "side": json.RawMessage(`"sell"`),
		}
	}
	got, err := s.resolve("sources.x.parameters", good())
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]string{"host": "aé", "n": "10", "on": "true", "day": "2026-02-28", "side": "sell"}, got); diff != "" {
		t.Error(diff)
	}
	for _, c := range []struct{ name, value, want string }{
		{"host", `"abcdef"`, "a string of at most 5 characters"},
		{"host", `"a\nb"`, "control"},
		{"host", `"a\u0085"`, "control"},
		{"host", `7`, "a string"},
		{"host", ``, "a string"},
		{"host", `"` + strings.Repeat("x", 70_000) + `"`, "got 70002 bytes"},
		{"n", `1.5`, "an integer"},
		{"n", `"1"`, "an integer"},
		{"n", `+1`, "an integer"},
		{"n", `007`, "an integer"},
		{"n", `99999999999999999999`, "an integer"},
		{"on", `1`, "true or false"},
		{"day", `"2026-02-30"`, "a date as YYYY-MM-DD"},
		{"day", `"28.2.2026"`, "a date"},
		{"side", `"sel"`, `one of buy, sell, got "sel"; did you mean "sell"?`},
		{"hots", `"x"`, `request sources.x.parameters.hots: want one of source api: host, n, on, day, side, got an unknown parameter; did you mean "host"?`},
	} {
		p := good()
		p[c.name] = json.RawMessage(c.value)
		var wrong *record.RequestError
		if _, err := s.resolve("sources.x.parameters", p); !errors.As(err, &wrong) || !strings.Contains(err.Error(), c.want) || wrong.Field != "sources.x.parameters."+c.name {
			t.Errorf("%s = %.20s: %v, want %s", c.name, c.value, err, c.want)
		}
	}
	p := good()
	delete(p, "day")
	if _, err := s.resolve("f", p); err == nil || err.Error() != "request f.day: want a date as YYYY-MM-DD, got nothing" {
		t.Errorf("missing: %v", err)
	}
	if text, wrong := (&Parameter{Type: String}).text(json.RawMessage(`"` + strings.Repeat("é", 256) + `"`)); wrong != nil || len(text) != 512 {
		t.Errorf("256 characters: %v", wrong)
	}
}
