//go:build !race

package conformance_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf16"

	"example.com/quire/psrp/clixml"
	"example.com/quire/psrp/internal/conformance"
	"example.com/quire/psrp/proto"
)

// description is what describe.ps1 printed of an object as the real client saw it.
type description struct {
	Null  bool                   `json:"null"`
	Type  string                 `json:"type"`
	Names []string               `json:"names"`
	Text  *string                `json:"text"`
	Codes []uint16               `json:"codes"`
	Kind  string                 `json:"kind"`
	Ticks *int64                 `json:"ticks"`
	Items []json.RawMessage      `json:"items"`
	Props map[string]description `json:"props"`
	Threw string                 `json:"threw"`
}

// primitives are the .NET types that PowerShell reads a primitive as.
func primitives() map[clixml.Kind]string {
	return map[clixml.Kind]string{
		clixml.KindString: "System.String", clixml.KindChar: "System.Char", clixml.KindBool: "System.Boolean", clixml.KindDateTime: "System.DateTime", clixml.KindTimeSpan: "System.TimeSpan",
		clixml.KindUint8: "System.Byte", clixml.KindInt8: "System.SByte", clixml.KindInt16: "System.Int16", clixml.KindUint16: "System.UInt16", clixml.KindInt32: "System.Int32",
		clixml.KindUint32: "System.UInt32", clixml.KindInt64: "System.Int64", clixml.KindUint64: "System.UInt64", clixml.KindFloat32: "System.Single", clixml.KindFloat64: "System.Double",
		clixml.KindDecimal: "System.Decimal", clixml.KindBytes: "System.Byte[]", clixml.KindGUID: "System.Guid", clixml.KindURI: "System.Uri", clixml.KindVersion: "System.Version",
		clixml.KindXML: "System.Xml.XmlDocument", clixml.KindScriptBlock: "System.String", clixml.KindSecureString: "System.Security.SecureString",
	}
}

// disagrees says in what a description and a value differ, "" when they agree.
func disagrees(d description, v clixml.Value) string {
	if d.Threw != "" {
		return ""
	}
	if d.Null || v.IsNil() {
		if d.Null != v.IsNil() {
			return fmt.Sprintf("null is %t, the value %v", d.Null, v.Kind())
		}
		return ""
	}
	base := v.Base()
	o, isObject := v.Object()
	if isObject && len(o.TypeNames) > 0 {
		switch o.TypeName() {
		case "System.Management.Automation.PSCredential", "System.Net.IPAddress":
			return "" // the client makes its own types of these
		}
		if !slices.EqualFunc(d.Names, o.TypeNames, func(a, b string) bool { return a == "Deserialized."+strings.TrimPrefix(b, "Deserialized.") }) {
			return fmt.Sprintf("names %q, type names %q", d.Names, o.TypeNames)
		}
	}
	var what string
	switch base.Kind() {
	case clixml.KindObject:
		what = custom(d, base)
	case clixml.KindList:
		what = list(d, base)
	case clixml.KindDict:
		what = dict(d, base)
	default:
		what = primitive(d, base)
	}
	if what != "" || d.Props == nil || !isObject {
		return what
	}
	props := slices.Clone(o.Extended)
	if base.Kind() == clixml.KindObject {
		props = append(props, o.Adapted...)
	}
	if len(props) != len(d.Props) {
		return fmt.Sprintf("%d properties, the value has %d", len(d.Props), len(props))
	}
	for name, dp := range d.Props {
		i := slices.IndexFunc(props, func(p clixml.Property) bool { return utf16Equal(p.Name, name) })
		if i < 0 {
			return fmt.Sprintf("no property %q", name)
		}
		if what := disagrees(dp, props[i].Value); what != "" {
			return name + ": " + what
		}
	}
	return ""
}

// utf16Equal compares names, in which JSON has made U+FFFD of half a surrogate pair.
func utf16Equal(a, b string) bool {
	return strings.ToValidUTF8(strings.ReplaceAll(a, "\xED", "\uFFFD\xED"), "") == b || a == b
}

func custom(d description, v clixml.Value) string {
	o, _ := v.Object()
	if d.Type != "System.Management.Automation.PSCustomObject" && d.Type != "System.Management.Automation.PSObject" {
		return fmt.Sprintf("type %s, the value is a property bag", d.Type)
	}
	if d.Text != nil && o.HasToString && o.ToString != *d.Text {
		return fmt.Sprintf("text %q, ToString %q", *d.Text, o.ToString)
	}
	return ""
}

