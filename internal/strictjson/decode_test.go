package strictjson_test

import (
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"example.com/quire/internal/strictjson"
)

type base struct {
	Inner string `json:"inner"`
}

type line struct {
	Amount float64 `json:"amount"`
	Odd    string  `json:"a/b~c"`
}

type order struct {
	base
	ID      int8              `json:"id"`
	Name    string            `json:"name"`
	Tags    []string          `json:"tags"`
	Lines   []line            `json:"lines"`
	Extra   map[string]uint16 `json:"extra"`
	When    time.Time         `json:"when"`
	Plain   bool
	Skipped int `json:"-"`
}

func TestDecodeReadsByExactNames(t *testing.T) {
	var o order
	err := strictjson.Decode([]byte(`{"inner":"i","id":-128,"lines":[{"amount":1.5e0}],"extra":{"k":65535},"when":"2024-02-29T00:00:00Z","Plain":true}`), &o, strictjson.DecodeOptions{})
	want := order{
		base: base{"i"}, ID: -128, Lines: []line{{Amount: 1.5}}, Extra: map[string]uint16{"k": 65535},
		When: time.Date(2024, 2, 29, 0, 0, 0, 0, time.UTC), Plain: true,
	}
	if err != nil || !reflect.DeepEqual(o, want) {
		t.Errorf("%+v, %v", o, err)
	}
	o = order{}
	if err := strictjson.Decode([]byte(`{"ID":1,"id":2,"zz":[{}]}`), &o, strictjson.DecodeOptions{UnknownNames: true}); err != nil || o.ID != 2 {
		t.Errorf("unknown names let pass: %+v, %v", o, err)
	}
}

func TestDecodeNamesWhatATypeDoesNotTake(t *testing.T) {
	for _, c := range []struct {
		text    string
		kind    strictjson.Kind
		pointer string
		path    string
		offset  int
		msg     string
		goType  reflect.Type
	}{
		{`{"id":300}`, strictjson.Range, "/id", "id", 6, "want an integer of 8 bits, got 300", reflect.TypeFor[int8]()},
		{"{\n \"id\": 1.5}", strictjson.Type, "/id", "id", 9, "want an integer of 8 bits, got 1.5", reflect.TypeFor[int8]()},
		{`{"id":"7"}`, strictjson.Type, "/id", "id", 6, "want an integer of 8 bits, got a string", reflect.TypeFor[int8]()},
		{`{"Plain":1}`, strictjson.Type, "/Plain", "Plain", 9, "want true or false, got a number", reflect.TypeFor[bool]()},
		{`{"name":true}`, strictjson.Type, "/name", "name", 8, "want a string, got a boolean", reflect.TypeFor[string]()},
		{`{"tags":{}}`, strictjson.Type, "/tags", "tags", 8, "want an array, got an object", reflect.TypeFor[[]string]()},
		{`[]`, strictjson.Type, "", "", 0, "want an object, got an array", reflect.TypeFor[order]()},
		{`{"lines":[{"amount":1},{"amount":"x"}]}`, strictjson.Type, "/lines/1/amount", "lines[1].amount", 33, "want a number", reflect.TypeFor[float64]()},
		{`{"lines":[{"a/b~c":1}]}`, strictjson.Type, "/lines/0/a~1b~0c", `lines[0]["a/b~c"]`, 19, "want a string", reflect.TypeFor[string]()},
		{`{"extra":{"k": 65536}}`, strictjson.Range, "/extra/k", "extra.k", 15, "non-negative integer of 16 bits", reflect.TypeFor[uint16]()},
		{`{"when":"yesterday"}`, strictjson.Type, "/when", "when", 8, "want a time such as", reflect.TypeFor[time.Time]()},
		{`{"nmae":"x"}`, strictjson.Unknown, "/nmae", "nmae", 1, `unknown name "nmae"`, reflect.TypeFor[order]()},
		{`{"ID":1}`, strictjson.Unknown, "/ID", "ID", 1, "unknown name", reflect.TypeFor[order]()},
		{`{"Skipped":1}`, strictjson.Unknown, "/Skipped", "Skipped", 1, "unknown name", reflect.TypeFor[order]()},
		{`{"lines":[{"amuont":1}]}`, strictjson.Unknown, "/lines/0/amuont", "lines[0].amuont", 11, "unknown name", reflect.TypeFor[line]()},
		{`{"id":1,"id":2}`, strictjson.Duplicate, "/id", "id", 8, "twice", nil},
		{`{} {}`, strictjson.Trailing, "", "", 3, "want the end of the text", nil},
	} {
		err := strictjson.Decode([]byte(c.text), new(order), strictjson.DecodeOptions{})
		f, ok := errors.AsType[*strictjson.Fault](err)
		if !ok {
			t.Errorf("%s: %v, want a fault", c.text, err)
			continue
		}
		if f.Kind != c.kind || f.Pointer != c.pointer || strictjson.Path(f.Pointer) != c.path || f.Offset != c.offset || f.GoType != c.goType || !strings.Contains(f.Message(), c.msg) {
			t.Errorf("%s: %+v, want %+v", c.text, *f, c)
		}
	}
	var v order
	f, _ := errors.AsType[*strictjson.Fault](strictjson.Decode([]byte(`{"when":"yesterday"}`), &v, strictjson.DecodeOptions{}))
	if _, ok := errors.AsType[*time.ParseError](f); !ok {
		t.Errorf("%v does not lead to what the type said", f)
	}
	if err := strictjson.Decode([]byte("{}"), v, strictjson.DecodeOptions{}); err == nil {
		t.Error("what is no pointer was taken")
	}
}
