package pdf_test

import (
	"bytes"
	"strings"
	"testing"
	"testing/fstest"

	"example.com/quire/pdf"
	"example.com/quire/pdf/doc"
	"example.com/quire/pdf/pdftest"
	"example.com/quire/pdf/standard"
	"example.com/quire/pdf/template"
)

// carrying are the claims under which a document may carry files of any kind.
var carrying = [][]standard.ID{
	{standard.PDFA4f, standard.PDFUA2},
	{standard.PDFA3b, standard.PDFUA1},
	{standard.PDFUA2},
	nil,
}

const carrierTemplate = `quire: 1
name: carrier
lang: en
title: Orders
data: {orders: [{no: string, what: string}], csv: string, notes: "string?"}
viewer: {page-layout: two-column-right, page-mode: attachments, fit-window: true, duplex: long-edge, print-scaling: none, copies: 2}
attach:
  - {name: "Orders ${len(orders)}.csv", text: "${csv}", relationship: data, description: The orders as a table}
  - {file: files/terms.pdf, relationship: supplement}
  - {name: Bestellübersicht.xml, text: "<orders count='${len(orders)}'/>", relationship: alternative}
  - {if: notes != null, name: notes.txt, text: "${notes}"}
outline:
  - {title: Orders, to: "#top", closed: true, items: [{for: o in orders, title: "${o.no}, ${o.what}", to: "#order-${o.no}"}]}
  - {title: End, to: "#end", if: len(orders) > 1}
body:
  - {heading: Orders, level: 1, anchor: top, bookmark: not shown}
  - {for: o in orders, do: [{heading: "${o.no}", level: 2, anchor: "order-${o.no}"}, {text: "${o.what}"}]}
  - {text: End, anchor: end}
`

const carrierData = `{"orders": [{"no": "7", "what": "Tea"}, {"no": "8", "what": "Cups"}], "csv": "no,what\n7,Tea\n8,Cups\n"}`

var carrierFiles = fstest.MapFS{"files/terms.pdf": {Data: []byte("%PDF-1.4 not looked at")}}

// carrier renders a document with attachments, viewer preferences and an outline of its own.
func carrier(tb testing.TB, claims []standard.ID) []byte {
	tb.Helper()
	e := newEngine(tb, pdf.Config{Files: carrierFiles})
	plan, err := e.Compile(tb.Context(), pdf.Source{File: "t.yaml", Text: []byte(carrierTemplate)})
	if err != nil {
		tb.Fatal(err)
	}
	var buf bytes.Buffer
	if _, err := e.Render(tb.Context(), &buf, plan, template.JSON([]byte(carrierData)), pdf.RenderOptions{Standards: claims, Time: frozen}); err != nil {
		tb.Fatal(err)
	}
	return buf.Bytes()
}

// TestFilesAreAttached: by poppler they come out as they went in, with their names; the file says
// what each is to the document.
func TestFilesAreAttached(t *testing.T) {
	for _, claims := range carrying {
		body := carrier(t, claims)
		file := pdftest.Write(t, "f.pdf", body)
		if err := pdftest.QPDF(t, file); err != nil {
			t.Fatal(err)
		}
		got := pdftest.Attachments(t, file)
		want := map[string]string{
			"Orders 2.csv": "no,what\n7,Tea\n8,Cups\n", "terms.pdf": "%PDF-1.4 not looked at", "Bestellübersicht.xml": "<orders count='2'/>",
		}
		if len(got) != len(want) {
			t.Errorf("%v: %d files: %v", claims, len(got), got)
		}
		for name, text := range want {
			if got[name] != text {
				t.Errorf("%v: %s is %q, want %q", claims, name, got[name], text)
			}
		}
		plain := unpack(t, body)
		for _, want := range []string{
			"/Subtype/text#2Fcsv", "/Subtype/application#2Fpdf", "/AFRelationship/Data", "/AFRelationship/Supplement", "/AFRelationship/Alternative",
			"/Desc(The orders as a table)", "/ModDate(D:20260131183000+05'30", "/AF[",
		} {
			if !strings.Contains(plain, want) {
				t.Errorf("%v: no %s in the file", claims, want)
			}
		}
	}
}

// TestFilesThatMayNotBeAttached: under standards that do not take them, without a name, or two of
// one name.
func TestFilesThatMayNotBeAttached(t *testing.T) {
	e := newEngine(t, pdf.Config{})
	file := doc.Attachment{Name: "a.txt", Data: []byte("x")}
	for name, c := range map[string]struct {
		claims []standard.ID
		files  []doc.Attachment
		code   string
	}{
		"under a-2b":     {[]standard.ID{standard.PDFA2b}, []doc.Attachment{file}, "S049"},
		"under a-4":      {compliant, []doc.Attachment{file}, "S049"},
		"none under 4f":  {[]standard.ID{standard.PDFA4f}, nil, "S050"},
		"without a name": {nil, []doc.Attachment{{Data: []byte("x")}}, "L317"},
		"two of a name":  {nil, []doc.Attachment{file, {Name: "b.txt"}, file}, "L317"},
	} {
		_, err := e.Build(t.Context(), &bytes.Buffer{}, pdf.RenderOptions{Standards: c.claims}, func(b *doc.Builder) error {
			b.Title("T").Lang("en").Text("x")
			for _, f := range c.files {
				b.Attach(f)
			}
			return nil
		})
		if d := diagnosticsOf(err); len(d) != 1 || d[0].Code != c.code {
			t.Errorf("%s: want %s, got %v", name, c.code, err)
		}
	}
}

