package tag_test

import (
	"bytes"
	"compress/zlib"
	"errors"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"example.com/quire/pdf/cos"
	"example.com/quire/pdf/internal/tag"
)

// plain is a deflater that stores, so that tests read the objects.
type plain struct{}

func (plain) Deflate(dst, src []byte, _ cos.Level) ([]byte, error) {
	b := bytes.NewBuffer(dst)
	w, err := zlib.NewWriterLevel(b, zlib.NoCompression)
	if err != nil {
		return dst, err
	}
	if _, err := w.Write(src); err != nil {
		return dst, err
	}
	err = w.Close()
	return b.Bytes(), err
}

func finish(tb testing.TB, w *cos.Writer, tree *tag.Tree) cos.Ref {
	tb.Helper()
	root, err := tree.Close()
	if err != nil {
		tb.Fatal(err)
	}
	if _, err := w.Close(cos.Trailer{Root: root}); err != nil {
		tb.Fatal(err)
	}
	return root
}

func TestTree(t *testing.T) {
	var out bytes.Buffer
	w := cos.NewWriter(&out, cos.Options{Deflater: plain{}})
	p1, p2, link := w.Reserve(), w.Reserve(), w.Reserve()
	for _, r := range []cos.Ref{p1, p2, link} {
		if err := w.Put(r, cos.Dict{}); err != nil {
			t.Fatal(err)
		}
	}
	tree := tag.NewTree(w)
	key1, key2 := tree.PageKey(), tree.PageKey()

	add := func(e *tag.Elem) *tag.Elem {
		t.Helper()
		if err := tree.Add(e); err != nil {
			t.Fatal(err)
		}
		return e
	}
	var closed []string
	tree.Closed = func(e *tag.Elem) {
		elems, content, annotations := e.Holds()
		closed = append(closed, fmt.Sprint(e.Type, elems, content, annotations))
	}

	p := add(&tag.Elem{Type: tag.P, Lang: "fr"})
	p.AddContent(p1, 0)
	a := add(&tag.Elem{Type: tag.Link, Parent: p})
	a.AddContent(p1, 1)
	a.AddAnnotation(p1, link)
	p.AddContent(p2, 0)
	tree.SetContent(key1, 0, p)
	tree.SetContent(key1, 1, a)
	tree.SetContent(key2, 0, p)
	key3 := tree.AnnotationKey(a)
	code := add(&tag.Elem{Type: tag.Code, Parent: p, Alt: "alt"})
	code.AddContent(p2, 1)
	tree.SetContent(key2, 1, code)

	th := add(&tag.Elem{Type: tag.TH, Scope: tag.ScopeColumn})
	add(&tag.Elem{Type: tag.TH, Scope: tag.ScopeColumn})
	add(&tag.Elem{Type: tag.TD, Scope: tag.ScopeRow, Colspan: 2, Rowspan: 3})
	add(&tag.Elem{Type: tag.H, Level: 7})
	add(&tag.Elem{Type: tag.H})
	if err := tree.AddAttributes(th, "/O/Layout/Placement/Block"); err != nil {
		t.Fatal(err)
	}
	if err := tree.Finish(p); err != nil {
		t.Fatal(err)
	}
	if err := tree.Finish(p); err != nil {
		t.Errorf("finished twice: %v", err)
	}
	finish(t, w, tree)
	s := out.String()
	ref := func(r cos.Ref) string { return string(cos.AppendRef(nil, r)) }
	for _, want := range []string{
		"/S/P/NS ", "/Lang(fr)", "/Pg " + ref(p1) + "/Lang",
		"/K[0 " + ref(a.Ref()) + " <</Type/MCR/Pg " + ref(p2) + "/MCID 0>> " + ref(code.Ref()) + "]",
		"/K[1 <</Type/OBJR/Pg " + ref(p1) + "/Obj " + ref(link) + ">>]",
		"/Alt(alt)/K 1", "/NS(http://iso.org/pdf/ssn)", "/NS(http://iso.org/pdf2/ssn)",
		fmt.Sprintf("0[%s %s]", ref(p.Ref()), ref(a.Ref())),
		fmt.Sprintf("%d %s", key3, ref(a.Ref())),
		"/Limits[0 2]", "/ParentTreeNextKey 3",
	} {
		if !strings.Contains(s, want) {
			t.Errorf("no %s", want)
		}
	}
	if n := strings.Count(s, "/Scope/Column"); n != 1 {
		t.Errorf("the attribute is written %d times", n)
	}
	for _, want := range []string{"/O/Table/Scope/Row/ColSpan 2/RowSpan 3", "/S/H7/", "/S/H1/"} {
		if !strings.Contains(s, want) {
			t.Errorf("no %s", want)
		}
	}
	if got := strings.Join(closed[:3], "; "); got != "Link 0 1 1; Code 0 1 0; P 2 2 0" {
		t.Errorf("closed %s", got)
	}
}

