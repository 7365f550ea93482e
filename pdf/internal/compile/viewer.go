package compile

import (
	"example.com/quire/internal/strictyaml"
	"example.com/quire/pdf/doc"
)

// viewer reads `viewer:`, how the document is opened and printed.
func (c *compiler) viewer(n *strictyaml.Node) {
	if n == nil {
		return
	}
	o, ok := c.object(n, "viewer", "viewer")
	if !ok {
		return
	}
	out := &c.plan.viewer
	if v := o.get("page-layout"); v != nil {
		i, _ := c.choice(v, o.at("page-layout"), "single-page", "one-column", "two-column-left", "two-column-right", "two-page-left", "two-page-right")
		out.Layout = doc.LayoutSinglePage + doc.PageLayout(i) //nolint:gosec // one of six
	}
	if v := o.get("page-mode"); v != nil {
		i, _ := c.choice(v, o.at("page-mode"), "none", "outline", "thumbnails", "full-screen", "attachments")
		out.Mode = doc.ModeNone + doc.PageMode(i) //nolint:gosec // one of five
	}
	if v := o.get("direction"); v != nil {
		i, _ := c.choice(v, o.at("direction"), "l2r", "r2l")
		out.RightToLeft = i == 1
	}
	if v := o.get("print-scaling"); v != nil {
		i, _ := c.choice(v, o.at("print-scaling"), "default", "none")
		out.ActualSize = i == 1
	}
	if v := o.get("duplex"); v != nil {
		i, _ := c.choice(v, o.at("duplex"), "simplex", "short-edge", "long-edge")
		out.Duplex = doc.DuplexSimplex + doc.Duplex(i) //nolint:gosec // one of three
	}
	mayHave(o, "copies", &out.Copies, c.integerIn(2, 5))
	for _, flag := range [...]struct {
		node *strictyaml.Node
		key  string
		to   *bool
	}{
		{o.get("hide-toolbar"), "hide-toolbar", &out.HideToolbar},
		{o.get("hide-menubar"), "hide-menubar", &out.HideMenubar},
		{o.get("hide-window-ui"), "hide-window-ui", &out.HideWindowUI},
		{o.get("fit-window"), "fit-window", &out.FitWindow},
		{o.get("center-window"), "center-window", &out.CenterWindow},
	} {
		if flag.node != nil {
			*flag.to = c.flag(flag.node, o.at(flag.key))
		}
	}
	o.done()
}
