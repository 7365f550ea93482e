package api

import (
	"strings"
	"testing"
)

func TestFileNameOfATitle(t *testing.T) {
	for title, want := range map[string]string{
		"Invoice 2026-031":           "Invoice 2026-031.pdf",
		"":                           "fallback.pdf",
		" .. ":                       "fallback.pdf",
		"a\x00b\tc\nd":               "ab c d.pdf",
		`..\..\etc/hosts`:            "-..-etc-hosts.pdf",
		"Bill of 7\u202eFDP":         "Bill of 7FDP.pdf",
		strings.Repeat("äöü ", 100):  strings.TrimSpace(strings.Repeat("äöü ", 20)) + ".pdf",
		"CON":                        "CON.pdf",
		"Rechnung Nr. 7 — „Äpfel“.":  "Rechnung Nr. 7 — „Äpfel“.pdf",
		`what? <b>"yes"</b> | *all*`: "what- -b--yes---b- - -all-.pdf",
	} {
		if got := fileName(title, "fallback"); got != want {
			t.Errorf("%q: %q, want %q", title, got, want)
		}
	}
}
