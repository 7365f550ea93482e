package emit

import (
	"example.com/quire/pdf/cos"
	"example.com/quire/pdf/doc"
)

var (
	pageLayouts = [...]cos.Name{
		doc.LayoutSinglePage: "SinglePage", doc.LayoutOneColumn: "OneColumn",
		doc.LayoutTwoColumnLeft: "TwoColumnLeft", doc.LayoutTwoColumnRight: "TwoColumnRight",
		doc.LayoutTwoPageLeft: "TwoPageLeft", doc.LayoutTwoPageRight: "TwoPageRight",
	}
	pageModes = [...]cos.Name{
		doc.ModeNone: "UseNone", doc.ModeOutline: "UseOutlines", doc.ModeThumbnails: "UseThumbs",
		doc.ModeFullScreen: "FullScreen", doc.ModeAttachments: "UseAttachments",
	}
	duplexes = [...]cos.Name{
		doc.DuplexSimplex: "Simplex", doc.DuplexShortEdge: "DuplexFlipShortEdge", doc.DuplexLongEdge: "DuplexFlipLongEdge",
	}
)

// viewerPreferences are the entries of the catalog that say how the document is opened and printed
// (7.7.2, table 29; 12.2, table 147).
func (e *Emitter) viewerPreferences() cos.Dict {
	v := &e.doc.Viewer
	a := e.w.Arena()
	all, d := a.Entries(2), a.Entries(10)
	flag := func(key cos.Name, on bool) {
		if on {
			d = append(d, cos.E(key, cos.Bool(true)))
		}
	}
	flag("HideToolbar", v.HideToolbar)
	flag("HideMenubar", v.HideMenubar)
	flag("HideWindowUI", v.HideWindowUI)
	flag("FitWindow", v.FitWindow)
	flag("CenterWindow", v.CenterWindow)
	flag("DisplayDocTitle", e.doc.Title != "")
	if v.RightToLeft {
		d = append(d, cos.E("Direction", cos.Name("R2L")))
	}
	if v.ActualSize {
		d = append(d, cos.E("PrintScaling", cos.Name("None")))
	}
	if v.Duplex != doc.DuplexAuto {
		d = append(d, cos.E("Duplex", duplexes[v.Duplex]))
	}
	if v.Copies > 0 {
		d = append(d, cos.E("NumCopies", cos.Int(v.Copies)))
	}
	if len(d) > 0 {
		all = append(all, cos.E("ViewerPreferences", a.Dict(d)))
	}
	if v.Layout != doc.LayoutAuto {
		all = append(all, cos.E("PageLayout", pageLayouts[v.Layout]))
	}
	return all
}

// pageMode is the entry of the catalog that says what is shown beside the page: with an outline,
// that, unless something else was asked for.
func (e *Emitter) pageMode(outline bool) cos.Dict {
	mode := e.doc.Viewer.Mode
	if mode == doc.ModeAuto && outline {
		mode = doc.ModeOutline
	}
	if mode == doc.ModeAuto {
		return nil
	}
	return append(e.w.Arena().Entries(1), cos.E("PageMode", pageModes[mode]))
}
