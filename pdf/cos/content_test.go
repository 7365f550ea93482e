package cos_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"example.com/quire/pdf/cos"
)

// TestOperatorsOfContent: operators come with their operands, inline images whole, and what is no
// content is passed over.
func TestOperatorsOfContent(t *testing.T) {
	for content, want := range map[string]string{
		"q 1 0 0 1 .5 -2 cm /F1 12 Tf [(a) -20 (b)] TJ Q": "q | cm 1 0 0 1 .5 -2 | Tf /F1 12 | TJ [(a)-20(b)] | Q",
		"/Span <</MCID 0>> BDC (x) ' EMC":                 "BDC /Span <</MCID 0>> | ' (x) | EMC",
		"BI /W 2 /H 1 /CS /G ID \x01EI\x02 EI Q":          "EI <</W 2/H 1/CS/G>> | Q",
		"BI /W 1 ID x":                                    "EI <</W 1>>",
		"1 2 ) ] >> } S":                                  ") 1 2 | ] | >> | } | S",
		"(never ends":                                     "",
		"% only a comment":                                "",
		"f*B*":                                            "f*B*",
		"1 R 2 0 R S":                                     "R 1 | R 2 0 | S",
		strings.Repeat("1 ", 100) + "n":                   "n " + strings.TrimSpace(strings.Repeat("1 ", 64)),
	} {
		var got []string
		err := cos.Operators([]byte(content), func(op []byte, args []cos.Object) error {
			s := string(op)
			for _, a := range args {
				s += " " + string(a.AppendPDF(nil))
			}
			got = append(got, s)
			return nil
		})
		if s := strings.ReplaceAll(strings.Join(got, " | "), "0.5", ".5"); err != nil || s != want {
			t.Errorf("%q: got %q, want %q, %v", content, s, want, err)
		}
	}
	stop := errors.New("stop")
	n := 0
	if err := cos.Operators([]byte("q q q"), func([]byte, []cos.Object) error { n++; return stop }); !errors.Is(err, stop) || n != 1 {
		t.Errorf("%d operators, %v", n, err)
	}
	if err := cos.Operators([]byte(strings.Repeat("[", 1000)), func([]byte, []cos.Object) error { return nil }); err == nil {
		t.Error("endless nesting is read")
	}
}

// FuzzOperators: no content makes the reader panic or run on.
func FuzzOperators(f *testing.F) {
	for _, s := range []string{"q Q", "BI /W 1 ID x EI", "BI ID EI", "BI /W ID", "[ (a) <61> ] TJ", "BI /A BI"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		n := 0
		_ = cos.Operators(data, func(op []byte, args []cos.Object) error { // nesting is an error that may be
			n += len(op)
			_ = fmt.Sprint(len(args))
			return nil
		})
		if n > len(data)+2 {
			t.Errorf("operators of %d bytes in %d", n, len(data))
		}
	})
}

// namesOf lists the names among the operands of operators that have any.
func namesOf(data []byte) (out [][]string, err error) {
	err = cos.Operators(data, func(op []byte, args []cos.Object) error {
		l := []string{string(op)}
		for _, a := range args {
			switch v := a.(type) {
			case cos.Name:
				l = append(l, string(v))
			case cos.InlineImage:
				for _, x := range v.Dict {
					if n, isName := x.Value.(cos.Name); isName {
						l = append(l, string(n))
					}
				}
			}
		}
		if len(l) > 1 {
			out = append(out, l)
		}
		return nil
	})
	return out, err
}

// FuzzOperatorNames: the names of operators are those that are found among all operands, whatever
// stands between them; of more operands than are kept there may be some more.
func FuzzOperatorNames(f *testing.F) {
	for _, s := range []string{
		"q /F1 12 Tf [(a\\)) -20 <62>] TJ /X Do Q", "/Span <</MCID 0 /P /Q>> BDC (x) ' EMC", "BI /CS /G ID \x01EI\x02 EI Q /N gs", "/a#20b (open", "[ 1 /P (] ( ] /X Do",
		"true /F null Tf /B false", "1 2 ) /X ] >> } S", "<61 /F > Tj <</A", "/Cs /x/y scn[[1]/z]d /k", strings.Repeat("[", 70) + "/F Tf", "(\\", "/P B/Q BI", "/ Do /# gs",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		want, wantErr := namesOf(data)
		var got [][]string
		err := cos.OperatorNames(data, func(op []byte, names []cos.Name) error {
			l := []string{string(op)}
			for _, n := range names {
				l = append(l, string(n))
			}
			got = append(got, l)
			return nil
		})
		if (err == nil) != (wantErr == nil) {
			t.Fatalf("%v, want %v", err, wantErr)
		}
		i := 0
		for _, w := range want {
			for i < len(got) && (got[i][0] != w[0] || !slices.Equal(got[i][max(1, len(got[i])-len(w)+1):], w[1:])) {
				i++ // an operator whose names lie before the operands that are kept
			}
			if i++; i > len(got) {
				t.Fatalf("%q: got %q, want %q", data, got, want)
			}
		}
		if len(data) < 64 && len(got) != len(want) {
			t.Fatalf("%q: got %q, want %q", data, got, want)
		}
	})
}

// TestCopiedStreamsKeepTheirEncoding: data and filters of another file are written as they are.
func TestCopiedStreamsKeepTheirEncoding(t *testing.T) {
	var out strings.Builder
	w := cos.NewWriter(&out, cos.Options{Version: cos.V17})
	root, one := w.Reserve(), w.Reserve()
	err := errors.Join(
		w.Put(root, cos.Dict{cos.E("Type", cos.Name("Catalog")), cos.E("Pages", cos.Dict{cos.E("Kids", cos.Array{})})}),
		w.CopyStream(one, cos.Dict{cos.E("Filter", cos.Array{cos.Name("ASCIIHexDecode")})}, []byte("616263>")),
	)
	if _, closed := w.Close(cos.Trailer{Root: root}); err != nil || closed != nil {
		t.Fatal(err, closed)
	}
	r := mustOpen(t, out.String())
	o, err := r.Object(one)
	s, ok := o.(*cos.Stream)
	if err != nil || !ok {
		t.Fatal(o, err)
	}
	if data, _, err := r.Decode(s); string(data) != "abc" || err != nil {
		t.Errorf("%q, %v", data, err)
	}
	w = cos.NewWriter(&out, cos.Options{})
	if err := w.CopyStream(w.Reserve(), cos.Dict{cos.E("Length", cos.Int(3))}, nil); err == nil {
		t.Error("a Length of the caller is written")
	}
}
