package main

import (
	"context"
	"fmt"
	"os"
)

func Example() {
	if err := show(context.Background(), os.Stdout); err != nil {
		fmt.Println(err)
	}
	// Output:
	// tea 450, asked 1 time
	// unicorn asked 1 time
	// coffee: cache load "coffee": the price service is down
}
