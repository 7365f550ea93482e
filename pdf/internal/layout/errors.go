package layout

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"example.com/quire/internal/nearest"
	"example.com/quire/pdf/doc"
	"example.com/quire/pdf/font"
	"example.com/quire/pdf/internal/diag"
	"example.com/quire/pdf/internal/svg"
	"example.com/quire/pdf/internal/text"
)

// The codes of layout:
//
//	L301 does not fit on an empty page
//	L302 a single character is wider than its line
//	L303 table rows are not regular: spans that overlap, too many or too few cells
//	L304 warning: an image is wider than its place and was made smaller
//	L305 a page break where no page can end, or something in an artifact that must not be one
//	L306 fixed widths are more than the width there is
//	L307 an image that cannot be read
//	L308 a link to an anchor that is not in the document
//	L309 running content grew beyond the place kept for it
//	L311 an anchor given twice
//	L312 a figure that is wider than its place
//	L314 an SVG image with a script, an entity or a reference beyond itself
//	L315 warning: something in an SVG image that is not drawn
//	L313 a barcode that cannot be made of its value, or is wider than its place
//	L316 warning: numbers of pages did not settle, or an error: they are asked for without References
//	L317 a place beyond the sheet, or one that its content does not fit
//	L318 a footnote where none can stand
//	L319 a table of contents that takes more pages than are reserved for it
//	L320 a text of more lines than it may have
//	L321 a form field that cannot be
//	L322 warning: a value that its form field cuts off
//	L323 an ID given twice, or that of what is no element
//	L324 headers of a cell that are no header cells of its table
//	L325 a place that is not in the height of its box
//	X314 an image beyond a limit
//	F401 no glyph for a character
//	F402 a script that is not supported
//	F404 a combining mark that no font gives a place
//	F403 no such font family, weight or slope
//	F406 a font whose tables lead nowhere
func at(src *doc.Source, code, format string, args ...any) diag.Diagnostic {
	d := diag.Diagnostic{Code: code, Message: fmt.Sprintf(format, args...)}
	if src != nil {
		d.File, d.Line, d.Col, d.Path = src.File, src.Line, src.Col, src.Path
	}
	return d
}

// position is where a source stands, as messages have it.
func position(src *doc.Source) string { return fmt.Sprintf("%s:%d:%d", src.File, src.Line, src.Col) }

func failed(d diag.Diagnostic) error { return diag.Fail(d) }

// maxProblems is the number of problems of one document that are told; more are counted.
const maxProblems = 20

// survive takes note of problems after which layout can go on, to find the others: the document
// is not made, but its author learns of them all. It returns the errors after which it cannot:
// those of limits, of the context and the sink.
func (m *maker) survive(err error) error {
	de, ok := errors.AsType[*diag.DiagnosticError](err)
	if !ok {
		return err
	}
	for _, d := range de.Diagnostics {
		if d.Kind == diag.KindLimit {
			return err
		}
	}
	for _, d := range de.Diagnostics {
		switch {
		case slices.Contains(m.problems, d): // of a head or a footer that is repeated
		case len(m.problems) == maxProblems:
			m.omitted++
		default:
			m.problems = append(m.problems, d)
		}
	}
	return nil
}

// fail is survive where no error can be returned: what layout cannot survive ends it at the next
// block.
func (m *maker) fail(err error) {
	if err = m.survive(err); err != nil && m.failed == nil {
		m.failed = err
	}
}

// ended is the error that ends the layout.
func (m *maker) ended() error {
	if m.failed != nil {
		return m.failed
	}
	return m.ctx.Err()
}

// outcome joins the problems that were noted with the error that ended the layout, if one did. An
// error that is no problem of the document, such as that of the context, stands alone.
func (m *maker) outcome(err error) error {
	if len(m.problems) == 0 {
		return err
	}
	if err != nil {
		de, ok := errors.AsType[*diag.DiagnosticError](err)
		if !ok {
			return err
		}
		m.problems = append(m.problems, de.Diagnostics...)
	}
	return &diag.DiagnosticError{Diagnostics: m.problems, Omitted: m.omitted}
}

// imageError puts an error of an image at its place. A context that has ended is no fault of the
// image, but when it ended the wait for memory, which is a limit.
func (m *maker) imageError(err error, n *doc.Image) error {
	if fault, ok := errors.AsType[*svg.Error](err); ok {
		d := at(n.Src, "L307", "image %s:%s", n.Name, fault)
		if fault.Refused {
			d.Code, d.Message = "L314", fmt.Sprintf("image %s:%s has no place in a drawing", n.Name, fault)
		}
		d.Suggestion = fault.Remedy
		return failed(d)
	}
	code := "L307"
	switch {
	case errors.Is(err, diag.ErrLimit):
		code = "X314"
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return err
	}
	if e := m.setError(err, n.Src, env{}, nil); !errors.Is(e, err) {
		return e
	}
	return failed(at(n.Src, code, "image %s: %s", n.Name, err))
}

