package wsman_test

import (
	"context"
	"errors"
	"fmt"

	"example.com/quire/psrp/wsman"
)

func ExampleDial() {
	config := wsman.Config{Endpoint: "http://win1", Auth: wsman.Basic("ops", "secret")}
	_, err := wsman.Dial(context.Background(), config) // for psrp.Open
	fmt.Println(errors.Is(err, wsman.ErrPlaintext), config.Auth)
	// Output: true Basic as ops
}
