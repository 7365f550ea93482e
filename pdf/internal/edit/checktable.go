package edit

import (
	"fmt"
	"slices"

	"example.com/quire/pdf/cos"
	"example.com/quire/pdf/standard"
)

// tableGrid judges tables by the columns and rows that their cells cover.
type tableGrid struct {
	c       *checker
	roles   roles
	classes cos.Dict
	seen    map[cos.Ref]bool // what stands in several places is looked at in the first
	left    int              // cells, columns and rows that are still looked at, of all tables of a file
}

// seenThrough reports whether what an element of a type holds is held by what it stands in too
// (ISO/TS 32005, 6.2).
func seenThrough(kind cos.Name) bool { return kind == "Div" || kind == "Part" || kind == "NonStruct" }

// within returns the elements that an element has beneath it, and their types.
func (g *tableGrid) within(d cos.Dict, depth int) (elems []cos.Dict, kinds []cos.Name) {
	for _, o := range g.c.e.kids(d) {
		at := refOf(o)
		if g.left--; g.left < 0 || !at.IsZero() && g.seen[at] {
			continue
		}
		g.seen[at] = true
		kid, _ := g.c.e.resolve(o).(cos.Dict)
		if what := g.c.e.name(kid.Get("Type")); kid == nil || what != "" && what != "StructElem" {
			continue
		}
		kind, _ := g.roles.of(kid)
		if seenThrough(kind) && depth < mostDepth {
			e, k := g.within(kid, depth+1)
			elems, kinds = append(elems, e...), append(kinds, k...)
			continue
		}
		elems, kinds = append(elems, kid), append(kinds, kind)
	}
	return elems, kinds
}

func (g *tableGrid) span(cell cos.Dict, key cos.Name) int {
	n, ok := g.c.attribute(cell, g.classes, "Table", key).(cos.Int)
	if !ok || n < 1 {
		return 1
	}
	return int(min(n, mostEntries))
}

// tableCell is a cell of a table: where it begins and how far it reaches.
type tableCell struct {
	elem       cos.Dict
	header     bool
	row, col   int
	rows, cols int
}

// look returns what is wrong with the grid of a table: cells that overlap, rows that have not as
// many columns as the first, columns that do not end with the last row, cells that go beyond their
// row group, and cells without a header. A table that is too large to be looked at has no faults.
func (g *tableGrid) look(table cos.Dict) (out standard.Grid) {
	elems, parts := g.within(table, 0)
	var rows []cos.Dict
	var groups []int // the rows at which row groups begin and end
	for i, kind := range parts {
		switch kind {
		case "TR":
			rows = append(rows, elems[i])
		case "THead", "TBody", "TFoot":
			groups = append(groups, len(rows))
			below, kinds := g.within(elems[i], 0)
			for k, kind := range kinds {
				if kind == "TR" {
					rows = append(rows, below[k])
				}
			}
			groups = append(groups, len(rows))
		}
	}
	cells, columns, irregular := g.cells(rows)
	if out.Irregular = irregular; irregular != "" || g.left < 0 {
		return out
	}
	for _, c := range cells {
		at, _ := slices.BinarySearch(groups, c.row+1) // the end of its group, or where the next one begins
		if at < len(groups) && c.row+c.rows > groups[at] {
			out.Crossing = fmt.Sprintf("a cell of row %d goes beyond its row group", c.row+1)
			break
		}
	}
	g.headers(&out, cells, len(rows), columns)
	return out
}

