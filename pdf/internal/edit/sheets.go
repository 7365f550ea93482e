package edit

import (
	"math"
	"slices"
	"strconv"

	"example.com/quire/pdf/cos"
	"example.com/quire/pdf/internal/content"
)

// Sheets say how several pages are put on one.
type Sheets struct {
	Pages   int        // on one sheet, 2 to MostOnSheet
	Size    [2]float64 // width and height of a sheet in points; zero: those of the first page, turned where pages are larger so
	Turn    bool       // Size may be turned too
	Margin  float64    // around a sheet
	Gap     float64    // between pages
	Border  bool       // a line around each page
	Booklet bool       // two on one, in the order of sheets that are printed on both sides and folded
}

// MostOnSheet is how many pages a sheet takes.
const MostOnSheet = 100

// Sheets puts the pages on sheets, which are the pages then, and returns what could not be kept.
// Bookmarks and destinations lead to the sheet of their page.
func (e *Draft) Sheets(o Sheets) (notKept []string, err error) {
	if o.Booklet {
		o.Pages = 2
	}
	if o.Pages < 2 || o.Pages > MostOnSheet {
		return nil, &OptionError{Field: "per-sheet", Got: strconv.Itoa(o.Pages), Want: "2 to " + strconv.Itoa(MostOnSheet)}
	}
	if len(e.pages) == 0 {
		return nil, &OptionError{Field: "file", Got: "no pages", Want: "a file with pages"}
	}
	e.separate()
	pieces := make([]Piece, len(e.pages))
	for i := range e.pages {
		s, p, err := e.asForm(i)
		if err != nil {
			return nil, err
		}
		p.form = e.add(s)
		pieces[i] = p
	}
	g, err := o.grid(pieces[0])
	if err != nil {
		return nil, err
	}
	notKept = e.lostIn(slices.Values(pieces))
	if e.flatten() {
		notKept = append([]string{"tags"}, notKept...)
	}
	before := e.pages
	e.pages = nil
	for _, on := range o.order(len(before)) {
		sheet := Page{Ref: e.add(cos.Null{})}
		var objects cos.Dict
		var out []byte
		for k, i := range on {
			if i < 0 {
				continue // an empty side of a booklet
			}
			p := pieces[i]
			m, scale := g.cell(k, p)
			name := cos.Name("Page" + strconv.Itoa(k))
			objects = append(objects, cos.E(name, p.form))
			out = append(appendMatrix(append(out, "q "...), p.m.Mul(m)), " cm "...)
			out = append(name.AppendPDF(out), " Do Q\n"...)
			if o.Border {
				out = append(appendMatrix(append(out, "q 0 G "...), m), " cm "...)
				out = append(thousandths(0.5/scale).AppendPDF(out), " w 0 0 "...)
				out = append(thousandths(p.Width).AppendPDF(out), ' ')
				out = append(thousandths(p.Height).AppendPDF(out), " re S Q\n"...)
			}
			e.equate(before[i].Ref.Num, sheet.Ref.Num)
		}
		sheet.Dict = cos.Dict{
			cos.E("Type", cos.Name("Page")), cos.E("MediaBox", rectangle([4]float64{0, 0, g.width, g.height})),
			cos.E("Resources", cos.Dict{cos.E("XObject", objects)}), cos.E("Contents", e.add(&stream{data: out})),
		}
		e.pages = append(e.pages, sheet)
	}
	e.pageTree()
	return notKept, e.err
}

// grid is how a sheet is divided.
type grid struct {
	Sheets
	width, height float64
	columns, rows int
}

