package doc_test

import (
	"reflect"
	"testing"

	"example.com/quire/pdf/doc"
)

// TestBuilderSetsEveryFieldOfADocument: what a template can say, a program can.
func TestBuilderSetsEveryFieldOfADocument(t *testing.T) {
	b := doc.NewBuilder().
		Title("Title").Lang("en").DecimalSign(",").References().
		Meta(doc.Meta{Author: "Author"}).
		Page(doc.Master{Width: doc.MM(100), Height: doc.MM(100)}).
		Style(&doc.Style{Size: 9 * doc.Pt}).
		Fonts(doc.NewFonts(doc.FontOptions{})).
		Theme(doc.DefaultTheme(doc.Style{Size: 9 * doc.Pt})).
		Header(doc.Running{All: []doc.Node{&doc.Rule{}}}).
		Footer(doc.Running{Odd: []doc.Node{&doc.Rule{}}}).
		Background(doc.Running{First: []doc.Node{&doc.Rule{}}}).
		Sign(doc.Signing{Signer: "broker"}).
		Protect(doc.Protection{Owner: "o"}).
		Watermark(doc.Watermark{Text: "Draft"}).
		Viewer(doc.Viewer{HideToolbar: true}).
		Attach(doc.Attachment{Name: "a.txt"}).
		Outline(doc.OutlineItem{Title: "Part"}).OutlineLevels(2).NumberHeadings(2).
		Footnotes(doc.Footnotes{Restart: doc.RestartPage}).
		Rule()
	// Whoever builds a document in Go names its file: FileName is what a template says.
	d := reflect.ValueOf(b.Document()).Elem()
	for field, v := range d.Fields() {
		if field.Name != "FileName" && v.IsZero() {
			t.Errorf("%s is not set", field.Name)
		}
	}
}
