package compile

import (
	"slices"

	"example.com/quire/internal/strictyaml"
	"example.com/quire/pdf/doc"
)

// fieldNode is a field of a form.
type fieldNode struct {
	common
	out     doc.Field
	name    *plainText
	label   *plainText
	action  *plainText // of a button; nil: it is no button
	values  []*plainText
	id      int32 // of the first value's parts in Plan.spans
	options []fieldOption
	picture *imageNode // of a signature; nil: it has none
}

type fieldOption struct{ value, text *plainText }

func fieldKinds() []string {
	return []string{"text", "checkbox", "radio", "choice", "list", "signature", "button"}
}

func (c *compiler) fieldBlock(b *blockSource) block {
	o := b.common
	i, known := c.choice(b.value, b.path, fieldKinds()...)
	n := &fieldNode{out: doc.NewField(doc.FieldKind(i), "", "")} //nolint:gosec // G115: one of seven
	if v := o.need("name"); v != nil {
		n.name = c.plain(v, o.at("name"))
	}
	if v := o.need("label"); v != nil {
		n.label = c.plain(v, o.at("label"))
	}
	if v := o.get("value"); v != nil {
		n.values = c.plains(v, o.at("value"))
		if len(n.values) > 0 {
			n.id = c.spanID(n.values[0].parts)
		}
	}
	if n.out.Kind == doc.FieldButton {
		if mustHave(o, "action", &n.action, c.action); n.action != nil {
			n.id = c.spanID(n.action.parts)
		}
	}
	if v := o.get("options"); v != nil {
		n.options = c.fieldOptions(v, o.at("options"))
	}
	if v := o.get("caption"); v != nil {
		i, _ := c.choice(v, o.at("caption"), "auto", "none")
		n.out.Caption = doc.FieldCaption(i) //nolint:gosec // G115: one of two
	}
	if v := o.get("max"); v != nil {
		n.out.Max = c.integer(v, o.at("max"), 1, 10_000)
	}
	c.frame(o, &n.out)
	c.fieldFlags(o, &n.out, known)
	n.common = b.done()
	return n
}

// action reads what a button does: reset, or an address that it opens.
func (c *compiler) action(n *strictyaml.Node, path string) *plainText {
	t := c.plain(n, path)
	if s, known := t.known(); known && n.IsScalar() && s != doc.ResetForm && (!MayLead(s) || s[0] == '#') {
		c.bad(n, path, codeWrong, "write reset, or an address: https:, http:, mailto: or tel:", "%s is not what a button can do", quoted(s))
	}
	return t
}

// frame reads the keys of the place of a field.
func (c *compiler) frame(o *object, f *doc.Field) {
	mayHave(o, "border", &f.Border, c.line)
	mayHave(o, "background", &f.Background, c.color)
	mayHave(o, "width", &f.Width, c.lengthFrom(1))
	mayHave(o, "height", &f.Height, c.lengthFrom(1))
}

// signatureBlock reads the place of a signature: a field whose label is not printed.
func (c *compiler) signatureBlock(b *blockSource) block {
	o := b.common
	n := &fieldNode{out: doc.NewField(doc.FieldSignature, "", "")}
	n.out.Caption = doc.CaptionNone
	n.name = c.plain(b.value, b.path)
	mustHave(o, "alt", &n.label, c.plain)
	mayHave(o, "show", &n.out.Show, c.signatureLines)
	if v := o.get("picture"); v != nil {
		n.picture = &imageNode{out: doc.Image{Block: doc.Block{Src: c.source(v, o.at("picture"))}}}
		c.imageSource(v, o.at("picture"), n.picture)
	}
	c.frame(o, &n.out)
	n.common = b.done()
	return n
}

