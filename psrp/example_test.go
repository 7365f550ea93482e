package psrp_test

import (
	"context"
	"fmt"

	"example.com/quire/psrp"
	"example.com/quire/psrp/oop"
)

// It needs a PowerShell to run.
func ExampleOpen() {
	ctx := context.Background()
	conn, err := oop.StartProcess(ctx, "pwsh", "-s", "-NoLogo", "-NoProfile")
	if err != nil {
		fmt.Println(err)
		return
	}
	s, err := psrp.Open(ctx, conn, psrp.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = s.Close(context.WithoutCancel(ctx)) }()
	type process struct {
		ID   int
		Name string
	}
	for p, err := range psrp.Invoke[process](ctx, s, psrp.Cmd("Get-Process").Param("Name", "pwsh")) {
		fmt.Println(p.Name, err)
	}
}