// TestATreeInUsedMemoryIsThatOfANewOne: whatever trees there were in it, whole ones or not.
func TestATreeInUsedMemoryIsThatOfANewOne(t *testing.T) {
	types := []tag.Type{tag.P, tag.Link, tag.TH, tag.TD, tag.L, tag.Span, tag.Code, tag.FENote, tag.H}
	write := func(tree *tag.Tree, w *cos.Writer, seed uint64, whole bool) {
		t.Helper()
		r := rand.New(rand.NewPCG(seed, 1)) //nolint:gosec // G404: test data
		open := []*tag.Elem{tree.Document()}
		for range r.IntN(4) + 1 {
			page, key := w.Reserve(), tree.PageKey()
			if err := w.Put(page, cos.Dict{}); err != nil {
				t.Fatal(err)
			}
			mcid := 0
			for range r.IntN(60) {
				e := &tag.Elem{
					Type: types[r.IntN(len(types))], Parent: open[r.IntN(len(open))], Scope: tag.Scope(r.IntN(2)), Colspan: r.IntN(4), //nolint:gosec // G115: 0 or 1
					Level: 1 + r.IntN(3), Lang: strings.Repeat("de", r.IntN(2)),
				}
				if err := tree.Add(e); err != nil {
					t.Fatal(err)
				}
				for range r.IntN(6) {
					e.AddContent(page, mcid)
					tree.SetContent(key, mcid, e)
					mcid++
				}
				if r.IntN(5) == 0 {
					e.AddAnnotation(page, page)
					tree.AnnotationKey(e)
				}
				if r.IntN(2) == 0 {
					open = append(open, e)
				}
			}
			for len(open) > 3 {
				last := open[len(open)-1]
				open = open[:len(open)-1]
				if err := tree.Finish(last); err != nil {
					t.Fatal(err)
				}
				open = slices.DeleteFunc(open, func(e *tag.Elem) bool { return e != tree.Document() && e.Parent == nil })
			}
		}
		if whole {
			finish(t, w, tree)
		}
	}
	for _, version := range []cos.Version{cos.V20, cos.V17} {
		used := &tag.Tree{}
		for seed := range uint64(60) {
			var out, again bytes.Buffer
			o := cos.Options{Deflater: plain{}, Version: version}
			w := cos.NewWriter(&out, o)
			write(tag.NewTree(w), w, seed, true)
			w = cos.NewWriter(&again, o)
			used.Reset(w)
			write(used, w, seed, true)
			if !bytes.Equal(out.Bytes(), again.Bytes()) {
				t.Fatalf("seed %d: another file in used memory", seed)
			}
			w = cos.NewWriter(&bytes.Buffer{}, o)
			used.Reset(w)
			write(used, w, seed+100, false)
		}
	}
}

// TestTreeOfPDF17: no namespaces, a role for each type that came later, and no more than six
// levels of headings.
func TestTreeOfPDF17(t *testing.T) {
	var out bytes.Buffer
	w := cos.NewWriter(&out, cos.Options{Version: cos.V17, Deflater: plain{}})
	tree := tag.NewTree(w)
	for _, e := range []*tag.Elem{{Type: tag.Aside}, {Type: tag.Code}, {Type: tag.H, Level: 2}, {Type: tag.H, Level: 9}, {Type: tag.H}} {
		if err := tree.Add(e); err != nil {
			t.Fatal(err)
		}
	}
	finish(t, w, tree)
	s := out.String()
	for _, want := range []string{"/S/Aside/P ", "/S/Code/P ", "/S/H1/P ", "/S/H2/P ", "/S/H6/P ", "/RoleMap<</Aside/Div/Em/Span/Strong/Span>>"} {
		if !strings.Contains(s, want) {
			t.Errorf("no %s", want)
		}
	}
	for _, not := range []string{"/NS", "/Namespace", "/H9"} {
		if strings.Contains(s, not) {
			t.Errorf("there is %s", not)
		}
	}
}

