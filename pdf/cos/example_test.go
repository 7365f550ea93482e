package cos_test

import (
	"bytes"
	"fmt"

	"example.com/quire/pdf/cos"
)

// A page that shows nothing: numbers are reserved first, objects follow in any
// order.
func Example() {
	var out bytes.Buffer
	w := cos.NewWriter(&out, cos.Options{Version: cos.V20})
	catalog, pages, page := w.Reserve(), w.Reserve(), w.Reserve()
	w.Put(page, cos.Dict{ //nolint:errcheck // the first error stays and Close returns it
		cos.E("Type", cos.Name("Page")), cos.E("Parent", pages),
		cos.E("MediaBox", cos.Array{cos.Int(0), cos.Int(0), cos.Int(200), cos.Int(100)}),
	})
	w.Put(pages, cos.Dict{ //nolint:errcheck // as above
		cos.E("Type", cos.Name("Pages")), cos.E("Count", cos.Int(1)), cos.E("Kids", cos.Array{page}),
	})
	w.Put(catalog, cos.Dict{cos.E("Type", cos.Name("Catalog")), cos.E("Pages", pages)}) //nolint:errcheck // as above
	sum, err := w.Close(cos.Trailer{Root: catalog})
	fmt.Println(err, sum.Objects, sum.Size == int64(out.Len()))
	// Output: <nil> 5 true
}

func ExampleAppendFixed() {
	fmt.Printf("%s %s %s\n", cos.AppendFixed(nil, 72*cos.FixedUnit, 3), cos.AppendFixed(nil, -512, 3), cos.AppendFixed(nil, 1, 2))
	// Output: 72 -.5 0
}
