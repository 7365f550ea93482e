package legacy_test

import (
	"fmt"
	"time"

	"example.com/quire/web/legacy"
)

func ExamplePOS() {
	next, err := legacy.POS(legacy.POSOptions{Terminal: "T7", Now: func() time.Time { return time.Date(2026, 11, 22, 9, 0, 0, 0, time.UTC) }})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(next())
	fmt.Println(next())
	// Output:
	// 20261122-T7-000001
	// 20261122-T7-000002
}