func list(d description, v clixml.Value) string {
	l, _ := v.List()
	want := map[clixml.ListKind]string{clixml.ListArray: "System.Collections.ArrayList", clixml.ListQueue: "System.Collections.Queue", clixml.ListStack: "System.Collections.Stack"}[l.Kind]
	if want != "" && d.Type != want {
		return fmt.Sprintf("type %s, want %s", d.Type, want)
	}
	if d.Items == nil {
		return ""
	}
	if len(d.Items) != len(l.Items) {
		return fmt.Sprintf("%d items, the value has %d", len(d.Items), len(l.Items))
	}
	for i, raw := range d.Items {
		var item description
		if err := json.Unmarshal(raw, &item); err != nil {
			return err.Error()
		}
		if what := disagrees(item, l.Items[i]); what != "" {
			return fmt.Sprintf("[%d]: %s", i, what)
		}
	}
	return ""
}

func dict(d description, v clixml.Value) string {
	m, _ := v.Dict()
	if d.Type != "System.Collections.Hashtable" && d.Type != "System.Collections.Specialized.OrderedDictionary" && !strings.HasSuffix(d.Type, "PSPrimitiveDictionary") {
		return "type " + d.Type + ", the value is a dictionary"
	}
	if d.Items == nil {
		return ""
	}
	if len(d.Items) != len(m.Entries) {
		return fmt.Sprintf("%d entries, the value has %d", len(d.Items), len(m.Entries))
	}
	used := make([]bool, len(m.Entries))
	for _, raw := range d.Items {
		var entry struct{ K, V description }
		if err := json.Unmarshal(raw, &entry); err != nil {
			return err.Error()
		}
		i := slices.IndexFunc(m.Entries, func(e clixml.Entry) bool { return disagrees(entry.K, e.Key) == "" && disagrees(entry.V, e.Value) == "" })
		if i < 0 || used[i] {
			return fmt.Sprintf("no entry %s", raw)
		}
		used[i] = true
	}
	return ""
}

func primitive(d description, v clixml.Value) string {
	if want := primitives()[v.Kind()]; d.Type != want {
		return fmt.Sprintf("type %s, want %s of %v", d.Type, want, v.Kind())
	}
	if d.Codes != nil {
		text, ok := v.Text()
		if c, isChar := v.Char(); isChar {
			if len(d.Codes) == 1 && d.Codes[0] == uint16(c) {
				return ""
			}
			return fmt.Sprintf("codes %v, the value %d", d.Codes, c)
		}
		if s, isScript := v.ScriptBlock(); isScript {
			text, ok = string(s), true
		}
		if !ok || !slices.Equal(units(text), d.Codes) {
			return fmt.Sprintf("codes %v, the value %q", d.Codes, text)
		}
		return ""
	}
	if d.Text == nil {
		return ""
	}
	text := *d.Text
	same := false
	switch v.Kind() {
	case clixml.KindFloat32, clixml.KindFloat64:
		size := 64
		if v.Kind() == clixml.KindFloat32 {
			size = 32
		}
		f, err := strconv.ParseFloat(strings.Replace(text, "∞", "Inf", 1), size)
		want := clixml.Float64(f)
		if size == 32 {
			want = clixml.Float32(float32(f))
		}
		same = err == nil && clixml.Equal(want, v)
	case clixml.KindBool:
		b, _ := v.Bool()
		same = text == map[bool]string{true: "True", false: "False"}[b]
	case clixml.KindTimeSpan:
		ts, _ := v.TimeSpan()
		same = d.Ticks != nil && *d.Ticks == int64(ts)
	case clixml.KindDateTime:
		got, _ := v.DateTime()
		want, err := clixml.ParseDateTime(text)
		same = err == nil && want.Time(nil).Equal(got.Time(nil)) && want.Kind == got.Kind && d.Kind == got.Kind.String()
	case clixml.KindBytes:
		b, _ := v.Bytes()
		same = base64.StdEncoding.EncodeToString(b) == text
	case clixml.KindSecureString:
		s, _ := v.SecureString()
		plain, ok := s.Reveal()
		same = ok && plain == text
	case clixml.KindXML:
		x, _ := v.XMLText()
		same = squeeze(string(x)) == squeeze(text)
	default:
		same = v.String() == text
	}
	if !same {
		return fmt.Sprintf("text %q, the value %v", text, v)
	}
	return ""
}

