package web_test

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/go-chi/chi/v5"

	"example.com/quire/web"
)

// Rule 13: our choice of route against net/http.ServeMux, chi and a linear
// matcher that knows nothing of trees. The seeds are as many as it takes to catch
// each mutation of the tree that several hundred catch.

// dice draws from a fuzzer's seed.
type dice struct{ *rand.Rand }

func newDice(seed uint64) dice { return dice{rand.New(rand.NewPCG(seed, 1))} } //nolint:gosec // a test wants the same draws again

func (d dice) of(texts ...string) string { return texts[d.IntN(len(texts))] }

// pattern draws a pattern. kinds are the segment forms beside literals.
func (d dice) pattern(kinds ...string) string {
	var b strings.Builder
	for i := range d.IntN(4) {
		b.WriteByte('/')
		if k := d.of(append(kinds, "a", "b", "ab")...); strings.HasPrefix(k, "{}") {
			fmt.Fprintf(&b, "{p%d%s", i, k[1:])
		} else if strings.HasPrefix(k, "{:") {
			fmt.Fprintf(&b, "{p%d%s", i, k[1:])
		} else {
			b.WriteString(k)
		}
	}
	switch d.IntN(6) {
	case 0:
		b.WriteString("/{rest...}")
	case 1:
		b.WriteString("/{$}")
	case 2:
		b.WriteString("/")
	}
	if b.Len() == 0 {
		return "/{$}"
	}
	return b.String()
}

func (d dice) path(extra ...string) string {
	var b strings.Builder
	for range 1 + d.IntN(4) {
		b.WriteString("/" + d.of(append(extra, "a", "b", "ab", "c", "1", "a.j")...))
	}
	if d.IntN(3) == 0 {
		b.WriteByte('/')
	}
	return b.String()
}

func FuzzServeMux(f *testing.F) {
	for seed := range uint64(60) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, seed uint64) {
		d := newDice(seed)
		app, mux := newApp(t, web.Options{}), http.NewServeMux()
		var set []string
		for i := range 2 + d.IntN(8) {
			method, pattern := d.of("GET", "POST", "", "HEAD"), d.pattern("{}", "{}")
			if !muxHandle(mux, strings.TrimSpace(method+" "+pattern), i) {
				continue
			}
			set = append(set, method+" "+pattern)
			if _, err := app.TryHandle(method, pattern, number(i)); err != nil {
				t.Fatalf("ServeMux takes %q, we do not: %v", set, err)
			}
		}
		for range 30 {
			method, path := d.of("GET", "POST", "HEAD", "PUT"), d.path("", ".", "a%2Fb", "%61")
			want := httptest.NewRecorder()
			r := httptest.NewRequestWithContext(t.Context(), method, "/", nil)
			if err := setTarget(r, path); err != nil {
				t.Fatal(err)
			}
			mux.ServeHTTP(want, r)
			code, _, h := ask(app, method, path)
			say := fmt.Sprintf("%q: %s %s: ServeMux %d %v, we %d %v", set, method, path, want.Code, want.Header(), code, h)
			switch want.Code {
			case 200:
				if code != 200 || h.Get("X-Route") != want.Header().Get("X-Route") {
					t.Error(say)
				}
			case 404, 405:
				// We may redirect from /a/ to /a, which ServeMux never does.
				if code != want.Code && (code != 307 || !strings.HasSuffix(path, "/")) && want.Code != 405 {
					t.Error(say)
				}
				// ServeMux adds the methods of the path with a slash.
				for m := range strings.SplitSeq(h.Get("Allow"), ", ") {
					if code == 405 && m != "OPTIONS" && !slices.Contains(strings.Split(want.Header().Get("Allow"), ", "), m) {
						t.Error(say)
					}
				}
				if want.Code == 405 && code != 405 && code != 307 && code != 404 {
					t.Error(say)
				}
			default:
				// ServeMux cleans any path; we only those whose target exists.
				if code == 307 && h.Get("Location") != want.Header().Get("Location") && !strings.Contains(path, "%") && !strings.HasSuffix(path, "/") && !strings.HasSuffix(path, "/.") {
					t.Error(say)
				}
				if code != 307 && code != 404 && code != 405 {
					t.Error(say)
				}
			}
		}
	})
}

func number(i int) web.Handler {
	return func(c *web.Context) error {
		c.Writer().Header().Set("X-Route", fmt.Sprint(i))
		return c.NoContent(200)
	}
}

// muxHandle registers and reports whether ServeMux took the pattern.
func muxHandle(mux *http.ServeMux, pattern string, i int) (ok bool) {
	defer func() { ok = recover() == nil }()
	mux.HandleFunc(pattern, func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("X-Route", fmt.Sprint(i)) })
	return true
}

func FuzzChi(f *testing.F) {
	for seed := range uint64(40) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, seed uint64) {
		d := newDice(seed)
		app, mux := newApp(t, web.Options{NoRedirectSlash: true}), chi.NewRouter()
		var set []string
		for i := range 2 + d.IntN(8) {
			pattern := strings.TrimSuffix(strings.ReplaceAll(d.pattern("{}", "{}"), "/{$}", ""), "/")
			if pattern == "" || slices.Contains(set, pattern) {
				continue
			}
			if _, err := app.TryHandle("GET", pattern, number(i)); err != nil {
				continue // the same shape under other names
			}
			set = append(set, pattern)
			mux.Get(strings.ReplaceAll(pattern, "{rest...}", "*"), func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("X-Route", fmt.Sprint(i)) })
		}
		for range 30 {
			path := strings.TrimSuffix(d.path(), "/")
			want := httptest.NewRecorder()
			mux.ServeHTTP(want, httptest.NewRequestWithContext(t.Context(), "GET", path, nil))
			if code, _, h := ask(app, "GET", path); code != want.Code || h.Get("X-Route") != want.Header().Get("X-Route") {
				t.Errorf("%q: %s: chi %d %s, we %d %s", set, path, want.Code, want.Header().Get("X-Route"), code, h.Get("X-Route"))
			}
		}
	})
}