// fieldFlags reads the keys that are true or false, and those that a kind has not.
func (c *compiler) fieldFlags(o *object, f *doc.Field, known bool) {
	text, choice, list := f.Kind == doc.FieldText, f.Kind == doc.FieldChoice, f.Kind == doc.FieldList
	button := f.Kind == doc.FieldCheckBox || f.Kind == doc.FieldRadio
	for _, x := range []struct {
		key string
		to  *bool
		has bool
	}{
		{"required", &f.Required, f.Kind != doc.FieldButton},
		{"read-only", &f.ReadOnly, true},
		{"multiline", &f.Multiline, text},
		{"password", &f.Password, text},
		{"comb", &f.Comb, text},
		{"fit", &f.Fit, text || choice},
		{"editable", &f.Editable, choice},
		{"multiple", &f.Multiple, list},
		{"round", &f.Round, button},
	} {
		v := o.get(x.key)
		if v == nil {
			continue
		}
		*x.to = c.flag(v, o.at(x.key))
		if known && !x.has {
			c.bad(o.n.Key(x.key), o.at(x.key), codeWrong, "", "a field of this kind has no %q", x.key)
		}
	}
	for _, x := range []struct {
		key string
		has bool
	}{
		{"max", text},
		{"options", button || choice || list},
		{"value", f.Kind != doc.FieldSignature && f.Kind != doc.FieldButton},
		{"caption", f.Kind != doc.FieldButton},
		{"action", f.Kind == doc.FieldButton},
	} {
		if known && !x.has && o.n.Get(x.key) != nil {
			o.told = append(o.told, x.key)
			c.bad(o.n.Key(x.key), o.at(x.key), codeWrong, "", "a field of this kind has no %q", x.key)
		}
	}
	if known && o.n.Get("options") == nil && (choice || list || f.Kind == doc.FieldRadio) {
		c.bad(o.n, o.path, codeNoKey, "", "key %q is missing", "options")
	}
	if f.Comb && f.Max == 0 {
		c.bad(o.n.Key("comb"), o.at("comb"), codeWrong, "add max:, the number of its cells", "a comb has as many cells as characters at most")
	}
}

// plains reads a text, or a list of texts.
func (c *compiler) plains(n *strictyaml.Node, path string) (out []*plainText) {
	if n.Kind != strictyaml.Sequence {
		return []*plainText{c.plain(n, path)}
	}
	for i, v := range n.Items {
		out = append(out, c.plain(v, index(path, i)))
	}
	return out
}

// fieldOptions reads what can be chosen: texts, or values with what is shown.
func (c *compiler) fieldOptions(n *strictyaml.Node, path string) (out []fieldOption) {
	if n.Kind != strictyaml.Sequence {
		c.bad(n, path, codeWrong, "", "want a list of options, got %s", n.Kind)
		return nil
	}
	for i, v := range n.Items {
		at := index(path, i)
		if v.Kind != strictyaml.Mapping {
			out = append(out, fieldOption{value: c.plain(v, at)})
			continue
		}
		o, ok := c.object(v, at, "an option")
		if !ok {
			continue
		}
		o.of = language()["an option"]
		x := fieldOption{}
		if v := o.need("value"); v != nil {
			x.value = c.plain(v, o.at("value"))
		}
		if v := o.get("text"); v != nil {
			x.text = c.plain(v, o.at("text"))
		}
		o.done()
		out = append(out, x)
	}
	return out
}

func (n *fieldNode) emit(r *render, out sink) error {
	if r.static != withData && !n.known() {
		return nil
	}
	f := r.mem.fields.One()
	*f = n.out
	var err error
	if f.Block, err = n.fill(r); err != nil {
		return err
	}
	if f.Name, err = r.plain(n.name); err != nil {
		return err
	}
	if f.Label, err = r.plain(n.label); err != nil {
		return err
	}
	if f.Action, err = r.plain(n.action); err != nil {
		return err
	}
	for _, v := range n.values {
		s, err := r.plain(v)
		if err != nil {
			return err
		}
		if s != "" {
			f.Values = append(f.Values, s)
		}
	}
	if n.picture != nil {
		if f.Picture, err = n.picture.image(r); err != nil {
			return err
		}
	}
	f.From = doc.Origin{Frame: r.at, Part: n.id}
	for _, o := range n.options {
		var x doc.FieldOption
		if x.Value, err = r.plain(o.value); err != nil {
			return err
		}
		if x.Text, err = r.plain(o.text); err != nil {
			return err
		}
		f.Options = append(f.Options, x)
	}
	return out(f)
}

// known reports whether the field needs no data.
func (n *fieldNode) known() bool {
	texts := append([]*plainText{n.name, n.label, n.action}, n.values...)
	for _, o := range n.options {
		texts = append(texts, o.value, o.text)
	}
	return !slices.ContainsFunc(texts, func(t *plainText) bool {
		_, fixed := t.known()
		return !fixed
	})
}
