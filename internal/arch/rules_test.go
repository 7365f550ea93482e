package arch_test

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"path"
	"slices"
	"strings"
)

const module = "example.com/quire"

// libraries are the six that stand alone.
var libraries = []string{"web", "fetch", "cache", "pdf", "psrp", "shadow"}

// shared are the leaves that all may import, the libraries too. They import nothing of ours.
var shared = []string{"internal/httpfield", "internal/nearest", "internal/route", "internal/strictjson", "internal/strictyaml"}

// adapters are the packages that record declares interfaces for. They know record and never one
// another.
var adapters = []string{"internal/blob", "internal/collect", "internal/render", "internal/store"}

// pkg is what the rules need to know of one package. Paths below the module are relative to it.
type pkg struct {
	Path    string   // "web/middleware"
	Name    string   // "middleware"
	Imports []string // of its non-test files: "web" for ours, "net/http", "github.com/a/b/c"
	Files   []*ast.File
	Types   *types.Package
	Info    *types.Info
}

// under reports whether p is dir or lies below it.
func under(p, dir string) bool { return p == dir || strings.HasPrefix(p, dir+"/") }

// libraryOf returns the library a package belongs to, or "".
func libraryOf(p string) string {
	for _, l := range libraries {
		if under(p, l) {
			return l
		}
	}
	return ""
}

// thirdParty reports whether an import path is neither ours nor the standard library's:
// the first element of a module's path has a dot.
func thirdParty(imp string) bool {
	first, _, _ := strings.Cut(imp, "/")
	return strings.Contains(first, ".") && !under(imp, module)
}

func ours(imp string, all map[string]bool) bool { return all[imp] }

// importRules checks rules 1 to 5 of ARCHITECTURE.md as far as imports and names tell.
func importRules(pkgs []pkg, leaves map[string][]string) []string {
	var broken []string
	fail := func(format string, a ...any) { broken = append(broken, fmt.Sprintf(format, a...)) }
	all := map[string]bool{}
	for _, p := range pkgs {
		all[p.Path] = true
	}
	for _, p := range pkgs {
		for _, imp := range p.Imports {
			if lib := libraryOf(p.Path); lib != "" && ours(imp, all) {
				if other := libraryOf(imp); other != "" && other != lib {
					fail("rule 1: library %s imports library %s (%s imports %s)", lib, other, p.Path, imp)
				}
				if under(imp, "internal") && !slices.Contains(shared, imp) {
					fail("rule 1: library package %s imports %s", p.Path, imp)
				}
			}
			if slices.Contains(shared, p.Path) && ours(imp, all) {
				fail("rule 1: shared leaf %s imports %s; it imports nothing of ours", p.Path, imp)
			}
			if thirdParty(imp) && !slices.ContainsFunc(leaves[p.Path], func(m string) bool { return under(imp, m) }) {
				fail("rule 2: %s imports %s, which leaves.txt does not give it", p.Path, imp)
			}
			if p.Path == "internal/record" && (ours(imp, all) && !slices.Contains(shared, imp) || thirdParty(imp)) {
				fail("rule 3: internal/record imports %s; the domain imports the standard library and shared leaves only", imp)
			}
			for _, a := range adapters {
				if under(p.Path, a) && ours(imp, all) && under(imp, "internal") && !under(imp, a) && imp != "internal/record" && !slices.Contains(shared, imp) {
					fail("rule 3: adapter %s imports %s; adapters import record and shared leaves, app wires them", p.Path, imp)
				}
			}
			if ours(imp, all) && testKit(imp) && !testKit(p.Path) {
				fail("rule 4: production package %s imports the test kit %s", p.Path, imp)
			}
			if p.Path == "cmd/quire" && ours(imp, all) && imp != "internal/cli" && imp != "internal/config" {
				fail("rule 5: cmd/quire imports %s; it may import internal/cli and internal/config", imp)
			}
			if p.Path == "cmd/quire" && thirdParty(imp) {
				fail("rule 5: cmd/quire imports %s", imp)
			}
		}
		switch base := path.Base(p.Path); base {
		case "util", "utils", "common", "helper", "helpers", "model", "models", "misc":
			fail("rule 5: %s: a package is named after its idea, not %q", p.Path, base)
		}
	}
	return broken
}

// testKit reports whether a package is a test kit by its name: pdftest, webtest, storetest.
func testKit(p string) bool {
	base := path.Base(p)
	return strings.HasSuffix(base, "test") && base != "test"
}

// staleLeaves lists lines of leaves.txt that nothing needs any more.
func staleLeaves(pkgs []pkg, leaves map[string][]string) []string {
	var stale []string
	for name, mods := range leaves {
		i := slices.IndexFunc(pkgs, func(p pkg) bool { return p.Path == name })
		for _, m := range mods {
			if i < 0 || !slices.ContainsFunc(pkgs[i].Imports, func(imp string) bool { return under(imp, m) }) {
				stale = append(stale, fmt.Sprintf("leaves.txt: %s no longer imports %s", name, m))
			}
		}
	}
	slices.Sort(stale)
	return stale
}