// linear is the naive matcher: every pattern is tried, the one with the best
// ranks from the left is taken.
type linear struct {
	method, pattern string
}

// ranks returns one number per segment, nil when the path does not match.
func (l linear) ranks(path string) []int {
	segs, parts := strings.Split(path, "/")[1:], strings.Split(l.pattern, "/")[1:]
	var out []int
	for i, p := range parts {
		last := i == len(parts)-1
		if i >= len(segs) {
			return nil
		}
		if last && (p == "" || p == "{rest...}") {
			return append(out, 1)
		}
		r := 0
		switch seg := segs[i]; {
		case p == "{$}":
			if seg == "" {
				r = 9999
			}
		case !strings.HasPrefix(p, "{"):
			if seg == p {
				r = 9999
			}
		default:
			inner, suffix, _ := strings.Cut(p[1:], "}")
			_, constraint, _ := strings.Cut(inner, ":")
			value, ok := strings.CutSuffix(seg, suffix)
			if ok && value != "" {
				r = linearRank(constraint, value)
			}
			if r > 0 && suffix != "" {
				r += 100 * len(suffix)
			}
		}
		if r == 0 {
			return nil
		}
		out = append(out, r)
	}
	if len(segs) != len(parts) {
		return nil
	}
	return out
}

func linearRank(constraint, v string) int {
	chars := map[string]string{"uint": "0123456789", "hex": "0123456789abcdefABCDEF", "alnum": "0123456789abcdefghijklmnopqrstuvwxyz"}
	switch constraint {
	case "":
		return 2
	case "int":
		if strings.Trim(strings.TrimPrefix(v, "-"), chars["uint"]) == "" && v != "-" {
			return 8
		}
	default:
		if strings.Trim(v, chars[constraint]) == "" {
			return map[string]int{"uint": 9, "hex": 7, "alnum": 6}[constraint]
		}
	}
	return 0
}

func FuzzLinear(f *testing.F) {
	for seed := range uint64(60) {
		f.Add(seed)
	}
	for seed := uint64(165); seed < 185; seed++ { // two suffixes, or two constraints, at one place, and a value for both
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, seed uint64) {
		d := newDice(seed)
		app := newApp(t, web.Options{NoRedirectSlash: true, NoRedirectClean: true})
		set := map[int]linear{}
		for i := range 2 + d.IntN(12) {
			l := linear{d.of("GET", "GET", "POST", ""), d.pattern("{}", "{}.j", "{:uint}", "{:int}", "{:hex}", "{:alnum}.j", "{}b")}
			if _, err := app.TryHandle(l.method, l.pattern, number(i)); err == nil {
				set[i] = l
			}
		}
		for range 40 {
			method, path := d.of("GET", "HEAD", "POST", "PUT"), d.path("1.j", "a.j.j", "-1", "", "bb", "a1")
			best, bestRanks, methods := -1, []int(nil), map[string]bool{}
			for i, l := range set {
				ranks := l.ranks(path)
				if ranks == nil {
					continue
				}
				methods[l.method] = true
				takes := l.method == "" || l.method == method || (l.method == "GET" && method == "HEAD")
				if !takes {
					continue
				}
				c := slices.Compare(ranks, bestRanks)
				if c > 0 || (c == 0 && l.method != "") {
					best, bestRanks = i, ranks
				}
			}
			want := 200
			if best < 0 {
				if want = 404; len(methods) > 0 {
					want = 405
				}
			}
			code, _, h := ask(app, method, path)
			route := ""
			if best >= 0 {
				route = fmt.Sprint(best)
			}
			if code != want || h.Get("X-Route") != route {
				t.Errorf("%v: %s %s: linear %d %s, we %d %s\n%s", set, method, path, want, route, code, h.Get("X-Route"), app.Explain(method, path))
			}
		}
	})
}

// TestLookupStaysBounded builds the tree that makes naive backtracking
// exponential: every level can be a literal or a parameter.
func TestLookupStaysBounded(t *testing.T) {
	app := newApp(t, web.Options{})
	calls := 0
	if err := app.Constraint("count", func(string) bool { calls++; return true }); err != nil {
		t.Fatal(err)
	}
	const depth = 10
	for mask := range 1 << depth {
		var b strings.Builder
		for i := range depth {
			if mask&(1<<i) != 0 {
				b.WriteString("/a")
			} else {
				fmt.Fprintf(&b, "/{p%d:count}", i)
			}
		}
		app.GET(b.String()+"/end", echo())
	}
	if code, _, _ := ask(app, "GET", strings.Repeat("/a", depth)+"/other"); code != 404 {
		t.Errorf("got %d", code)
	}
	if nodes := 2 << depth; calls > 4*nodes { // twice per look-up at most: with and without a slash
		t.Errorf("%d constraint checks in a tree of %d nodes", calls, nodes)
	}
}
