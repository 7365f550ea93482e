//go:build !race

package arch_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"strings"
	"testing"
	"unicode/utf8"
)

// commentColumns is the width of a comment's line; a tab is four columns.
const commentColumns = 100

// TestCommentsHaveOneWidth: lines of comments end before column 101, but for text that is
// preformatted and for what an example prints.
func TestCommentsHaveOneWidth(t *testing.T) {
	fset := token.NewFileSet()
	tree := os.DirFS("../..")
	err := fs.WalkDir(tree, ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "testdata" || len(d.Name()) > 1 && d.Name()[0] == '.'):
			return fs.SkipDir
		case d.IsDir() || path.Ext(name) != ".go":
			return nil
		}
		src, err := fs.ReadFile(tree, name)
		if err != nil {
			return err
		}
		f, err := parser.ParseFile(fset, name, src, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		if !ast.IsGenerated(f) {
			for _, l := range wideComments(fset, f, string(src)) {
				t.Errorf("%s:%d: a comment of more than %d columns", name, l, commentColumns)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestWideCommentIsFound: the judge of widths can fail.
func TestWideCommentIsFound(t *testing.T) {
	wide := "// " + strings.Repeat("word ", 20)
	src := "package p\n\n" + wide + "\nvar a int\n\n//\t" + wide + "\nvar b int\n\nfunc f() {\n\t// Output:\n\t" + wide + "\n}\n"
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, "p.go", src, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	if got := wideComments(fset, f, src); len(got) != 1 || got[0] != 3 {
		t.Errorf("lines %v, want 3 alone", got)
	}
}

// wideComments returns the lines of src that hold nothing but a comment that is too wide.
func wideComments(fset *token.FileSet, f *ast.File, src string) (wide []int) {
	lines := strings.Split(src, "\n")
	for _, g := range f.Comments {
		if strings.HasPrefix(g.Text(), "Output:") || strings.HasPrefix(g.Text(), "Unordered output:") {
			continue
		}
		for _, c := range g.List {
			l := fset.Position(c.Pos()).Line
			text := strings.TrimLeft(lines[l-1], "\t")
			indent := len(lines[l-1]) - len(text)
			if strings.HasPrefix(text, "// ") && utf8.RuneCountInString(text)+4*indent > commentColumns {
				wide = append(wide, l)
			}
		}
	}
	return wide
}