// TestElementsLikeTheOneBefore: an element that differs from the one before in a single entry has
// that entry.
func TestElementsLikeTheOneBefore(t *testing.T) {
	var out bytes.Buffer
	w := cos.NewWriter(&out, cos.Options{Deflater: plain{}})
	p1, p2 := w.Reserve(), w.Reserve()
	for _, r := range []cos.Ref{p1, p2} {
		if err := w.Put(r, cos.Dict{}); err != nil {
			t.Fatal(err)
		}
	}
	tree := tag.NewTree(w)
	rows := [2]*tag.Elem{{Type: tag.TR}, {Type: tag.TR}}
	for _, r := range rows {
		if err := tree.Add(r); err != nil {
			t.Fatal(err)
		}
	}
	ref := func(r cos.Ref) string { return string(cos.AppendRef(nil, r)) }
	var want []string
	for mcid, e := range []*tag.Elem{
		{Type: tag.TD},
		{Type: tag.TD},
		{Type: tag.TH},
		{Type: tag.TD},
		{Type: tag.TD, Lang: "fr"},
		{Type: tag.TD},
		{Type: tag.TD, Colspan: 2},
		{Type: tag.TD, Colspan: 2},
		{Type: tag.TD},
		{Type: tag.H, Level: 1},
		{Type: tag.H, Level: 2},
	} {
		for i, page := range []cos.Ref{p1, p2, p1} {
			of := *e
			of.Parent = rows[i/2]
			if err := tree.Add(&of); err != nil {
				t.Fatal(err)
			}
			of.AddContent(page, mcid)
			entry := fmt.Sprintf("/S/%v/NS N/P %s/Pg %s", e.Type, ref(rows[i/2].Ref()), ref(page))
			if e.Type == tag.H {
				entry = fmt.Sprintf("/S/H%d/NS N/P %s/Pg %s", e.Level, ref(rows[i/2].Ref()), ref(page))
			}
			if e.Lang != "" {
				entry += "/Lang(fr)"
			}
			if e.Colspan > 1 {
				entry += "/A A"
			}
			want = append(want, fmt.Sprintf("<<%s/K %d>>", entry, mcid))
			if err := tree.Finish(&of); err != nil {
				t.Fatal(err)
			}
		}
	}
	finish(t, w, tree)
	s := regexp.MustCompile(`/(NS|A) \d+ 0 R`).ReplaceAllStringFunc(out.String(), func(m string) string {
		if strings.HasPrefix(m, "/A") {
			return "/A A"
		}
		return "/NS N"
	})
	for _, e := range want {
		if strings.Count(s, e) != 1 {
			t.Errorf("%s stands %d times", e, strings.Count(s, e))
		}
	}
}

// TestEmptyTree: no pages, no kids.
func TestEmptyTree(t *testing.T) {
	var out bytes.Buffer
	w := cos.NewWriter(&out, cos.Options{Deflater: plain{}})
	finish(t, w, tag.NewTree(w))
	if s := out.String(); !strings.Contains(s, "/Nums[]") || !strings.Contains(s, "/S/Document") {
		t.Error("no parent tree or no document")
	}
}

// TestLeaves: the parent tree is cut into leaves of bounded size.
func TestLeaves(t *testing.T) {
	var out bytes.Buffer
	w := cos.NewWriter(&out, cos.Options{Deflater: plain{}})
	tree := tag.NewTree(w)
	for range 600 {
		tree.PageKey()
	}
	finish(t, w, tree)
	s := out.String()
	for _, want := range []string{"/Limits[0 255]", "/Limits[256 511]", "/Limits[512 599]"} {
		if !strings.Contains(s, want) {
			t.Errorf("no %s", want)
		}
	}
}

// TestParentTree: of each key it has what was set, in whatever order pages and annotations came,
// and in the memory of trees before.
func TestParentTree(t *testing.T) {
	tree := &tag.Tree{}
	for seed := range uint64(40) {
		r := rand.New(rand.NewPCG(seed, 3)) //nolint:gosec // G404: test data
		var out bytes.Buffer
		w := cos.NewWriter(&out, cos.Options{Deflater: plain{}})
		tree.Reset(w)
		var want []string // of each key
		var pages, mcids []int
		var elems []*tag.Elem
		elem := func() *tag.Elem {
			if len(elems) == 0 || r.IntN(4) > 0 {
				e := &tag.Elem{Type: tag.P}
				if err := tree.Add(e); err != nil {
					t.Fatal(err)
				}
				elems = append(elems, e)
				for range r.IntN(2) * r.IntN(200) {
					if err := w.Put(w.Reserve(), cos.Dict{}); err != nil {
						t.Fatal(err)
					}
				}
				return e
			}
			return elems[r.IntN(len(elems))]
		}
		fill := func(page int) {
			for range r.IntN(3) * r.IntN(5) {
				e := elem()
				tree.SetContent(pages[page], mcids[page], e)
				want[pages[page]] += " " + string(cos.AppendRef(nil, e.Ref()))
				if mcids[page]++; r.IntN(8) == 0 {
					if key := tree.AnnotationKey(e); key != len(want) {
						t.Fatalf("key %d, want %d", key, len(want))
					}
					want = append(want, "-"+string(cos.AppendRef(nil, e.Ref())))
				}
			}
		}
		for page := range r.IntN(400) {
			if key := tree.PageKey(); key != len(want) {
				t.Fatalf("key %d, want %d", key, len(want))
			}
			pages, mcids, want = append(pages, len(want)), append(mcids, 0), append(want, "")
			fill(page)
		}
		for range r.IntN(3) { // what waited
			for page := range pages {
				if r.IntN(3) > 0 {
					fill(page)
				}
			}
		}
		finish(t, w, tree)
		for from := 0; from < len(want); from += 256 {
			to := min(from+256, len(want))
			leaf := fmt.Sprintf("<</Limits[%d %d]/Nums[", from, to-1)
			for k := from; k < to; k++ {
				if k > from {
					leaf += " "
				}
				if ref, is := strings.CutPrefix(want[k], "-"); is {
					leaf += fmt.Sprint(k, " ", ref)
				} else {
					leaf += fmt.Sprintf("%d[%s]", k, strings.TrimPrefix(want[k], " "))
				}
			}
			if leaf += "]>>\n"; !strings.Contains(out.String(), leaf) {
				t.Fatalf("seed %d: no %s", seed, leaf)
			}
		}
	}
}

