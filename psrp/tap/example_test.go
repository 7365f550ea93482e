package tap_test

import (
	"fmt"
	"strings"

	"example.com/quire/psrp/tap"
)

func ExampleReplay() {
	played, err := tap.Replay(strings.NewReader(`{"n": 0, "t_us": 12, "dir": "s2c", "line": "Welcome"}`+"\n"), tap.Server)
	if err != nil {
		fmt.Println(err)
		return
	}
	b := make([]byte, 64)
	n, err := played.Read(b)
	fmt.Printf("%q %v\n", b[:n], err)
	// Output: "Welcome\n" <nil>
}