// TestViewerPreferences: what a template says of the viewer is in the catalog, and no more.
func TestViewerPreferences(t *testing.T) {
	plain := unpack(t, carrier(t, nil))
	for _, want := range []string{
		"/PageLayout/TwoColumnRight", "/PageMode/UseAttachments", "/FitWindow true", "/DisplayDocTitle true",
		"/Duplex/DuplexFlipLongEdge", "/PrintScaling/None", "/NumCopies 2",
	} {
		if !strings.Contains(plain, want) {
			t.Errorf("no %s in the file", want)
		}
	}
	if strings.Contains(plain, "/HideToolbar") || strings.Contains(plain, "/Direction") {
		t.Error("what was not asked for is said")
	}
	e := newEngine(t, pdf.Config{})
	body, _ := render(t, e, pdf.RenderOptions{}, func(b *doc.Builder) error {
		b.Viewer(doc.Viewer{
			HideToolbar: true, HideMenubar: true, HideWindowUI: true, CenterWindow: true, RightToLeft: true,
			Layout: doc.LayoutSinglePage, Mode: doc.ModeNone, Duplex: doc.DuplexSimplex,
		}).Heading(1, "x", doc.Bookmark("x"))
		return nil
	})
	plain = unpack(t, body)
	for _, want := range []string{
		"/HideToolbar true", "/HideMenubar true", "/HideWindowUI true", "/CenterWindow true", "/Direction/R2L",
		"/PageLayout/SinglePage", "/PageMode/UseNone", "/Duplex/Simplex", "/Outlines",
	} {
		if !strings.Contains(plain, want) {
			t.Errorf("no %s in the file that was built", want)
		}
	}
}

// TestOutlineThatWasGiven: it stands in the place of bookmarks, folded as was said, and each entry
// leads to its anchor; one that leads nowhere is an error with its place.
func TestOutlineThatWasGiven(t *testing.T) {
	plain := unpack(t, carrier(t, compliantFiles))
	for _, want := range []string{"/Title(Orders)", "/Title(7, Tea)", "/Title(8, Cups)", "/Title(End)", "/Count -2", "/SD["} {
		if !strings.Contains(plain, want) {
			t.Errorf("no %s in the file", want)
		}
	}
	if strings.Contains(plain, "not shown") {
		t.Error("a bookmark stands beside the outline that was given")
	}
	e := newEngine(t, pdf.Config{})
	_, err := e.Build(t.Context(), &bytes.Buffer{}, pdf.RenderOptions{}, func(b *doc.Builder) error {
		b.Text("x", doc.Anchor("here")).Outline(doc.OutlineItem{Title: "A", Anchor: "here", Items: []doc.OutlineItem{{Title: "B", Anchor: "there"}}})
		return nil
	})
	if d := diagnosticsOf(err); len(d) != 1 || d[0].Code != "L308" || !strings.Contains(d[0].Message, `"there"`) {
		t.Errorf("an entry that leads nowhere: %v", err)
	}
	text := strings.Replace(carrierTemplate, `"#order-${o.no}"`, `"#order-${o.what}"`, 1)
	_, err = renderText(t, newEngine(t, pdf.Config{Files: carrierFiles}), text, carrierData)
	if d := diagnosticsOf(err); len(d) != 2 || d[0].Code != "L308" || d[0].DataPath != "orders[0].what" || d[0].Line == 0 {
		t.Errorf("entries of data that lead nowhere: %v", err)
	}
}

// compliantFiles are the claims of an accessible archive with files.
var compliantFiles = carrying[0]

func renderText(tb testing.TB, e *pdf.Engine, text, data string) ([]byte, error) {
	tb.Helper()
	plan, err := e.Compile(tb.Context(), pdf.Source{File: "t.yaml", Text: []byte(text)})
	if err != nil {
		return nil, err
	}
	var buf bytes.Buffer
	_, err = e.Render(tb.Context(), &buf, plan, template.JSON([]byte(data)), pdf.RenderOptions{Time: frozen})
	return buf.Bytes(), err
}

// TestOutlineOfHeadings: all headings down to a level, those of Markdown too, but for what is
// deeper.
func TestOutlineOfHeadings(t *testing.T) {
	const text = `quire: 1
name: x
lang: en
title: T
outline: {headings: 2}
body:
  - {heading: "One **bold**", level: 1}
  - {heading: Two, level: 2, bookmark: Second}
  - {heading: Three, level: 3}
  - {markdown: "## Four"}
`
	body, err := renderText(t, newEngine(t, pdf.Config{}), text, "{}")
	if err != nil {
		t.Fatal(err)
	}
	plain := unpack(t, body)
	for _, want := range []string{"/Title(One bold)", "/Title(Second)"} {
		if !strings.Contains(plain, want) {
			t.Errorf("no %s in the file", want)
		}
	}
	if strings.Contains(plain, "/Title(Three)") || strings.Count(plain, "/Parent") < 3 {
		t.Error("a heading that is too deep is in the outline")
	}
}
