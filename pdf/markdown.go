package pdf

import (
	"example.com/quire/pdf/doc"
	"example.com/quire/pdf/internal/compile"
	"example.com/quire/pdf/internal/markdown"
)

// Markdown returns the blocks of a text in CommonMark with tables, for a [doc.Builder], as the
// block `markdown` of a template has them: headings, of which # has a level from 1 to 9,
// paragraphs, lists, quotations, code, tables, links and rules. They are set in a style; nil: the
// zero Style. No file is read: instead of an image its description is printed. Raw HTML is printed
// as it is written. Errors are links that lead elsewhere than to the web, to mail, to a telephone
// or into the document, texts of more than 1 MiB, and blocks that are nested too deep.
func Markdown(text string, style *doc.Style, level int) ([]doc.Node, error) {
	if style == nil {
		style = &doc.Style{}
	}
	return markdown.Nodes(text, markdown.Options{Text: style, Level: min(max(level, 1), 9), Link: compile.MayLead})
}
