package strictjson_test

import (
	"errors"
	"fmt"

	"example.com/quire/internal/strictjson"
)

func ExampleCanonical() {
	b, _, err := strictjson.Canonical([]byte(`{"qty": 3, "price": 1.50, "name": "caf\u00e9"}`), strictjson.Limits{})
	fmt.Printf("%s %v\n", b, err)
	text := []byte("{\n  \"qty\": 3,\n  \"qty\": 4\n}")
	_, _, err = strictjson.Canonical(text, strictjson.Limits{})
	if f, ok := errors.AsType[*strictjson.Fault](err); ok {
		line, column := strictjson.Position(text, f.Offset)
		fmt.Printf("%d:%d: %s: %s\n", line, column, strictjson.Path(f.Pointer), f.Message())
	}
	// Output:
	// {"name":"café","price":1.50,"qty":3} <nil>
	// 3:3: qty: the name "qty" occurs twice in its object
}
