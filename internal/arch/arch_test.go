package arch_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestImportRules lists every broken rule of the tree at once.
func TestImportRules(t *testing.T) {
	leaves := readLeaves(t, "leaves.txt")
	pkgs, fset, imp := load(t)
	broken := importRules(pkgs, leaves)
	broken = append(broken, staleLeaves(pkgs, leaves)...)
	position := func(p token.Pos) string {
		pos := fset.Position(p)
		return fmt.Sprintf("%s:%d", pos.Filename, pos.Line)
	}
	for _, p := range pkgs {
		broken = append(broken, stateRules(p, position)...)
		if _, ok := leaves[p.Path]; ok {
			broken = append(broken, foreignTypes(p, adapterModule(p.Path))...)
		}
	}
	for _, b := range broken {
		t.Error(b)
	}
	t.Run("state can fail", func(t *testing.T) { stateCanFail(t, fset, imp) })
}

// adapterModule names the module a leaf is named after: such a leaf may show that module's types.
func adapterModule(p string) string {
	switch {
	case strings.HasSuffix(p, "prom"):
		return "github.com/prometheus"
	default:
		return ""
	}
}

// TestRulesCanFail breaks each rule once in a made-up tree: a judge that cannot fail proves
// nothing.
func TestRulesCanFail(t *testing.T) {
	const foreign = "github.com/x/y"
	ok := []pkg{
		{Path: "web", Imports: []string{"net/http", "internal/nearest"}},
		{Path: "internal/nearest", Imports: []string{"strings"}},
		{Path: "cache", Imports: []string{"sync"}},
		{Path: "internal/record", Imports: []string{"context", "internal/nearest"}},
		{Path: "internal/store", Imports: []string{"internal/record", "internal/nearest", foreign}},
		{Path: "web/webtest", Imports: []string{"web"}},
		{Path: "internal/cli", Imports: []string{"internal/record"}},
		{Path: "internal/config"},
		{Path: "cmd/quire", Imports: []string{"internal/cli", "internal/config"}},
	}
	leaves := map[string][]string{"internal/store": {foreign}}
	if got := importRules(ok, leaves); len(got) != 0 {
		t.Fatalf("a tree in order breaks %q", got)
	}
	for _, tt := range []struct{ name, path, imp, want string }{
		{"library imports library", "web", "cache", "rule 1: library web imports library cache"},
		{"library imports internal", "web", "internal/record", "rule 1: library package web imports internal/record"},
		{"shared leaf imports ours", "internal/nearest", "internal/record", "rule 1: shared leaf internal/nearest imports internal/record"},
		{"module without a leaf", "cache", foreign + "/z", "rule 2: cache imports github.com/x/y/z"},
		{"domain imports an adapter", "internal/record", "internal/store", "rule 3: internal/record imports internal/store"},
		{"adapter imports a package of app's", "internal/store", "internal/cli", "rule 3: adapter internal/store imports internal/cli"},
		{"production imports a test kit", "internal/cli", "web/webtest", "rule 4: production package internal/cli"},
		{"main imports the domain", "cmd/quire", "internal/record", "rule 5: cmd/quire imports internal/record"},
		{"a package without an idea", "internal/helpers", "sync", "rule 5: internal/helpers"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tree := append([]pkg{{Path: tt.path, Imports: []string{tt.imp}}}, ok...)
			got := strings.Join(importRules(tree, leaves), "\n")
			if !strings.Contains(got, tt.want) {
				t.Errorf("broken rules %q, want one that contains %q", got, tt.want)
			}
		})
	}
	t.Run("leaf that is no longer needed", func(t *testing.T) {
		got := staleLeaves(ok, map[string][]string{"cache": {foreign}})
		if len(got) != 1 {
			t.Errorf("stale leaves %q, want one", got)
		}
	})
	t.Run("foreign type", func(t *testing.T) {
		alien := types.NewPackage(foreign, "y")
		named := types.NewNamed(types.NewTypeName(token.NoPos, alien, "Alien", nil), types.NewStruct(nil, nil), nil)
		home := types.NewPackage(module+"/web", "web")
		sig := types.NewSignatureType(nil, nil, nil, types.NewTuple(types.NewVar(token.NoPos, home, "a", types.NewPointer(named))), nil, false)
		home.Scope().Insert(types.NewFunc(token.NoPos, home, "Take", sig))
		if got := foreignTypes(pkg{Path: "web", Types: home}, ""); len(got) != 1 {
			t.Errorf("foreign types %q, want one", got)
		}
		if got := foreignTypes(pkg{Path: "web", Types: home}, foreign); len(got) != 0 {
			t.Errorf("an adapter's own types are refused: %q", got)
		}
	})
}

