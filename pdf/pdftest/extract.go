package pdftest

import (
	"encoding/json"
	"os/exec"
	"testing"
)

// extractorsPython is the Python that has pdfminer and pdfium, put there by `make tools`.
const extractorsPython = ".tools/extractors/bin/python"

// extractors prints the text that each finds in a file, and pdfminer every string of every object
// too.
const extractors = `
import io, json, sys
from pdfminer.high_level import extract_text
from pdfminer.pdfdocument import PDFDocument
from pdfminer.pdfparser import PDFParser
from pdfminer.pdftypes import PDFStream
import pypdfium2

out = {"pdfminer": extract_text(sys.argv[1])}
found = []

def walk(o):
    if isinstance(o, bytes):
        found.append(o.decode("utf-16-be" if o[:2] == b"\xfe\xff" else "latin-1", "replace"))
    elif isinstance(o, dict):
        for v in o.values():
            walk(v)
    elif isinstance(o, (list, tuple)):
        for v in o:
            walk(v)
    elif isinstance(o, PDFStream):
        walk(o.attrs)
        try:
            found.append(o.get_data().decode("latin-1"))
        except Exception:
            found.append(o.get_rawdata().decode("latin-1"))

with open(sys.argv[1], "rb") as f:
    d = PDFDocument(PDFParser(f))
    for x in d.xrefs:
        for n in x.get_objids():
            walk(d.getobj(n))
out["pdfminer objects"] = "\n".join(found)
with pypdfium2.PdfDocument(sys.argv[1]) as d:
    out["pdfium"] = "\n".join(p.get_textpage().get_text_range() for p in d)
json.dump(out, sys.stdout)
`

// Extract returns what pdfminer and pdfium find in a file: the text that pages show, and with
// pdfminer every string and stream of its objects.
func Extract(tb testing.TB, file string) map[string]string {
	tb.Helper()
	cmd := exec.CommandContext(tb.Context(), Need(tb, "pdfminer"), "-c", extractors, file) //nolint:gosec // G204: a judge, with a file of the test
	out, errs, code := output(tb, cmd)
	found := map[string]string{}
	if err := json.Unmarshal([]byte(out), &found); err != nil || code != 0 {
		tb.Fatalf("pdfminer and pdfium: exit %d: %v: %s", code, err, errs)
	}
	return found
}
