//go:build !race

package operation_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"example.com/quire/pdf"
	"example.com/quire/pdf/operation"
	"example.com/quire/pdf/pdftest"
	"example.com/quire/pdf/standard"
)

// thai is a text in a script that no font of the engine has, and thaiFont a font that has it.
const thai = "สวัสดี"

func thaiFont(t *testing.T) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.FromSlash("../internal/text/gotext/testdata/NotoSansThai.ttf"))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// withFont runs an operation with a font and further files; font nil: without one.
func withFont(t *testing.T, e *pdf.Engine, name string, values map[string]string, font []byte, uploads map[string]string, in ...operation.File) ([]byte, error) {
	t.Helper()
	o, err := operation.Find(name)
	if err != nil {
		t.Fatal(err)
	}
	p := &parts{}
	given := map[string]operation.File{}
	for name, text := range uploads {
		given[name] = file(name, []byte(text))
	}
	if font != nil {
		given["font-file"] = file("own.ttf", font)
	}
	_, err = o.Run(t.Context(), e, operation.Input{Values: values, Create: p.create, Files: in, Uploads: given})
	if err != nil || len(p.files) != 1 {
		return nil, err
	}
	return p.files[0].Bytes(), nil
}

// TestTextsAreSetInAGivenFont: what stamps, numbers and fields show may be of a script that the
// fonts of the engine lack; poppler reads it, and the file keeps its claims.
func TestTextsAreSetInAGivenFont(t *testing.T) {
	t.Parallel()
	e, font := engine(t), thaiFont(t)
	form := application(t, e, standard.PDFA4, standard.PDFUA2)
	city := `{"person.city": "` + thai + ` 7", "country": "de"}`
	for name, run := range map[string]func(font []byte) ([]byte, error){
		"stamp": func(font []byte) ([]byte, error) {
			return withFont(t, e, "stamp", map[string]string{"text": thai + " 7", "bold": "true"}, font, nil, file("in.pdf", form))
		},
		"beside a built-in font": func(font []byte) ([]byte, error) {
			return withFont(t, e, "stamp", map[string]string{"text": thai + " 7", "font": "Liberation Serif", "italic": "true"}, font, nil, file("in.pdf", form))
		},
		"watermark": func(font []byte) ([]byte, error) {
			return withFont(t, e, "watermark", map[string]string{"text": thai + " 7", "angle": "0"}, font, nil, file("in.pdf", form))
		},
		"number": func(font []byte) ([]byte, error) {
			return withFont(t, e, "number", map[string]string{"format": thai + " {page}", "start": "7"}, font, nil, file("in.pdf", form))
		},
		"fill": func(font []byte) ([]byte, error) {
			return withFont(t, e, "fill", nil, font, map[string]string{"data": city}, file("in.pdf", form))
		},
		"fill and flatten": func(font []byte) ([]byte, error) {
			return withFont(t, e, "fill", map[string]string{"flatten": "true"}, font, map[string]string{"data": city}, file("in.pdf", form))
		},
		"pipe": func(font []byte) ([]byte, error) {
			in, step := []operation.File{file("in.pdf", form)}, `[{"stamp": {"text": "`+thai+` 7"}}, {"rotate": {"degrees": 360}}]`
			if font != nil {
				in = append(in, file("own.ttf", font))
				step = strings.Replace(step, `"}}, `, `", "font-file": "own.ttf"}}, `, 1)
			}
			return withFont(t, e, "pipe", nil, nil, map[string]string{"steps": step}, in...)
		},
	} {
		_, err := run(nil)
		var option *pdf.OptionError
		if !errors.As(err, &option) || !strings.Contains(err.Error(), "no glyph") && !strings.Contains(err.Error(), "script") || !strings.HasSuffix(option.Want, "font-file") {
			t.Errorf("%s without the font: %v", name, err)
		}
		if _, err = run([]byte("\x00\x01\x00\x00 is no font")); !errors.As(err, &option) || !strings.HasSuffix(option.Field, "font-file") {
			t.Errorf("%s by a damaged font: %v", name, err)
		}
		b, err := run(font)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		path := pdftest.Write(t, "out.pdf", b)
		if text, _ := pdftest.Run(t, "pdftotext", path, "-"); !strings.Contains(text, thai+" 7") {
			t.Errorf("%s: poppler reads %q", name, text)
		}
		if fonts, _ := pdftest.Run(t, "pdffonts", path); strings.Contains(fonts, " no  no ") || strings.Contains(fonts, " no  yes ") {
			t.Errorf("%s: fonts that are not embedded:\n%s", name, fonts)
		}
		findings, err := e.Check(t.Context(), open(t, e, b, ""))
		if claims := open(t, e, b, "").Info().Claims; err != nil || len(findings) > 0 || len(claims) != 2 {
			t.Errorf("%s: claims %v, %v, %v", name, claims, findings, err)
		}
	}
}

// TestFieldsWithoutAppearanceAreFlattenedInAGivenFont: a value that nothing shows gets its
// appearance when it is flattened.
func TestFieldsWithoutAppearanceAreFlattenedInAGivenFont(t *testing.T) {
	t.Parallel()
	e := engine(t)
	var value strings.Builder
	for _, r := range thai {
		fmt.Fprintf(&value, "%04X", r)
	}
	bare := []byte(`%PDF-1.7
1 0 obj <</Type/Catalog /Pages 2 0 R /AcroForm <</Fields [4 0 R] /DA (/Helv 10 Tf 0 g)>>>> endobj
2 0 obj <</Type/Pages /Kids [3 0 R] /Count 1>> endobj
3 0 obj <</Type/Page /Parent 2 0 R /MediaBox [0 0 300 200] /Resources <<>> /Annots [4 0 R]>> endobj
4 0 obj <</Type/Annot /Subtype/Widget /FT/Tx /T (name) /F 4 /Rect [20 20 200 50] /P 3 0 R /V <FEFF` + value.String() + `>>> endobj
trailer <</Root 1 0 R /Size 5>>
`)
	if _, err := withFont(t, e, "flatten", nil, nil, nil, file("in.pdf", bare)); err == nil || !strings.Contains(err.Error(), "font-file") {
		t.Errorf("without the font: %v", err)
	}
	b, err := withFont(t, e, "flatten", nil, thaiFont(t), nil, file("in.pdf", bare))
	if err != nil {
		t.Fatal(err)
	}
	if text, _ := pdftest.Run(t, "pdftotext", pdftest.Write(t, "out.pdf", b), "-"); !strings.Contains(text, thai) {
		t.Errorf("poppler reads %q", text)
	}
}

// TestFontsOfRequestsAreNotKept: what one user sends is not held for the next.
func TestFontsOfRequestsAreNotKept(t *testing.T) {
	e, err := pdf.New(pdf.Config{}) // with its caches
	if err != nil {
		t.Fatal(err)
	}
	font := thaiFont(t)
	in := file("in.pdf", application(t, e))
	heap := func() int64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.GC()
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc) //nolint:gosec // G115: of this machine
	}
	stamp := func(n byte) {
		own := append(slices.Clip(font), make([]byte, 8<<20)...) // a font may have anything behind its tables
		own[len(own)-1] = n
		if _, err := withFont(t, e, "stamp", map[string]string{"text": thai}, own, nil, in); err != nil {
			t.Fatal(err)
		}
	}
	stamp(0)
	before := heap()
	for n := range byte(4) {
		stamp(n + 1)
	}
	if kept := heap() - before; kept > 4<<20 {
		t.Errorf("%d MiB are kept of four fonts", kept>>20)
	}
	runtime.KeepAlive(e)
}
