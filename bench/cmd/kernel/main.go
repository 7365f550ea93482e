// Command kernel runs the gated kernels. It links the project's libraries and no
// peer, so that it starts fast under valgrind. `bench gate` runs it:
//
//	kernel list            the kernels as JSON
//	kernel count NAME      allocations and bytes per operation as JSON
//	kernel run NAME N      N operations, to be counted from outside
//	kernel outputs ROOT    hashes of the samples' outputs as JSON
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/signal"
	"strconv"

	"example.com/quire/bench/kernels"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "kernel:", err)
		os.Exit(1) //nolint:gocritic // nothing is left to undo
	}
}

func run(ctx context.Context, args []string) error {
	if len(args) == 0 {
		return fmt.Errorf("say list, count, run or outputs")
	}
	encode := json.NewEncoder(os.Stdout).Encode
	switch {
	case args[0] == "list" && len(args) == 1:
		type entry struct {
			Name string `json:"name"`
			N    int    `json:"n"`
		}
		var list []entry
		for _, k := range kernels.All() {
			list = append(list, entry{k.Name, k.N})
		}
		return encode(list)
	case args[0] == "count" && len(args) == 2:
		c, err := kernels.Count(args[1])
		if err != nil {
			return err
		}
		return encode(c)
	case args[0] == "run" && len(args) == 3:
		n, err := strconv.Atoi(args[2])
		if err != nil {
			return fmt.Errorf("run: %w", err)
		}
		return kernels.Run(args[1], n)
	case args[0] == "outputs" && len(args) == 2:
		o, err := kernels.Outputs(ctx, args[1])
		if err != nil {
			return err
		}
		return encode(o)
	default:
		return fmt.Errorf("do not understand %q", args)
	}
}