// stateRules checks that there is no init function and no mutable package variable.
func stateRules(p pkg, position func(token.Pos) string) []string {
	var broken []string
	fail := func(at token.Pos, format string, a ...any) {
		broken = append(broken, position(at)+": rule 5: "+fmt.Sprintf(format, a...))
	}
	global := func(e ast.Expr) *types.Var {
		for {
			switch x := e.(type) {
			case *ast.IndexExpr:
				e = x.X
			case *ast.SelectorExpr:
				if id, ok := x.X.(*ast.Ident); ok {
					if _, isPkg := p.Info.Uses[id].(*types.PkgName); isPkg {
						v, _ := p.Info.Uses[x.Sel].(*types.Var)
						return v
					}
				}
				e = x.X
			case *ast.ParenExpr:
				e = x.X
			case *ast.StarExpr:
				e = x.X
			case *ast.Ident:
				v, _ := p.Info.Uses[x].(*types.Var)
				if v != nil && v.Pkg() == p.Types && v.Parent() == p.Types.Scope() {
					return v
				}
				return nil
			default:
				return nil
			}
		}
	}
	for _, f := range p.Files {
		for _, d := range f.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				if d.Recv == nil && d.Name.Name == "init" {
					fail(d.Pos(), "init function; register explicitly, where the program is put together")
				}
			case *ast.GenDecl:
				for _, s := range d.Specs {
					vs, ok := s.(*ast.ValueSpec)
					if !ok || d.Tok != token.VAR {
						continue
					}
					for _, n := range vs.Names {
						if v, ok := p.Info.Defs[n].(*types.Var); ok && lockedState(v.Type()) {
							fail(n.Pos(), "package variable %s is mutable state (%s)", n.Name, v.Type())
						}
					}
				}
			}
		}
		ast.Inspect(f, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.AssignStmt:
				if n.Tok == token.DEFINE {
					return true
				}
				for _, l := range n.Lhs {
					if v := global(l); v != nil {
						fail(l.Pos(), "assignment to package variable %s", v.Name())
					}
				}
			case *ast.IncDecStmt:
				if v := global(n.X); v != nil {
					fail(n.Pos(), "assignment to package variable %s", v.Name())
				}
			}
			return true
		})
	}
	return broken
}

// lockedState reports whether a type is made to be changed after the program has started.
// sync.Pool and sync.Once hold nothing that a caller can observe.
func lockedState(t types.Type) bool {
	n, ok := types.Unalias(t).(*types.Named)
	if !ok || n.Obj().Pkg() == nil {
		return false
	}
	switch n.Obj().Pkg().Path() {
	case "sync":
		return n.Obj().Name() != "Pool" && n.Obj().Name() != "Once"
	case "sync/atomic":
		return true
	}
	return false
}

// foreignTypes lists third-party types in the exported signatures of a package.
func foreignTypes(p pkg, adapterOf string) []string {
	var broken []string
	seen := map[types.Type]bool{}
	var foreign func(t types.Type) string
	foreign = func(t types.Type) string {
		if t == nil || seen[t] {
			return ""
		}
		seen[t] = true
		defer delete(seen, t)
		first := func(ts ...types.Type) string {
			for _, t := range ts {
				if s := foreign(t); s != "" {
					return s
				}
			}
			return ""
		}
		switch t := t.(type) {
		case *types.Alias:
			return foreign(types.Unalias(t))
		case *types.Named:
			if t.Obj().Pkg() != nil && thirdParty(t.Obj().Pkg().Path()) {
				if adapterOf != "" && under(t.Obj().Pkg().Path(), adapterOf) {
					return ""
				}
				return t.String()
			}
			for a := range t.TypeArgs().Types() {
				if s := foreign(a); s != "" {
					return s
				}
			}
			return ""
		case *types.Pointer:
			return foreign(t.Elem())
		case *types.Slice:
			return foreign(t.Elem())
		case *types.Array:
			return foreign(t.Elem())
		case *types.Chan:
			return foreign(t.Elem())
		case *types.Map:
			return first(t.Key(), t.Elem())
		case *types.Signature:
			for v := range t.Params().Variables() {
				if s := foreign(v.Type()); s != "" {
					return s
				}
			}
			for v := range t.Results().Variables() {
				if s := foreign(v.Type()); s != "" {
					return s
				}
			}
		case *types.Struct:
			for f := range t.Fields() {
				if f.Exported() {
					if s := foreign(f.Type()); s != "" {
						return s
					}
				}
			}
		case *types.Interface:
			for m := range t.Methods() {
				if s := foreign(m.Type()); s != "" {
					return s
				}
			}
		}
		return ""
	}
	scope := p.Types.Scope()
	for _, name := range scope.Names() {
		o := scope.Lookup(name)
		if !o.Exported() {
			continue
		}
		t := o.Type()
		if tn, ok := o.(*types.TypeName); ok {
			if n, ok := tn.Type().(*types.Named); ok {
				for m := range n.Methods() {
					if m.Exported() {
						if s := foreign(m.Type()); s != "" {
							broken = append(broken, fmt.Sprintf("rule 2: %s: method %s.%s shows %s", p.Path, name, m.Name(), s))
						}
					}
				}
				t = n.Underlying()
			}
		}
		if s := foreign(t); s != "" {
			broken = append(broken, fmt.Sprintf("rule 2: %s: exported %s shows %s", p.Path, name, s))
		}
	}
	return broken
}