// squeeze removes what an XML document may be written with or without.
func squeeze(s string) string {
	return strings.NewReplacer(" />", "/>", "\r", "", "\n", "", "'", `"`).Replace(s)
}

// units are the UTF-16 units of WTF-8 text.
func units(s string) (out []uint16) {
	for i := 0; i < len(s); {
		if s[i] == 0xED && i+2 < len(s) && s[i+1] >= 0xA0 {
			out = append(out, uint16(s[i+1]&0x3F)<<6|uint16(s[i+2]&0x3F)|0xD000)
			i += 3
			continue
		}
		r, n := []rune(s[i : i+runeLen(s[i])])[0], runeLen(s[i])
		out = utf16.AppendRune(out, r)
		i += n
	}
	return slices.Clip(append([]uint16{}, out...))
}

func runeLen(b byte) int {
	switch {
	case b < 0x80:
		return 1
	case b < 0xE0:
		return 2
	case b < 0xF0:
		return 3
	}
	return 4
}

// describable are the values of a transcript that its script may have described, in their order.
func describable(t *testing.T, tr conformance.Transcript) (all []clixml.Value) {
	t.Helper()
	for _, m := range messages(t, tr) {
		switch m.Header.Type {
		case proto.MessagePipelineOutput, proto.MessageInformationRecord:
			decoded, err := proto.DecodeMessage(m.Header.Type, m.Body, conformance.ClearDecoder())
			if err != nil {
				t.Fatal(err)
			}
			switch d := decoded.(type) {
			case *proto.PipelineOutput:
				all = append(all, d.Value)
			case *proto.InformationRecord:
				all = append(all, d.MessageData)
			}
		}
	}
	return all
}

// unmatched returns the first description that no value agrees with, in order, and why.
func unmatched(descriptions []description, values []clixml.Value) string {
	at := 0
	for i, d := range descriptions {
		from, why := at, ""
		for ; at < len(values); at++ {
			what := disagrees(d, values[at])
			if what == "" {
				break
			}
			if why == "" {
				why = what
			}
		}
		if at == len(values) {
			return fmt.Sprintf("description %d: no value from %d on agrees: %s", i, from, why)
		}
		at++
	}
	return ""
}

func descriptionsOf(t *testing.T, tr conformance.Transcript) (all []description) {
	t.Helper()
	for line := range strings.Lines(tr.Printed) {
		var d description
		if !strings.HasPrefix(line, "{") || json.Unmarshal([]byte(line), &d) != nil || d.Type == "" && !d.Null {
			continue
		}
		all = append(all, d)
	}
	return all
}

// TestEveryDescribedObjectIsWhatPowerShellSaw holds our values to what the real client printed of
// the same bytes.
func TestEveryDescribedObjectIsWhatPowerShellSaw(t *testing.T) {
	total := 0
	for _, tr := range transcripts(t) {
		if tr.Name == "old-server-secure" {
			continue // its texts are under a key that is gone
		}
		descriptions := descriptionsOf(t, tr)
		if len(descriptions) == 0 {
			continue
		}
		total += len(descriptions)
		t.Run(tr.Name, func(t *testing.T) {
			values := describable(t, tr)
			if what := unmatched(descriptions, values); what != "" {
				t.Errorf("%d descriptions: %s", len(descriptions), what)
			}
		})
	}
	t.Logf("%d objects described", total)
	if total < 380 {
		t.Errorf("%d objects described, want the 401 that were recorded less those under a lost key", total)
	}
}

// errorDescription is what the scenario "errors" printed of an ErrorRecord as the real client saw
// it.
type errorDescription struct {
	Text       string   `json:"text"`
	ID         *string  `json:"fqid"`
	Category   string   `json:"cat"`
	Reason     string   `json:"reason"`
	Target     string   `json:"target"`
	TargetType string   `json:"targetType"`
	Activity   string   `json:"activity"`
	Details    string   `json:"details"`
	Action     string   `json:"action"`
	Exception  []string `json:"excNames"`
	Stack      string   `json:"stack"`
}

// errorAsSeen describes a record of ours as that scenario does.
func errorAsSeen(e *proto.ErrorRecord) errorDescription {
	d := errorDescription{
		Text: e.Message, ID: &e.FullyQualifiedErrorID, Category: e.Category.String(), Reason: e.Reason, Target: e.TargetName, TargetType: e.TargetType,
		Activity: e.Activity, Details: e.DetailsMessage, Action: e.RecommendedAction, Stack: e.ScriptStackTrace,
	}
	if d.Details != "" {
		d.Text = d.Details
	}
	o, _ := e.Exception.Object()
	for _, name := range o.TypeNames {
		d.Exception = append(d.Exception, "Deserialized."+name)
	}
	return d
}

