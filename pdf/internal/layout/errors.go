package layout

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"example.com/quire/pdf/doc"
	"example.com/quire/pdf/font"
	"example.com/quire/pdf/internal/diag"
	"example.com/quire/pdf/internal/text"
)

// The codes of layout:
//
//	L301 does not fit on an empty page
//	L302 a single character is wider than its line
//	L303 table rows are not regular: spans that overlap, too many or too few cells
//	L304 warning: an image is wider than its place and was made smaller
//	L305 a page break where no page can end
//	L306 fixed widths are more than the width there is
//	L307 an image that cannot be read
//	L308 a link to an anchor that is not in the document
//	L309 running content grew beyond the place kept for it
//	L311 an anchor given twice
//	L312 a figure that is wider than its place
//	X314 an image beyond a limit
//	F401 no glyph for a character
//	F402 a script that is not supported
//	F404 a combining mark that no font gives a place
//	F403 no such font family, weight or slope
func at(src *doc.Source, code, format string, args ...any) diag.Diagnostic {
	d := diag.Diagnostic{Code: code, Message: fmt.Sprintf(format, args...)}
	if src != nil {
		d.File, d.Line, d.Col, d.Path = src.File, src.Line, src.Col, src.Path
	}
	return d
}

func failed(ds ...diag.Diagnostic) error { return &diag.DiagnosticError{Diagnostics: ds} }

// imageError puts an error of an image at its place. A context that has ended is no fault of the
// image, but when it ended the wait for memory, which is a limit.
func imageError(err error, n *doc.Image) error {
	code := "L307"
	switch {
	case errors.Is(err, diag.ErrLimit):
		code = "X314"
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return err
	}
	return failed(at(n.Src, code, "image %s: %s", n.Name, err))
}

// fontError puts an error of the font layer at its place.
func (m *maker) fontError(err error, src *doc.Source) error {
	d := at(src, "F403", "%s", err)
	if family, ok := errors.AsType[*font.FamilyError](err); ok {
		d.Message = fmt.Sprintf("no font family %q", family.Family)
		d.Suggestion = "there are " + strings.Join(family.Known, ", ")
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

// setError puts an error of line breaking at its place.
func (m *maker) setError(err error, src *doc.Source, en env) error {
	var (
		glyph  *text.MissingGlyphError
		mark   *text.MarkError
		script *text.ScriptError
		narrow *text.NarrowError
		figure *text.FigureError
	)
	switch {
	case errors.As(err, &glyph):
		d := at(src, "F401", "no glyph for U+%04X in %s", glyph.Rune, diag.Quote(glyph.Text))
		d.Suggestion = "tried " + strings.Join(glyph.Fonts, ", ")
		return failed(d)
	case errors.As(err, &mark):
		d := at(src, "F404", "%s", err)
		d.Suggestion = "set the text in a font that has anchors for the mark"
		return failed(d)
	case errors.As(err, &script):
		return failed(at(src, "F402", "%s", script))
	case errors.As(err, &narrow):
		return failed(at(src, "L302", "%s", narrow))
	case errors.As(err, &figure):
		return failed(m.figureError(figure, src, en))
	}
	return err
}

// codeFigure is the code of figureError.
const codeFigure = "L312"

// figureError says what a figure needs in the terms of the template: as the
// width of the column or cell that it stands in.
func (m *maker) figureError(e *text.FigureError, src *doc.Source, en env) diag.Diagnostic {
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
	if m.dataPath != nil {
		d.DataPath = m.dataPath(src, e.Text)
	}
	return d
}

// tenths returns l in tenths of a millimetre, of which round/Inch are added
// before the rest is cut.
func tenths(l, round doc.Length) doc.Length { return (l*254 + round) / doc.Inch }

func tenthsOf(n doc.Length) string { return fmt.Sprintf("%d.%d mm", n/10, n%10) }

// mm prints a length for messages.
func mm(l doc.Length) string {
	return tenthsOf(tenths(l, doc.Inch/2))
}
