package path

import (
	"context"

	"example.com/quire/bench/workload"
)

// What the tests look at.
var (
	Money      = money
	ParsePence = parsePence
	CheckPage  = checkPage
)

// Data returns the data of document i.
func Data(i int) string { return string(workload.AppendData(nil, i)) }

// Render makes document i with the engine.
func Render(ctx context.Context, i int) ([]byte, error) {
	produce, err := quireMaker(ctx, false)
	if err != nil {
		return nil, err
	}
	in := input{data: workload.AppendData(nil, i)}
	err = produce(ctx, &in)
	return in.out.Bytes(), err
}