// TestContentIsCountedWithoutAGap: on a page, and where one goes on.
func TestContentIsCountedWithoutAGap(t *testing.T) {
	for _, mcids := range [][]int{{1}, {0, 2}, {0, 1, -1, 3}, {0, 1, -1, 1}} {
		w := cos.NewWriter(&bytes.Buffer{}, cos.Options{Deflater: plain{}})
		tree := tag.NewTree(w)
		e := &tag.Elem{Type: tag.P}
		if err := tree.Add(e); err != nil {
			t.Fatal(err)
		}
		page, next := tree.PageKey(), tree.PageKey()
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%v: nobody says so", mcids)
				}
			}()
			for _, mcid := range mcids {
				if mcid < 0 {
					tree.SetContent(next, 0, e)
					continue
				}
				tree.SetContent(page, mcid, e)
			}
			_, _ = tree.Close()
		}()
	}
}

// TestKidsOfAnOpenElement: an element has its kids in their order, whichever of them are written
// before the others.
func TestKidsOfAnOpenElement(t *testing.T) {
	for seed := range uint64(40) {
		r := rand.New(rand.NewPCG(seed, 4)) //nolint:gosec // G404: test data
		var out bytes.Buffer
		w := cos.NewWriter(&out, cos.Options{Deflater: plain{}})
		page := w.Reserve()
		if err := w.Put(page, cos.Dict{}); err != nil {
			t.Fatal(err)
		}
		tree := tag.NewTree(w)
		of := &tag.Elem{Type: tag.Sect}
		if err := tree.Add(of); err != nil {
			t.Fatal(err)
		}
		want, elems, contents := "", 0, 0
		var open []*tag.Elem
		most := r.IntN(40)
		for range r.IntN(700) {
			if r.IntN(1+r.IntN(300)) == 5 {
				of.AddContent(page, contents)
				want += fmt.Sprint(" ", contents)
				contents++
			}
			e := &tag.Elem{Type: tag.P, Parent: of}
			if err := tree.Add(e); err != nil {
				t.Fatal(err)
			}
			open, elems = append(open, e), elems+1
			want += " " + string(cos.AppendRef(nil, e.Ref()))
			for len(open) > most {
				at := r.IntN(len(open))
				if err := tree.Finish(open[at]); err != nil {
					t.Fatal(err)
				}
				open = slices.Delete(open, at, at+1)
			}
		}
		if e, c, a := of.Holds(); e != elems || c != contents || a != 0 {
			t.Fatalf("seed %d: it holds %d elements, %d contents and %d annotations, want %d and %d", seed, e, c, a, elems, contents)
		}
		finish(t, w, tree)
		switch elems + contents {
		case 0:
		case 1:
			want = "/K" + want + ">>"
		default:
			want = "/K[" + want[1:] + "]>>"
		}
		if !strings.Contains(out.String(), want) {
			t.Fatalf("seed %d: no %s", seed, want)
		}
	}
}

var errDisk = errors.New("disk full")

type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, errDisk }

func TestWriteErrors(t *testing.T) {
	w := cos.NewWriter(failing{}, cos.Options{})
	tree := tag.NewTree(w)
	e := &tag.Elem{Type: tag.P}
	if err := tree.Add(e); err != nil {
		t.Fatal(err)
	}
	if err := w.Flush(); !errors.Is(err, errDisk) {
		t.Fatal(err)
	}
	if err := tree.Finish(e); !errors.Is(err, errDisk) {
		t.Errorf("got %v", err)
	}
	if _, err := tree.Close(); !errors.Is(err, errDisk) {
		t.Errorf("got %v", err)
	}
	if err := tree.AddAttributes(e, "/O/Table"); !errors.Is(err, errDisk) {
		t.Errorf("got %v", err)
	}
}