// TestEveryDescribedErrorIsWhatPowerShellSaw holds the fields of our records to what the real
// client printed of the same bytes: of the stream of errors, and of failed pipelines.
func TestEveryDescribedErrorIsWhatPowerShellSaw(t *testing.T) {
	total := 0
	for _, tr := range transcripts(t) {
		if !strings.Contains(tr.Printed, `"fqid"`) {
			continue
		}
		var seen []*proto.ErrorRecord
		for _, m := range messages(t, tr) {
			if m.Header.Type != proto.MessageErrorRecord && m.Header.Type != proto.MessagePipelineState {
				continue
			}
			decoded, err := proto.DecodeMessage(m.Header.Type, m.Body, conformance.ClearDecoder())
			if err != nil {
				t.Fatal(err)
			}
			switch d := decoded.(type) {
			case *proto.ErrorRecord:
				seen = append(seen, d)
			case *proto.PipelineStateMessage:
				if d.Error != nil {
					seen = append(seen, d.Error)
				}
			}
		}
		for line := range strings.Lines(tr.Printed) {
			var d errorDescription
			if !strings.HasPrefix(line, "{") || json.Unmarshal([]byte(line), &d) != nil || d.ID == nil {
				continue
			}
			total++
			i := slices.IndexFunc(seen, func(e *proto.ErrorRecord) bool { return reflect.DeepEqual(errorAsSeen(e), d) })
			if i < 0 {
				t.Errorf("%s: no record is what the client saw: %+v", tr.Name, d)
				continue
			}
			seen = seen[i+1:]
		}
	}
	t.Logf("%d errors described", total)
	if total < 10 {
		t.Errorf("%d errors described, want the 10 that were recorded", total)
	}
}

// TestEveryDescribedDocumentIsWhatPowerShellSaw does the same for 1,456 random values and for the
// damaged documents that PowerShell accepted.
func TestEveryDescribedDocumentIsWhatPowerShellSaw(t *testing.T) {
	for name, want := range map[string]int{"values": 1456, "mutated": 676} {
		b, err := conformance.ReadFile("../../tap/testdata/real/clixml/" + name + ".jsonl.gz")
		if err != nil {
			t.Fatal(err)
		}
		agreed := 0
		d := conformance.ClearDecoder()
		for line := range bytes.Lines(b) {
			var rec struct {
				N      int          `json:"n"`
				CLIXML []byte       `json:"clixml"`
				Seen   *description `json:"seen"`
			}
			if err := json.Unmarshal(line, &rec); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if rec.Seen == nil {
				continue
			}
			var first clixml.Value
			values := 0
			var readErr error
			for v, err := range d.Document(bytes.NewReader(fromUTF16(rec.CLIXML))) {
				if readErr = err; err == nil && values == 0 {
					first = v.Value
				}
				values++
			}
			if readErr != nil {
				continue // refused by a rule of ours, which clixml's own test names
			}
			if values > 1 {
				agreed++ // the description is of an array of them
				continue
			}
			if what := disagrees(*rec.Seen, first); what != "" {
				t.Errorf("%s %d: %s", name, rec.N, what)
				continue
			}
			agreed++
		}
		t.Logf("%s: %d agree", name, agreed)
		if agreed < want {
			t.Errorf("%s: %d agree, want %d", name, agreed, want)
		}
	}
}

func fromUTF16(b []byte) []byte {
	u := make([]uint16, len(b)/2)
	for i := range u {
		u[i] = uint16(b[2*i]) | uint16(b[2*i+1])<<8
	}
	return []byte(string(utf16.Decode(u)))
}

// TestAlteredDescriptionIsNoticed shows that the comparison can fail.
func TestAlteredDescriptionIsNoticed(t *testing.T) {
	for _, tr := range transcripts(t) {
		descriptions := descriptionsOf(t, tr)
		if len(descriptions) == 0 || tr.Name == "old-server-secure" {
			continue
		}
		t.Run(tr.Name, func(t *testing.T) {
			last := &descriptions[len(descriptions)-1]
			if last.Type += "X"; last.Null {
				last.Null = false
			}
			if unmatched(descriptions, describable(t, tr)) == "" {
				t.Error("nobody noticed")
			}
		})
	}
}
