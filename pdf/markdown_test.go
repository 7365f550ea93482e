package pdf_test

import (
	"bytes"
	"errors"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"example.com/quire/pdf"
	"example.com/quire/pdf/doc"
	"example.com/quire/pdf/pdftest"
	"example.com/quire/pdf/template"
)

const markdownTemplate = `quire: 1
name: minutes
lang: en
title: Minutes
data: {notes: string, who: string}
body:
  - {heading: Minutes}
  - {markdown: "${notes}", level: 2}
  - markdown: |
      Written by **${who}** for [the board](https://example.com/board).

      | Item | Amount |
      |---|--:|
      | Rent | 1,200.00 |

      > Nothing else was said.

      ` + "```" + `
      if done {
          stop()
      }
      ` + "```" + `
`

const markdownData = `{"who": "A*B*", "notes": "# Present\n\nAll, *nearly*.\n\n1. Money\n   - in\n   - out\n2. Time\n\n---\n\n<b>raw</b>"}`

func markdownSample(tb testing.TB, e *pdf.Engine, data string, o pdf.RenderOptions) ([]byte, error) {
	tb.Helper()
	plan, err := e.Compile(tb.Context(), pdf.Source{File: "t.yaml", Text: []byte(markdownTemplate)})
	if err != nil {
		tb.Fatal(err)
	}
	var out bytes.Buffer
	_, err = e.Render(tb.Context(), &out, plan, template.JSON([]byte(data)), o)
	return out.Bytes(), err
}

// TestMarkdownIsTypesetAndTagged: the parts of a text become elements, and what the data put into
// a text of the template is no markup.
func TestMarkdownIsTypesetAndTagged(t *testing.T) {
	body, err := markdownSample(t, newEngine(t, pdf.Config{}), markdownData, pdf.RenderOptions{Standards: compliant, Time: frozen})
	if err != nil {
		t.Fatal(err)
	}
	file := pdftest.Write(t, "minutes.pdf", body)
	tree := pdftest.StructText(t, file)
	for _, want := range []string{"Present", "nearly", "Money", "<b>raw</b>", "A*B*", "Rent", "stop()"} {
		if !strings.Contains(tree, want) {
			t.Errorf("the structure has no %q:\n%s", want, tree)
		}
	}
	for _, element := range []string{"H1", "H2", "L ", "LI", "Table", "TH", "Link", "Span", "Code"} {
		if !strings.Contains(tree, element) {
			t.Errorf("the structure has no element %s:\n%s", element, tree)
		}
	}
}

func TestMarkdownOfDataIsJudged(t *testing.T) {
	_, err := markdownSample(t, newEngine(t, pdf.Config{}), `{"who": "", "notes": "[a](javascript:x)"}`, pdf.RenderOptions{})
	de, ok := errors.AsType[*pdf.DiagnosticError](err)
	if !ok || len(de.Diagnostics) != 1 {
		t.Fatal(err)
	}
	if d := de.Diagnostics[0]; d.DataPath != "notes" || d.Path != "body[1].markdown" || d.Line != 8 || !strings.Contains(d.Message, "is not a valid link") {
		t.Errorf("%+v", d)
	}
	e := newEngine(t, pdf.Config{})
	for body, want := range map[string]string{
		`{markdown: "[a](ftp:x)"}`:           `"ftp:x" is not a valid link`,
		`{markdown: ""}`:                     "the text is empty",
		`{markdown: a, keep-together: true}`: "changes nothing of markdown",
		`{markdown: a, level: 12}`:           "12",
	} {
		_, err := e.Compile(t.Context(), pdf.Source{File: "t.yaml", Text: []byte("quire: 1\nname: n\nlang: en\ntitle: T\nbody:\n  - " + body + "\n")})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", body, err)
		}
	}
}

// TestMarkdownInGo: what a template makes of a text a Builder sets, too.
func TestMarkdownInGo(t *testing.T) {
	t.Parallel()
	e := newEngine(t, pdf.Config{})
	const text = "# Present\n\nAll, *nearly*, [see](https://example.com/).\n\n1. Money\n   - in\n   - out\n2. Time\n\n| a | b |\n|---|--:|\n| c | 1 |\n"
	style := doc.ThemeBase()
	build := func(b *doc.Builder) error {
		nodes, err := pdf.Markdown(text, &style, 2)
		if err != nil {
			return err
		}
		b.Title("Minutes").Lang("en").Style(&style).Theme(doc.DefaultTheme(style)).Heading(1, "Minutes").Add(nodes...)
		return nil
	}
	built, _ := render(t, e, pdf.RenderOptions{Standards: compliant, Time: frozen}, build)
	written, err := renderText(t, e, "quire: 1\nname: x\nlang: en\ntitle: Minutes\nstandard: [pdf/a-4, pdf/ua-2]\npage: {margin: 20mm}\ndata: {notes: string}\nbody: [{heading: Minutes}, {markdown: \"${notes}\", level: 2}]\n", `{"notes": `+strconv.Quote(text)+`}`)
	if err != nil {
		t.Fatal(err)
	}
	a, b := pdftest.Text(t, pdftest.Write(t, "built.pdf", built)), pdftest.Text(t, pdftest.Write(t, "written.pdf", written))
	tags := func(body []byte) string {
		return strings.Join(regexp.MustCompile(`/S/\w+`).FindAllString(unpack(t, body), -1), "")
	}
	if a != b || tags(built) != tags(written) || !strings.Contains(a, "Money") || strings.Count(unpack(t, built), "/Subtype/Link") != 1 {
		t.Errorf("built:\n%s\n%s\nwritten:\n%s\n%s", a, tags(built), b, tags(written))
	}
	for _, bad := range []string{strings.Repeat("x", 2<<20), "[this](file:///etc/passwd)", strings.Repeat("> ", 500) + "deep"} {
		if _, err := pdf.Markdown(bad, nil, 1); err == nil {
			t.Errorf("%.30q was set", bad)
		}
	}
}
