//go:build !race

package compile

import (
	"strings"
	"testing"
)

// TestALongTitleIsNoWorkForItsName: nothing is made of what is cut off.
func TestALongTitleIsNoWorkForItsName(t *testing.T) {
	title := strings.Repeat("Statement of account ", 500)
	if n := testing.AllocsPerRun(100, func() { fileName(title) }); n > 3 {
		t.Errorf("%v allocations", n)
	}
}
