package clixml_test

import (
	"fmt"
	"strings"
	"testing"

	"example.com/quire/psrp/clixml"
)

// Properties as PowerShell writes them are read in one go. With other quotes they are read piece by
// piece, which must find the same, and the same faults.
func TestPropertiesAreReadTheSameInOneGoAndInPieces(t *testing.T) {
	texts := []string{
		"", "text", "some longer text, of more than eight bytes", " 1 ", "42", "-7", "300", "true", "1.5", "P1DT2H", "2024-01-02T03:04:05Z",
		"a_b", "_x0041_", "&lt;", "&bad;", "]]>", "a > b", "tab\there", "quote\"s", "\x7f", "\x01", "ünï", "\xff", "<", "<S>", "6f9619ff-8b86-d011-b42d-00c04fc964ff", "1.2.3", "AQID",
	}
	names := []string{"", "N", "A name of two words", "under_score", "_x0041_", "&amp;", "&", "<", ">", "\t", "ü", "\xff"}
	tags := []string{"S", "C", "B", "D", "G", "DT", "TS", "By", "SB", "Sg", "Db", "BA", "XD", "SS", "I32", "I64", "Nil", "U32", "U64", "I16", "U16", "URI", "SBK", "Version", "Obj", "Unknown", "s"}
	ends := []string{"</%s>", "</%s >", "</%s", "</>", "</X>", ""}
	var d clixml.Decoder
	decode := func(quote, tag, name, text, end string) (clixml.Value, string) {
		if strings.Contains(end, "%s") {
			end = fmt.Sprintf(end, tag)
		}
		v, err := d.Decode([]byte(`<Obj RefId="0"><MS><` + tag + " N=" + quote + name + quote + ">" + text + end + `<S N="Next">after</S></MS></Obj>`))
		if err != nil {
			return v, err.Error()
		}
		return v, ""
	}
	compare := func(tag, name, text, end string) {
		v, err := decode(`"`, tag, name, text, end)
		w, pieces := decode(`'`, tag, name, text, end)
		if err != pieces || !clixml.Equal(v, w) {
			t.Errorf("%s %q %q %q: in one go %v %q, in pieces %v %q", tag, name, text, end, v, err, w, pieces)
		}
	}
	for _, tag := range tags {
		for _, text := range texts {
			for _, end := range ends {
				compare(tag, "Name", text, end)
			}
		}
		for _, name := range names {
			compare(tag, name, "1", ends[0])
		}
	}
}

func TestLimitsHoldForPropertiesReadInOneGo(t *testing.T) {
	body := []byte(`<Obj RefId="0"><MS>` + strings.Repeat(`<S N="Name">text</S>`, 100) + `</MS></Obj>`)
	for _, l := range []clixml.Limits{{Nodes: 100}, {Decoded: 3000}} {
		d := clixml.Decoder{Limits: l}
		if v, err := d.Decode(body); err == nil {
			t.Errorf("%+v: decoded %v", l, v)
		} else if !strings.Contains(err.Error(), "more than") {
			t.Errorf("%+v: %v", l, err)
		}
	}
}
