package clixml_test

import (
	"fmt"

	"example.com/quire/psrp/clixml"
)

func Example() {
	type Disk struct {
		Name string
		Free int64
	}
	v, err := clixml.Marshal(Disk{"C", 42})
	if err != nil {
		fmt.Println(err)
		return
	}
	var e clixml.Encoder
	body, err := e.AppendValue(nil, v)
	if err != nil {
		fmt.Println(err)
		return
	}
	var d clixml.Decoder
	v, err = d.Decode(body)
	if err != nil {
		fmt.Println(err)
		return
	}
	var back Disk
	if err := clixml.Unmarshal(v, &back); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(back.Name, back.Free)
	// Output: C 42
}
