package main

import (
	"regexp"
	"strings"
	"testing"
)

func TestEveryHostHasARowAndTheDeadOneItsReason(t *testing.T) {
	var out strings.Builder
	if err := run(t.Context(), &out, 40); err != nil {
		t.Fatal(err)
	}
	text := out.String()
	if rows := strings.Count(text, "\nhost"); rows != 40 {
		t.Errorf("%d rows, want 40", rows)
	}
	for _, want := range []string{
		`(?m)^HOST +SYSTEM +MEMORY +UP +FREE /$`, `(?m)^host01 +Debian 12 +8 GiB +1 d +10 %$`,
		`(?m)^host39 +down \(dialing\): psrp: dial host39: .*refused`, `(?m)^40 hosts, 1 down$`,
	} {
		if !regexp.MustCompile(want).MatchString(text) {
			t.Errorf("%s is not in\n%s", want, text)
		}
	}
}
