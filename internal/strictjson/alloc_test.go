//go:build !race

package strictjson_test

import (
	"fmt"
	"strings"
	"testing"

	"example.com/quire/internal/strictjson"
)

// The work of Locate is that of the text, not of the text times the pointers.
func TestLocateReadsATextOnce(t *testing.T) {
	text := []byte(`{"rows":[{"n":0}` + strings.Repeat(`,{"n":1}`, 20_000) + `]}`)
	pointers := make([]string, 1000)
	for i := range pointers {
		pointers[i] = fmt.Sprintf("/rows/%d/price", 19*i)
	}
	one := testing.AllocsPerRun(1, func() { strictjson.Locate(text, "/rows/20000/price") })
	all := testing.AllocsPerRun(1, func() { strictjson.Locate(text, pointers...) })
	if all > one+10*float64(len(pointers)) {
		t.Errorf("%d pointers allocate %v times, one %v times", len(pointers), all, one)
	}
}
