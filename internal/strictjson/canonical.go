package strictjson

import (
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// Canonical returns the one spelling of the value in text and how many values it has: no white
// space, members sorted by the UTF-16 code units of their names (RFC 8785 section 3.2.3), strings
// with the escapes of its section 3.2.2.2. Numbers keep the text they came with, where RFC 8785
// sends them through a double: 0.10 is not 0.1 to somebody's ledger, and so two spellings are two
// values.
//
// What [Check] refuses is refused, with a *Fault. Canonical(Canonical(x)) is Canonical(x), and the
// result is never longer than text.
func Canonical(text []byte, l Limits) (canonical []byte, nodes int, err error) {
	nodes, err = Check(text, l)
	if err != nil {
		return nil, nodes, err
	}
	v := jsontext.Value(slices.Clone(text))
	if err := v.Format(jsontext.AllowDuplicateNames(true), jsontext.ReorderRawObjects(true)); err != nil {
		return nil, nodes, &Fault{Kind: Syntax, Msg: err.Error(), Err: err} // Check has passed it
	}
	return v, nodes, nil
}

// AppendString appends s as a JSON string in canonical form. What is not UTF-8 in s becomes U+FFFD.
func AppendString(dst []byte, s string) []byte {
	out, err := jsontext.AppendQuote(dst, strings.ToValidUTF8(s, "\ufffd"))
	if err != nil {
		return dst // cannot be: the text is UTF-8
	}
	return out
}
