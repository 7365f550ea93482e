package svg_test

import (
	"bytes"
	"compress/zlib"
	"errors"
	"io"
	"reflect"
	"sync"
	"testing"

	"example.com/quire/pdf/cos"
	"example.com/quire/pdf/internal/diag"
	"example.com/quire/pdf/internal/svg"
	"example.com/quire/pdf/internal/text"
)

func newStore(most int64) *svg.Store {
	return svg.NewStore(most, func(code []byte) ([]byte, error) {
		return cos.Pack(cos.NewFlate(), nil, code, cos.LevelDefault)
	})
}

// fonts are those of a document, whose setter stays open until the test ends.
func fonts(tb testing.TB) svg.Fonts {
	tb.Helper()
	set := typesetter()
	s := text.NewSetter(tb.Context(), set)
	tb.Cleanup(s.Close)
	return svg.Fonts{Typesetter: set, Setter: s}
}

// TestDrawingsWithoutTextAreKept, and those with text are drawn in the fonts of each document; all
// are what a file gives that nobody keeps.
func TestDrawingsWithoutTextAreKept(t *testing.T) {
	long := `<g fill="#123">` + string(bytes.Repeat([]byte(`<path d="M1 2L30 40L5 60z" stroke="#456"/>`), 40)) + `</g>`
	masked := `<mask id="m"><rect width="50" height="50" fill="#fff"/>` + long + `</mask><g mask="url(#m)">` + long + `</g>`
	for content, keeps := range map[string]bool{
		long: true, masked: true, `<rect width="9" height="9"/>`: true, ``: true,
		long + `<text x="1" y="20">Quire</text>`:                  false,
		`<text x="1" y="20" opacity="0">Quire</text>`:             true, // nobody sees it
		`<text x="1" y="20" font-family="none such">Quire</text>`: false,
		`<rect width="9" height="9" filter="url(#f)"/><unknown/>`: true, // with warnings
		`<clipPath id="c"><text y="9">Q</text></clipPath>` + long: true, // whose text nobody asks for
	} {
		file := []byte(wrap(content))
		s, here, there := newStore(1<<20), fonts(t), fonts(t)
		first, err := s.Draw(t.Context(), bytes.Clone(file), diag.Limits{}, here)
		if err != nil {
			t.Fatal(err)
		}
		again, err := s.Draw(t.Context(), file, diag.Limits{}, there)
		if err != nil || (first == again) != keeps {
			t.Errorf("%.60s: kept is %v, %v", content, first == again, err)
		}
		want, err := draw(t, string(file), diag.Limits{})
		if err != nil || code(want.Form) != code(again.Form) || !reflect.DeepEqual(want.Warnings, again.Warnings) || want.Hash != again.Hash {
			t.Errorf("%.60s: another drawing, %v", content, err)
		}
		checkPacked(t, first.Form, keeps)
	}
}

// checkPacked: what is compressed is the code, and of a drawing that is kept whatever is worth it.
func checkPacked(t *testing.T, f *svg.Form, keeps bool) {
	t.Helper()
	if len(f.Ops) > 0 && keeps && len(f.Ops[0].Code) > 500 && f.Packed == nil {
		t.Errorf("%d bytes are not compressed", len(f.Ops[0].Code))
	}
	if f.Packed != nil {
		zr, err := zlib.NewReader(bytes.NewReader(f.Packed))
		if err != nil {
			t.Fatal(err)
		}
		if got, err := io.ReadAll(zr); err != nil || len(f.Ops) != 1 || !bytes.Equal(got, f.Ops[0].Code) {
			t.Errorf("other code is compressed, %v", err)
		}
	}
	for _, inner := range f.Forms {
		checkPacked(t, inner, keeps)
	}
	for _, s := range f.States {
		if s.Mask != nil {
			checkPacked(t, s.Mask, keeps)
		}
	}
}

// TestLimitsHoldForWhatIsKept: a file that one document may draw is beyond the limits of another.
func TestLimitsHoldForWhatIsKept(t *testing.T) {
	s, file := newStore(1<<20), []byte(wrap(`<rect width="9" height="9"/><rect width="8" height="8"/>`))
	var wg sync.WaitGroup
	for i := range 20 {
		f := fonts(t)
		wg.Go(func() {
			l := diag.Limits{SVGElements: int64(2 + i%2)}
			d, err := s.Draw(t.Context(), file, l, f)
			if i%2 == 0 && !errors.Is(err, diag.ErrLimit) || i%2 == 1 && (err != nil || d == nil) {
				t.Errorf("%d elements: %v", 2+i%2, err)
			}
		})
	}
	wg.Wait()
	if _, err := s.Draw(t.Context(), file, diag.Limits{SVGSteps: 1}, fonts(t)); !errors.Is(err, diag.ErrLimit) {
		t.Errorf("steps: %v", err)
	}
}