// fontError puts an error of the font layer at its place.
func (m *maker) fontError(err error, src *doc.Source) error {
	d := at(src, "F403", "%s", strings.ReplaceAll(err.Error(), "font: ", ""))
	if family, ok := errors.AsType[*font.FamilyError](err); ok {
		d.Message = fmt.Sprintf("no font family %q", family.Family)
		d.Suggestion = "there are " + strings.Join(family.Known, ", ")
	}
	if feature, ok := errors.AsType[*text.FeatureError](err); ok {
		d.Code, d.Message = "F405", feature.Error()
		switch hint := nearest.Name(feature.Tag, feature.Known); {
		case hint != "":
			d.Suggestion = hint
		case len(feature.Known) > 0:
			d.Suggestion = "it has " + strings.Join(feature.Known, ", ")
		}
	}
	return failed(d)
}

func (m *maker) noStyle(q text.Query, match font.Match, src *doc.Source) error {
	what := "bold"
	if match.NoItalic {
		what = "italic"
	}
	return failed(at(src, "F403", "font family %q has no %s face", q.Family, what))
}

// setError puts an error of line breaking at its place, in the template and in the data that spans
// come from.
func (m *maker) setError(err error, src *doc.Source, en env, spans []doc.Span) error {
	var (
		glyph  *text.MissingGlyphError
		mark   *text.MarkError
		script *text.ScriptError
		shape  *text.ShapeError
		narrow *text.NarrowError
		figure *text.FigureError
	)
	switch {
	case errors.As(err, &glyph):
		d := at(src, "F401", "no glyph for U+%04X in %s", glyph.Rune, diag.Quote(glyph.Text))
		d.Suggestion = "tried " + strings.Join(glyph.Fonts, ", ") + "; add a font that has it, under fonts"
		d.DataPath = dataPath(spans, string(glyph.Rune))
		return failed(d)
	case errors.As(err, &mark):
		d := at(src, "F404", "%s", err)
		d.Suggestion = "set the text in a font that has anchors for the mark"
		d.DataPath = dataPath(spans, mark.Cluster)
		return failed(d)
	case errors.As(err, &script):
		d := at(src, "F402", "%s", script)
		d.DataPath = dataPath(spans, string(script.Rune))
		return failed(d)
	case errors.As(err, &shape):
		d := at(src, "F406", "%s", shape)
		d.DataPath = dataPath(spans, shape.Text)
		return failed(d)
	case errors.As(err, &narrow):
		d := at(src, "L302", "%s", narrow)
		d.Suggestion = "give it more room or print it smaller"
		d.DataPath = dataPath(spans, narrow.Text)
		return failed(d)
	case errors.As(err, &figure):
		d := figureError(figure, src, en)
		d.DataPath = dataPath(spans, figure.Text)
		return failed(d)
	case errors.Is(err, diag.ErrFont):
		return m.fontError(err, src) // a font of the fallback, which is read when it is needed
	}
	return err
}

// dataPath names the value of the data that printed text, if one of spans is made of data and has
// it; a figure may be of a value and of signs around it.
func dataPath(spans []doc.Span, text string) string {
	for i := range spans {
		s := &spans[i]
		if s.Kind == doc.SpanText && s.From.Frame != nil && (strings.Contains(s.Text, text) || s.Figure && strings.Contains(text, s.Text)) {
			return s.From.Frame.DataPath(s.From.Part, s.Text, text)
		}
	}
	return ""
}

// The codes of form fields.
const (
	codeField  = "L321"
	codeCutOff = "L322"
)

// codeBarcode is the code of what is wrong with a barcode.
const codeBarcode = "L313"

// codeFigure is the code of figureError.
const codeFigure = "L312"

// figureError says what a figure needs in the terms of the template: as the
// width of the column or cell that it stands in.
func figureError(e *text.FigureError, src *doc.Source, en env) diag.Diagnostic {
	need := tenths(e.Need+en.around, doc.Inch-1)
	has := min(tenths(e.Width+en.around, doc.Inch/2), need-1)
	room, remedy := "its place has", "give it more room"
	if en.room != "" {
		room, remedy = en.room+" has", "widen "+en.room
	}
	if en.room == manyColumns {
		room = en.room + " have"
	}
	d := at(src, codeFigure, "the figure %s needs %s, %s %s", diag.Quote(e.Text), tenthsOf(need), room, tenthsOf(has))
	d.Suggestion = remedy + " or print it smaller"
	return d
}

// tenths returns l in tenths of a millimetre, of which round/Inch are added
// before the rest is cut.
func tenths(l, round doc.Length) doc.Length { return (l*254 + round) / doc.Inch }

func tenthsOf(n doc.Length) string {
	sign := ""
	if n < 0 {
		sign, n = "-", -n
	}
	return fmt.Sprintf("%s%d.%d mm", sign, n/10, n%10)
}

// mm prints a length for messages.
func mm(l doc.Length) string {
	return tenthsOf(tenths(l, doc.Inch/2))
}

func warning(d diag.Diagnostic) diag.Diagnostic {
	d.Severity = diag.SeverityWarning
	return d
}

// neverArtifact is the error of what stands in an artifact and must not: links (ISO 14289-2,
// 8.2.5.20) and what they lead to or from, and form fields.
func neverArtifact(what string, src *doc.Source) error {
	return failed(at(src, "L305", "%s is never an artifact", what))
}
