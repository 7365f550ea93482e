package main

import (
	"regexp"
	"strings"
	"testing"
)

func TestFlakyAPIIsTamed(t *testing.T) {
	var out strings.Builder
	if err := run(t.Context(), &out, false); err != nil {
		t.Fatal(err)
	}
	text := out.String()
	for _, want := range []string{
		`^state page  http://127\.0\.0\.1:\d+/\n`, `calls       300\n`, `cache       \d+ hits, \d+ misses`, `collapse    \d+ answered`, `limit       \S+ waited, 0 refused`,
		`retry       \d+ attempts, [1-9]\d* of them again`, `hedge       [1-9]\d* extra legs, \d+ won`, `breaker     closed`, `failed 0\n$`,
	} {
		if !regexp.MustCompile(want).MatchString(text) {
			t.Errorf("%s is not in\n%s", want, text)
		}
	}
}