// cells returns the cells of rows by what they cover, with the number of columns.
func (g *tableGrid) cells(rows []cos.Dict) (all []tableCell, columns int, irregular string) {
	var until []int // the row from which on a column is free
	for row, tr := range rows {
		at := 0
		cells, kinds := g.within(tr, 0)
		for i, cell := range cells {
			if kinds[i] != "TH" && kinds[i] != "TD" {
				continue
			}
			cols, high := g.span(cell, "ColSpan"), g.span(cell, "RowSpan")
			if g.left -= cols; g.left < 0 {
				return nil, 0, ""
			}
			if row == 0 {
				until = append(until, make([]int, cols)...)
			}
			for at < len(until) && until[at] > row {
				at++
			}
			if at+cols > len(until) {
				return nil, 0, fmt.Sprintf("row %d has more columns than the first", row+1)
			}
			all = append(all, tableCell{cell, kinds[i] == "TH", row, at, high, cols})
			for ; cols > 0; cols-- {
				if until[at] > row {
					return nil, 0, fmt.Sprintf("cells of row %d overlap", row+1)
				}
				until[at] = row + high
				at++
			}
		}
		if g.left -= len(until); g.left < 0 {
			return nil, 0, ""
		}
		if slices.ContainsFunc(until, func(free int) bool { return free <= row }) {
			return nil, 0, fmt.Sprintf("row %d has fewer columns than the first", row+1)
		}
	}
	if slices.ContainsFunc(until, func(free int) bool { return free > len(rows) }) {
		return nil, 0, "a cell spans rows beyond the last"
	}
	return all, len(until), ""
}

// headers tells whether every cell of a regular table has a header: all header cells have a Scope,
// or each cell names its headers or finds one of its column above it or of its row before it (ISO
// 32000-2, 14.8.5.7). The cell in the corner needs none.
func (g *tableGrid) headers(out *standard.Grid, cells []tableCell, rows, columns int) {
	ids, scoped := map[string]bool{}, true
	scopes := make([]cos.Name, len(cells))
	for i, c := range cells {
		if !c.header {
			continue
		}
		if id := g.c.e.text(c.elem.Get("ID")); id != "" {
			ids[id] = true
		}
		scopes[i], _ = g.c.attribute(c.elem, g.classes, "Table", "Scope").(cos.Name)
		scoped = scoped && scopes[i] != ""
	}
	if scoped {
		return
	}
	if g.left -= rows * columns; g.left < 0 {
		return
	}
	grid := make([]int32, rows*columns) // the cell of each place
	for i, c := range cells {
		for r := c.row; r < c.row+c.rows; r++ {
			for k := c.col; k < c.col+c.cols; k++ {
				grid[r*columns+k] = int32(i)
			}
		}
	}
	without := func(place func(row, col int) cos.Name) bool {
		// Whether the nearest header cells above a place, itself included, are of the column, and
		// those before it of the row.
		above, before := make([]bool, len(grid)), make([]bool, len(grid))
		for at, i := range grid {
			row, col := at/columns, at%columns
			scope := scopes[i]
			if cells[i].header && scope == "" {
				scope = place(row, col)
			}
			of := func(want cos.Name, first bool, last int, known []bool) bool {
				next := !first && (!cells[i].header || cells[grid[last]].header)
				return cells[i].header && (scope == "Both" || scope == want) || next && known[last]
			}
			above[at] = of("Column", row == 0, at-columns, above)
			before[at] = of("Row", col == 0, at-1, before)
		}
		for _, c := range cells {
			if c.header || c.row == 0 && c.col == 0 || g.named(c.elem, ids) {
				continue
			}
			found := false
			for k := c.col; c.row > 0 && k < c.col+c.cols; k++ {
				found = found || above[(c.row-1)*columns+k]
			}
			for r := c.row; c.col > 0 && r < c.row+c.rows; r++ {
				found = found || before[r*columns+c.col-1]
			}
			if !found {
				return true
			}
		}
		return false
	}
	out.Headless = without(func(int, int) cos.Name { return "" })
	out.HeadlessByDefault = without(func(row, col int) cos.Name {
		switch {
		case row == 0 && col > 0:
			return "Column"
		case col == 0 && row > 0:
			return "Row"
		default:
			return "Both"
		}
	})
}

// named reports whether a cell names its headers, each by an ID that there is.
func (g *tableGrid) named(cell cos.Dict, ids map[string]bool) bool {
	list, _ := g.c.attribute(cell, g.classes, "Table", "Headers").(cos.Array)
	named := false
	for _, o := range list {
		if g.left--; g.left < 0 {
			return true
		}
		if _, text := cos.Bytes(g.c.e.resolve(o)); text {
			if named = ids[g.c.e.text(o)]; !named {
				return false
			}
		}
	}
	return named
}
