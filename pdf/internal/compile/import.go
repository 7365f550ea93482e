package compile

import (
	"slices"

	"example.com/quire/internal/strictyaml"
	"example.com/quire/pdf/internal/compile/exprlang"
)

// The most files that a template imports, and how deep they may import each other.
const (
	maxImports     = 64
	maxImportDepth = 8
)

// part reads a file that is a part of the template: what is a mapping with `quire` and the keys
// that read asks for.
func (c *compiler) part(name string, src []byte, what string, read func(*object)) {
	c.within(name, func() {
		root := c.parsed(name, src)
		if root == nil {
			return
		}
		o, ok := c.object(root, "", what)
		if !ok {
			return
		}
		if v := o.need("quire"); v != nil && (v.Kind != strictyaml.Int || v.Text != "1") {
			c.bad(v, "quire", codeWrong, "write quire: 1", "language version %s is not known", describe(v))
		}
		read(o)
		o.done()
	})
}

// within reports what do finds at places of another file.
func (c *compiler) within(file string, do func()) {
	around := c.file
	c.file = file
	defer func() { c.file = around }()
	do()
}

// imports declares the components of the files of a list. Each file is read once, however many
// name it; importing are those that are being read.
func (c *compiler) imports(n *strictyaml.Node, importing []string) {
	if n == nil {
		return
	}
	if n.Kind != strictyaml.Sequence {
		c.bad(n, "import", codeWrong, "", "want a list of files, got %s", n.Kind)
		return
	}
	for i, v := range n.Items {
		path := index("import", i)
		name, ok := c.word(v, path)
		switch {
		case !ok:
			continue
		case slices.Contains(importing, name):
			c.bad(v, path, codeCircle, "", "file %s imports itself", quoted(name))
			continue
		case slices.Contains(c.imported, name):
			continue
		case len(c.imported) == maxImports:
			c.bad(v, path, codeImports, "", "more than %d imported files", maxImports)
			return
		case len(importing) == maxImportDepth:
			c.bad(v, path, codeImports, "", "files import each other more than %d deep", maxImportDepth)
			continue
		}
		c.imported = append(c.imported, name)
		src := c.readFile(v, path, name)
		if src == nil {
			continue
		}
		c.part(name, src, "an imported file", func(o *object) {
			c.imports(o.get("import"), append(importing, name))
			c.declareComponents(o.get("components"), false)
		})
	}
}

// slotNode is the place of content that the use of a component gives.
type slotNode struct {
	name  string
	empty []block // when it gives none
	at    *place
}

// filling is what a use puts into the slots of its component, seen from where it is used.
type filling struct {
	slots  map[string][]block
	at     *frame
	around *filling
}

func (n *slotNode) emit(r *render, out sink) error {
	own := r.filling
	body, given := own.slots[n.name]
	if !given {
		return r.emit(n.empty, out)
	}
	if err := r.step(n.at); err != nil {
		return err
	}
	// The content may use the same component again, whose parameters and loops have these slots.
	at, slots := r.at, slices.Clone(r.m.Slots)
	r.at, r.filling = own.at, own.around
	err := r.emit(body, out)
	r.at, r.filling = at, own
	copy(r.m.Slots, slots)
	return err
}

func (c *compiler) slotBlock(b *blockSource) block {
	o := b.common
	n := &slotNode{at: c.place(b.value, b.path, 0, nil)}
	mayHave(o, "empty", &n.empty, c.blocks)
	name, ok := c.word(b.value, b.path)
	if !ok {
		return nil
	}
	d := c.inside
	if d == nil {
		c.bad(b.value, b.path, codeWrong, "", "a slot is allowed only in a component")
		return nil
	}
	if !slices.Contains(d.slots, name) {
		c.bad(b.value, b.path, codeName, exprlang.Nearest(name, d.slots), "component %q has no slot %q", d.name, name)
		return nil
	}
	d.placed = append(d.placed, name)
	n.name = name
	return n
}

// declareSlots reads `slots`, a list of names.
func (c *compiler) declareSlots(d *component, n *strictyaml.Node, path string) {
	if !c.filled(n, path, "slots") {
		return
	}
	for i, v := range n.Items {
		at := index(path, i)
		if c.name(v, at, "a slot") {
			if slices.Contains(d.slots, v.Text) {
				c.bad(v, at, codeContract, "", "slot %q is there already", v.Text)
			}
			d.slots = append(d.slots, v.Text)
		}
	}
}

// fill reads the contents that a use gives to the slots of its component.
func (c *compiler) fill(d *component, n *strictyaml.Node, path string) map[string][]block {
	o, ok := c.object(n, path, "slots")
	if !ok {
		return nil
	}
	// The component may place a slot in a loop: its content is there any number of times.
	c.loops++
	defer func() { c.loops-- }()
	out := map[string][]block{}
	for i, k := range o.n.Keys {
		if !slices.Contains(d.slots, k.Text) {
			c.bad(k, path, codeArguments, exprlang.Nearest(k.Text, d.slots), "component %q has no slot %q", d.name, k.Text)
			continue
		}
		out[k.Text] = c.content(o.n.Values[i], o.at(k.Text))
	}
	return out
}