// grid returns the division by which pages like the first are largest.
func (o *Sheets) grid(first Piece) (best grid, err error) {
	size := o.Size
	turn := o.Turn
	if size == [2]float64{} {
		size, turn = [2]float64{first.Width, first.Height}, true
	}
	if !(size[0] >= 3 && size[1] >= 3 && size[0] <= 14400 && size[1] <= 14400) {
		return best, &OptionError{Field: "sheet", Got: "sides of " + strconv.FormatFloat(size[0], 'g', 6, 64) + " and " + strconv.FormatFloat(size[1], 'g', 6, 64), Want: "3 to 14400 points"}
	}
	if !(o.Margin >= 0 && o.Gap >= 0) {
		return best, &OptionError{Field: "margin", Got: "less than nothing", Want: "0 points or more, and so for gap"}
	}
	most := 0.0
	for _, s := range [...][2]float64{size, {size[1], size[0]}} {
		for columns := 1; columns <= o.Pages; columns++ {
			if o.Pages%columns != 0 {
				continue
			}
			g := grid{*o, s[0], s[1], columns, o.Pages / columns}
			w, h := g.room()
			if scale := min(w/first.Width, h/first.Height); w > 0 && h > 0 && scale > most*(1+1e-9) && (!o.Booklet || columns == 2) {
				best, most = g, scale
			}
		}
		if !turn {
			break
		}
	}
	if most == 0 {
		return best, &OptionError{Field: "margin", Got: "no room for pages", Want: "a smaller margin, a smaller gap or a larger sheet"}
	}
	return best, nil
}

// room is the size of the place of a page.
func (g *grid) room() (w, h float64) {
	return (g.width - 2*g.Margin - float64(g.columns-1)*g.Gap) / float64(g.columns), (g.height - 2*g.Margin - float64(g.rows-1)*g.Gap) / float64(g.rows)
}

// cell returns the matrix of a page in the k-th place, row by row, and how much smaller it makes
// it.
func (g *grid) cell(k int, p Piece) (m content.Matrix, scale float64) {
	w, h := g.room()
	scale = min(w/p.Width, h/p.Height)
	x := g.Margin + float64(k%g.columns)*(w+g.Gap) + (w-p.Width*scale)/2
	y := g.height - g.Margin - float64(k/g.columns)*(h+g.Gap) - h + (h-p.Height*scale)/2
	return content.Matrix{scale, 0, 0, scale, x, y}, scale
}

// order returns the pages of each sheet, from 0; -1 is an empty place.
func (o *Sheets) order(n int) (out [][]int) {
	if !o.Booklet {
		for at := 0; at < n; at += o.Pages {
			var on []int
			for i := at; i < min(at+o.Pages, n); i++ {
				on = append(on, i)
			}
			out = append(out, on)
		}
		return out
	}
	all := (n + 3) / 4 * 4
	at := func(i int) int {
		if i >= n {
			return -1
		}
		return i
	}
	for i := range all / 2 {
		left, right := all-1-i, i
		if i%2 == 1 { // the back of a sheet
			left, right = i, all-1-i
		}
		out = append(out, []int{at(left), at(right)})
	}
	return out
}

// flatten takes away what has its place on pages that become pictures of themselves: the structure
// tree, fields, labels. It reports whether the document was tagged.
func (e *Draft) flatten() (tagged bool) {
	e.voidSignatures()
	root := e.catalog()
	tagged = e.dict(root.Get("StructTreeRoot")) != nil
	for _, key := range [...]cos.Name{"StructTreeRoot", "MarkInfo", "AcroForm", "PageLabels", "Threads"} {
		root = with(root, key, nil)
	}
	e.set(e.root, root)
	// Destinations lead to pages, no longer to structure elements (12.3.2.3).
	plain := func(d cos.Dict) cos.Dict { return with(d, "SD", nil) }
	for _, x := range e.outline() {
		d := with(x.dict, "SE", nil)
		if a := e.dict(d.Get("A")); a != nil {
			d = with(d, "A", plain(a))
		}
		e.set(x.ref, d)
	}
	names := e.names(e.dict(root.Get("Names")).Get("Dests"))
	for i, x := range names {
		if d, ok := e.resolve(x.value).(cos.Dict); ok {
			names[i].value = plain(d)
		}
	}
	if names != nil {
		e.setNames("Dests", names)
	}
	if a, ok := e.resolve(root.Get("OpenAction")).(cos.Dict); ok {
		e.change("OpenAction", plain(a))
	}
	return tagged
}

// millimetre is one in points.
const millimetre = 72 / 25.4

// SheetSize returns the size of a kind of paper in points, upright.
func SheetSize(name string) ([2]float64, bool) {
	mm := map[string][2]float64{"a3": {297, 420}, "a4": {210, 297}, "a5": {148, 210}, "letter": {215.9, 279.4}, "legal": {215.9, 355.6}}
	s, ok := mm[name]
	for i := range s {
		s[i] = math.Round(s[i]*millimetre*100) / 100
	}
	return s, ok
}