// stateCanFail breaks the rules about state in a made-up file, which needs the types of the
// standard library.
func stateCanFail(t *testing.T, fset *token.FileSet, imp types.Importer) {
	t.Helper()
	const src = `package p
import ("sync"; "net/http")
var counter int
var table = map[string]int{"a": 1}
var mu sync.Mutex
var pool sync.Pool
var errSentinel = http.ErrAbortHandler
func init() {}
func f() { counter++; table["b"] = 2; local := 1; local++; _, _ = local, errSentinel; http.DefaultClient = nil }
`
	f, err := parser.ParseFile(fset, "p.go", src, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	p := pkg{Path: "p", Files: []*ast.File{f}}
	check(t, &p, fset, imp)
	got := strings.Join(stateRules(p, func(token.Pos) string { return "p.go" }), "\n")
	for _, want := range []string{"init function", "variable mu is", "variable counter", "variable table", "variable DefaultClient"} {
		if !strings.Contains(got, want) {
			t.Errorf("broken rules %q, want %q among them", got, want)
		}
	}
	for _, not := range []string{"pool", "errSentinel", "local"} {
		if strings.Contains(got, not) {
			t.Errorf("broken rules %q accuse %q", got, not)
		}
	}
}

func readLeaves(t *testing.T, name string) map[string][]string {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	leaves := map[string][]string{}
	s := bufio.NewScanner(bytes.NewReader(b))
	for s.Scan() {
		line, _, _ := strings.Cut(s.Text(), "#")
		if f := strings.Fields(line); len(f) > 1 {
			leaves[f[0]] = f[1:]
		}
	}
	return leaves
}

// load reads every package of the module with its types, which come from the compiler's export
// data: that of a build with the flags of GOFLAGS, which is there already in a run of the whole
// suite.
func load(t *testing.T) ([]pkg, *token.FileSet, types.Importer) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", "list", "-deps", "-export", "-json=ImportPath,Name,Dir,GoFiles,Imports,Export,Standard,Module", "./...")
	cmd.Dir = filepath.Join("..", "..")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v\n%s", err, stderr.Bytes())
	}
	type listed struct {
		ImportPath, Name, Dir, Export string
		GoFiles, Imports              []string
		Standard                      bool
		Module                        *struct{ Path string }
	}
	exports := map[string]string{}
	var mine []listed
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var l listed
		if err := dec.Decode(&l); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		exports[l.ImportPath] = l.Export
		if l.Module != nil && l.Module.Path == module {
			mine = append(mine, l)
		}
	}
	fset := token.NewFileSet()
	imp := importer.ForCompiler(fset, "gc", func(path string) (io.ReadCloser, error) {
		f, ok := exports[path]
		if !ok || f == "" {
			return nil, fmt.Errorf("no export data for %s", path)
		}
		return os.Open(f)
	})
	var pkgs []pkg
	for _, l := range mine {
		p := pkg{Path: strings.TrimPrefix(l.ImportPath, module+"/"), Name: l.Name}
		for _, i := range l.Imports {
			p.Imports = append(p.Imports, strings.TrimPrefix(i, module+"/"))
		}
		for _, name := range l.GoFiles {
			f, err := parser.ParseFile(fset, filepath.Join(l.Dir, name), nil, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			p.Files = append(p.Files, f)
		}
		check(t, &p, fset, imp)
		pkgs = append(pkgs, p)
	}
	if len(pkgs) == 0 {
		t.Fatal("go list found no package of the module")
	}
	return pkgs, fset, imp
}

func check(t *testing.T, p *pkg, fset *token.FileSet, imp types.Importer) {
	t.Helper()
	p.Info = &types.Info{Uses: map[*ast.Ident]types.Object{}, Defs: map[*ast.Ident]types.Object{}}
	conf := types.Config{Importer: imp}
	tp, err := conf.Check(p.Path, fset, p.Files, p.Info)
	if err != nil {
		t.Fatalf("%s: %v", p.Path, err)
	}
	p.Types = tp
}
