package compile

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"example.com/quire/pdf/internal/compile/exprlang"
	"example.com/quire/pdf/internal/compile/locale"
	"example.com/quire/pdf/standard"
)

// TestReferenceNamesTheWholeLanguage: docs/templates.md names every kind, key, choice, function,
// type, unit, page size, locale, style and pattern letter that the compiler knows, and no kind,
// key of every block, style key or function that it does not know.
func TestReferenceNamesTheWholeLanguage(t *testing.T) {
	page, err := os.ReadFile("../../../docs/templates.md")
	if err != nil {
		t.Fatal(err)
	}
	_, text, ok := strings.Cut(string(page), "\n## Reference\n")
	if !ok {
		t.Fatal("docs/templates.md has no section Reference")
	}
	text = regexp.MustCompile("(?s)```.*?```").ReplaceAllString(text, "")
	named := map[string]bool{}
	for _, code := range regexp.MustCompile("`[^`]+`").FindAllString(text, -1) {
		for _, word := range regexp.MustCompile(`[A-Za-z0-9][A-Za-z0-9./-]*`).FindAllString(code, -1) {
			named[word] = true
		}
	}
	want := func(what string, words ...string) {
		t.Helper()
		if len(words) == 0 {
			t.Errorf("no %s was found in the compiler", what)
		}
		for _, w := range words {
			if !named[w] {
				t.Errorf("docs/templates.md, Reference: the %s `%s` is missing", what, w)
			}
		}
	}
	var all, sizes, letters []string
	for _, k := range kinds() {
		all = append(all, k.name)
	}
	for _, p := range papers() {
		sizes = append(sizes, p.name)
	}
	for c := 'A'; c <= 'z'; c++ {
		if p, err := locale.ParsePattern(string(c)); err == nil && (p.HasDate() || p.HasTime()) {
			letters = append(letters, string(c))
		}
	}
	keys, choices := literals(t)
	want("kind of block", all...)
	want("key", keys...)
	want("choice", choices...)
	want("key of every block", commonNames...)
	want("style key", styleKeys...)
	for name, m := range language() {
		if len(m.keys) > 0 {
			want("key of "+name, m.names()...)
		}
	}
	want("standard", standard.Names()...)
	want("function", exprlang.FunctionNames()...)
	want("type", exprlang.BasicNames()...)
	want("unit", unitNames...)
	want("page size", sizes...)
	want("locale", locale.Tags()...)
	want("style of dates", locale.Styles[:]...)
	want("letter of date patterns", letters...)

	for section, known := range map[string][]string{
		"Style keys":          append([]string{"extends"}, styleKeys...),
		"Keys of every block": append([]string{"if"}, commonNames...),
		"Kinds of blocks":     append([]string{"for", "if", "do"}, all...),
		"Functions":           exprlang.FunctionNames(),
	} {
		_, part, _ := strings.Cut(text, "\n### "+section+"\n")
		part, _, _ = strings.Cut(part, "\n### ")
		rows := regexp.MustCompile("(?m)^\\| (`.+?) \\|").FindAllStringSubmatch(part, -1)
		if len(rows) < 5 {
			t.Errorf("section %s has %d rows", section, len(rows))
		}
		for _, row := range rows {
			for _, m := range regexp.MustCompile("`([A-Za-z-]+)").FindAllStringSubmatch(row[1], -1) {
				if !slices.Contains(known, m[1]) {
					t.Errorf("docs/templates.md, %s: the compiler knows no `%s`", section, m[1])
				}
			}
		}
	}
}

// literals returns the texts that the compiler's source asks mappings for as keys, and those
// that it offers as choices.
func literals(t *testing.T) (keys, choices []string) {
	t.Helper()
	inspect(t, func(n ast.Node) {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return
		}
		switch called(call) {
		case "get", "need":
			keys = append(keys, texts(t, call.Args)...)
		case "mayHave", "mustHave":
			keys = append(keys, texts(t, call.Args[1:2])...)
		}
		choices = append(choices, offers(t, call)...)
	})
	return keys, choices
}

// offers are the words of which a call lets authors choose.
func offers(t *testing.T, call *ast.CallExpr) []string {
	t.Helper()
	switch called(call) {
	case "choice":
		return texts(t, call.Args[min(2, len(call.Args)):])
	case "oneOf":
		return texts(t, call.Args[1:])
	}
	return nil
}

// called is the name of the function or method of a call.
func called(call *ast.CallExpr) string {
	switch f := call.Fun.(type) {
	case *ast.SelectorExpr:
		return f.Sel.Name
	case *ast.IndexExpr:
		return called(&ast.CallExpr{Fun: f.X})
	case *ast.Ident:
		return f.Name
	}
	return ""
}

// inspect walks the compiler's source.
func inspect(t *testing.T, f func(ast.Node)) {
	t.Helper()
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		tree, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(tree, func(n ast.Node) bool {
			f(n)
			return true
		})
	}
}

func texts(t *testing.T, list []ast.Expr) []string {
	t.Helper()
	var out []string
	for _, e := range list {
		if lit, ok := e.(*ast.BasicLit); ok && lit.Kind == token.STRING {
			s, err := strconv.Unquote(lit.Value)
			if err != nil {
				t.Fatal(err)
			}
			out = append(out, s)
		}
	}
	return out
}
