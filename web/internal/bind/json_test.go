package bind_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"testing"

	"example.com/quire/internal/strictjson"
	"example.com/quire/web/internal/bind"
)

type target struct {
	ID    int8              `json:"id"`
	Big   uint64            `json:"big"`
	Name  string            `json:"name"`
	On    bool              `json:"on"`
	Rate  float64           `json:"rate"`
	Tags  []string          `json:"tags"`
	Pair  [2]int            `json:"pair"`
	Named map[string]uint16 `json:"named"`
	Inner *target           `json:"inner"`
}

// FuzzJSON: strictjson.Decode takes and refuses the same texts and reads the same values, save for
// null, which is refused here where nothing can be nil. Into an interface every text in order is
// read.
func FuzzJSON(f *testing.F) {
	for _, s := range []string{
		`{"id":-128,"big":18446744073709551615,"name":"\u00e9\n\ud83d\ude00","on":true,"rate":1.5e-7,"tags":["a",""],"pair":[1,2],"named":{"k":65535},"inner":{"inner":{}}}`,
		`{"id":128}`, `{"id":1.0}`, `{"id":-0}`, `{"big":-0}`, `{"pair":[1]}`, `{"named":{"k":-1}}`, `{"name":7}`, `{"nmae":1}`, `{"NAME":"x"}`, `{"rate":1e400}`, `{"tags":{}}`,
		`[{"a":[true,"x\n",[],null]},false]`, ` "x" `, "", "1 2", `{"a":1,"a":2}`, "\xff", `"\ud800"`, `{"name":null}`,
	} {
		f.Add([]byte(s))
	}
	var plans bind.Plans
	limits := strictjson.Limits{Depth: 64, Nodes: 10_000}
	f.Fuzz(func(t *testing.T, text []byte) {
		var got, want target
		faults := plans.JSON(text, reflect.ValueOf(&got).Elem(), limits, false)
		wrong := strictjson.Decode(text, &want, strictjson.DecodeOptions{Limits: limits})
		if !bytes.Contains(text, []byte("null")) {
			if (len(faults) == 0) != (wrong == nil) {
				t.Fatalf("%q: %+v, strictjson: %v", text, faults, wrong)
			}
			if wrong == nil && !reflect.DeepEqual(got, want) {
				t.Fatalf("%q: %+v, strictjson: %+v", text, got, want)
			}
		}
		var free any
		faults = plans.JSON(text, reflect.ValueOf(&free).Elem(), limits, false)
		canonical, _, wrong := strictjson.Canonical(text, limits)
		if (len(faults) == 0) != (wrong == nil) {
			t.Fatalf("%q: %+v, Canonical: %v", text, faults, wrong)
		}
		if wrong != nil || bytes.ContainsAny(canonical, "0123456789") {
			return // numbers have many spellings
		}
		again, err := json.Marshal(free)
		if err == nil {
			again, _, err = strictjson.Canonical(again, limits)
		}
		if err != nil || !bytes.Equal(again, canonical) {
			t.Fatalf("%q: read as %s, %v", text, again, err)
		}
	})
}

// A fault of an array as a whole, of a value in a string and of a name lies where that begins.
func TestFaultsOfWholesHaveTheirPlaces(t *testing.T) {
	type odd struct {
		Pair  [2]int      `json:"pair"`
		Deep  []any       `json:"deep"`
		Bytes []byte      `json:"bytes"`
		N     int         `json:"n,string"`
		Keys  map[int]int `json:"keys"`
	}
	const text = `{"pair":[1,2,3], "bytes":"?", "n":"x", "keys":{"k":1,"7":7}, "deep":{"a":[{}]}}`
	var v odd
	var places []string
	for _, f := range new(bind.Plans).JSON([]byte(text), reflect.ValueOf(&v).Elem(), strictjson.Limits{}, false) {
		places = append(places, fmt.Sprintf("%s %s %d %s", f.Kind, f.Pointer, f.Offset, f.Got))
	}
	want := []string{"range /pair 8 an array", "type /bytes 25 a string", "type /n 34 a string", "type /keys/k 47 k", "type /deep 68 an object"}
	if !slices.Equal(places, want) || v.Keys[7] != 7 || v.Pair != [2]int{1, 2} {
		t.Errorf("%+v\n got %q\nwant %q", v, places, want)
	}
}
