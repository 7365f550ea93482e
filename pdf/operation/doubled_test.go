package operation_test

import (
	"encoding/json"
	"fmt"
	"image"
	"slices"
	"strconv"
	"strings"
	"testing"

	"example.com/quire/pdf"
	"example.com/quire/pdf/pdftest"
)

// counts are the pages, bookmarks and form fields that a reader finds in a file; -1: it does not
// tell.
type counts struct{ pages, bookmarks, fields int }

// read counts what qpdf, poppler and mupdf find; ok is false for a file that a reader refuses.
func read(t *testing.T, path string) (found map[string]counts, ok bool) {
	t.Helper()
	found = map[string]counts{}
	type outline struct{ Kids []outline }
	var q struct {
		Pages    []json.RawMessage
		Outlines []outline
		Acroform struct{ Fields []struct{ FullName string } }
	}
	out, code := pdftest.Run(t, "qpdf", "--json", "--json-key=pages", "--json-key=outlines", "--json-key=acroform", "--no-warn", "--", path)
	if code != 0 && code != 3 || json.Unmarshal([]byte(out), &q) != nil {
		return nil, false
	}
	var number func(list []outline) int
	number = func(list []outline) (n int) {
		for _, o := range list {
			n += 1 + number(o.Kids)
		}
		return n
	}
	found["qpdf"] = counts{len(q.Pages), number(q.Outlines), len(q.Acroform.Fields)}
	out, code = pdftest.Run(t, "pdfinfo", path)
	_, rest, told := strings.Cut(out, "\nPages:")
	pages, _, _ := strings.Cut(rest, "\n")
	n, err := strconv.Atoi(strings.TrimSpace(pages))
	if code != 0 || !told || err != nil {
		return nil, false
	}
	found["poppler"] = counts{n, -1, -1}
	shown, code := pdftest.Run(t, "mutool", "show", path, "pages", "outline", "form")
	if code != 0 {
		return nil, false
	}
	lines := func(beginnings ...string) (n int) { // beside messages
		for line := range strings.Lines(shown) {
			if slices.ContainsFunc(beginnings, func(b string) bool { return strings.HasPrefix(line, b) }) {
				n++
			}
		}
		return n
	}
	found["mupdf"] = counts{lines("page "), lines("|\t", "+\t", "-\t"), lines("field ")}
	return found, true
}

// doubled tells in what a file that is merged with itself is not twice the file, for qpdf, poppler
// and mupdf: pages, bookmarks below one with the name of each file, and fields. A file that one of
// them does not read as it is gives nothing, and ok is false.
func doubled(t *testing.T, e *pdf.Engine, b []byte) (wrong []string, ok bool) {
	t.Helper()
	before, ok := read(t, pdftest.Write(t, "before.pdf", b))
	if !ok {
		return nil, false
	}
	_, out, err := run(t, e, "merge", nil, b, b)
	if err != nil {
		return []string{err.Error()}, true
	}
	after, ok := read(t, pdftest.Write(t, "after.pdf", out[0]))
	if !ok {
		return []string{"a reader refuses the merged file"}, true
	}
	for reader, was := range before {
		is := after[reader]
		want := counts{2 * was.pages, 2*was.bookmarks + 2, 2 * was.fields}
		if was.bookmarks < 0 {
			want.bookmarks, want.fields = -1, -1
		}
		if is != want {
			wrong = append(wrong, fmt.Sprintf("%s finds %+v, want %+v", reader, is, want))
		}
	}
	return wrong, true
}

// splitOff tells whether the first page, alone in a file, has other pixels for poppler or mupdf.
func splitOff(t *testing.T, e *pdf.Engine, b []byte) (wrong []string) {
	t.Helper()
	_, out, err := run(t, e, "split", map[string]string{"pages": "1"}, b)
	if err != nil {
		return []string{err.Error()}
	}
	before, after := pdftest.Write(t, "before.pdf", b), pdftest.Write(t, "after.pdf", out[0])
	for reader, first := range map[string]func(testing.TB, string) image.Image{"poppler": pdftest.RasterFirst, "mupdf": pdftest.MuPDFFirst} {
		was, is := first(t, before), first(t, after)
		if was == nil {
			continue // it does not draw the file as it is
		}
		if is == nil {
			wrong = append(wrong, reader+" does not draw the page")
		} else if d, err := pdftest.Difference(was, is); err != nil || d > 0 {
			wrong = append(wrong, fmt.Sprintf("%s draws another page: %g, %v", reader, d, err))
		}
	}
	return wrong
}
