package codec_test

import (
	"fmt"
	"log"

	"example.com/quire/cache/codec"
)

// A value becomes bytes and a value again.
func ExampleJSON() {
	type post struct {
		Title string `json:"title"`
	}
	c := codec.JSON[post]{Limit: 1 << 10}
	b, err := c.Append(nil, post{Title: "a < b"})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%s\n", b)
	p, _, err := c.Decode(b)
	fmt.Println(p.Title, err)
	_, _, err = c.Decode([]byte(`{"title": 1}`))
	fmt.Println(err)
	// Output:
	// {"title":"a < b"}
	// a < b <nil>
	// decode json: json: cannot unmarshal number into Go struct field post.title of type string
}
