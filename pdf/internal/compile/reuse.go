package compile

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"sync"

	"example.com/quire/internal/strictyaml"
	"example.com/quire/pdf/internal/compile/exprlang"
	"example.com/quire/pdf/internal/diag"
)

// Components keeps the components of compiled templates, so that after a change those that did not
// change are not compiled again. Of each template, by the name of its file, it has those that were
// compiled last.
//
// What a component compiles to depends on its own source with its places, on the components that it
// uses, on the files that it reads, and on the keys of the template that all expressions and styles
// depend on: SHA-256 of all of these tell whether it is the same. A compiled component is never
// changed, so that plans may share it. Its slots and spans keep their numbers: a plan that shares
// it leaves the numbers of those that went unused.
//
// It is safe for concurrent use. Nil keeps nothing.
type Components struct {
	max int64 // bytes of source

	mu       sync.Mutex
	bytes    int64
	byFile   map[string]*edition
	order    []string // files, the one compiled last at the end
	compiled int64
}

// NewComponents returns one that keeps the components of at most max bytes of templates.
func NewComponents(maxBytes int64) *Components {
	if maxBytes <= 0 {
		return nil
	}
	return &Components{max: maxBytes, byFile: map[string]*edition{}}
}

type sum = [sha256.Size]byte

// edition is what a compilation left.
type edition struct {
	env          sum
	contract     *exprlang.Type
	slots, spans int // numbers that are taken
	components   map[string]*keptComponent
	roots        map[string]keptRoot
	cost         int64
	sparse       bool // more slots and spans are unused than used
}

// keptComponent is a compiled component with what else its compilation did.
type keptComponent struct {
	key       sum
	component *component
	uses      []string // other components
	files     []keptFile
	slots     []keptSlot
	spans     []keptSpan
	reads     []reading
	readAt    []int // in the plan, while the component is compiled
	warnings  []diag.Diagnostic
	jumps     []jump
	noted     []notedField

	references, madeAnchors bool
}

// keptRoot is a file as it was parsed.
type keptRoot struct {
	sum  sum
	root *strictyaml.Node
}

type keptFile struct {
	name string
	sum  sum
}

type keptSlot struct {
	at   int
	info slotInfo
}

type keptSpan struct {
	at    int
	parts []part
}

// notedField is the first use of a field of the data.
type notedField struct {
	field *exprlang.Field
	used  [2]int
}

func (k *Components) get(file string) *edition {
	if k == nil {
		return nil
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.byFile[file]
}

func (k *Components) put(file string, e *edition, compiled int64) {
	if k == nil {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.compiled += compiled
	k.drop(file)
	if e == nil || e.cost > k.max || len(e.components) == 0 {
		return
	}
	k.byFile[file] = e
	k.order = append(k.order, file)
	for k.bytes += e.cost; k.bytes > k.max; {
		k.drop(k.order[0])
	}
}

func (k *Components) drop(file string) {
	if e := k.byFile[file]; e != nil {
		k.bytes -= e.cost
		delete(k.byFile, file)
		k.order = slices.DeleteFunc(k.order, func(s string) bool { return s == file })
	}
}

// freeKeys are those of a template that no component depends on.
var freeKeys = []string{
	"name", "title", "filename", "meta", "import", "components", "body", "header", "footer", "background", "watermark", "outline", "attach", "sign", "protect", "viewer", "footnotes",
}

// environment hashes what all components depend on, whatever they are: the keys of the template but
// for the free ones, the file of the theme, limits and fonts.
func (c *compiler) environment(root *strictyaml.Node, theme *themeFile) sum {
	h := sha256.New()
	for i, k := range root.Keys {
		if !slices.Contains(freeKeys, k.Text) {
			k.Digest(h, false)
			root.Values[i].Digest(h, false)
		}
	}
	if theme != nil {
		theme.styles.Digest(h, false)
	}
	h.Write(fmt.Appendf(nil, "%+v %t %q %q", c.limit, c.known, c.families, c.file))
	return sum(h.Sum(nil))
}

// reuse takes over the components of the compilation before that are the same.
func (c *compiler) reuse(root *strictyaml.Node, theme *themeFile) {
	if c.store == nil || len(c.components) == 0 {
		return
	}
	// What stands before the components has few spans; a few more of them must not move those
	// behind.
	const grain = 64
	for len(c.plan.spans)%grain != 0 {
		c.plan.spans = append(c.plan.spans, nil)
	}
	c.next = &edition{env: c.environment(root, theme), contract: c.plan.contract, components: map[string]*keptComponent{}, roots: c.roots}
	before := c.before
	if before == nil || before.env != c.next.env || before.sparse {
		return
	}
	fields := map[*exprlang.Field]*exprlang.Field{}
	pair(fields, before.contract, c.plan.contract)
	same := map[string]bool{}
	for _, name := range c.componentNames {
		same[name] = c.unchanged(before.components[name], c.components[name])
	}
	slots, spans := len(c.plan.slots), len(c.plan.spans)
	c.plan.slots = append(c.plan.slots, make([]slotInfo, max(before.slots-slots, 0))...)
	c.plan.spans = append(c.plan.spans, make([][]part, max(before.spans-spans, 0))...)
	for _, name := range c.componentNames {
		if c.whole(before, same, name) {
			c.next.components[name] = c.take(before.components[name], fields)
		}
	}
}

// unchanged reports whether a component is that of the compilation before, but for those that it
// uses.
func (c *compiler) unchanged(k *keptComponent, d *component) bool {
	return k != nil && k.key == keyOf(d) && k.fits(len(c.plan.slots), len(c.plan.spans)) &&
		!slices.ContainsFunc(k.files, func(f keptFile) bool { return !c.sameFile(f) })
}

// whole reports whether a component and all that it uses are unchanged. None uses itself.
func (c *compiler) whole(before *edition, same map[string]bool, name string) bool {
	if !same[name] {
		return false
	}
	for _, used := range before.components[name].uses {
		if !c.whole(before, same, used) {
			same[name] = false
			return false
		}
	}
	return true
}

// fits reports whether the numbers of slots and spans lie behind those that are taken.
func (k *keptComponent) fits(slots, spans int) bool {
	return !slices.ContainsFunc(k.slots, func(s keptSlot) bool { return s.at < slots }) &&
		!slices.ContainsFunc(k.spans, func(s keptSpan) bool { return s.at < spans })
}

// keyOf hashes the source of a component with its places.
func keyOf(d *component) sum {
	h := sha256.New()
	h.Write(fmt.Appendf(nil, "%q %q", d.file, d.name))
	d.node.Digest(h, true)
	return sum(h.Sum(nil))
}

// sameFile reads a file as readFile does, and tells whether it is as it was.
func (c *compiler) sameFile(k keptFile) bool {
	b, known := c.images[k.name]
	if !known {
		if c.files == nil {
			return false
		}
		var err error
		if b, err = readLimited(c.files, k.name, c.limit.ImageBytes); err != nil {
			return false // what is wrong is told when the component is compiled
		}
		c.images[k.name] = b
		c.plan.files = append(c.plan.files, k.name)
	}
	return b != nil && sha256.Sum256(b) == k.sum
}

// take puts a kept component in place, with what its compilation did, and returns it for the next
// compilation: with the fields of this contract.
func (c *compiler) take(k *keptComponent, fields map[*exprlang.Field]*exprlang.Field) *keptComponent {
	c.components[k.component.name] = k.component
	for _, s := range k.slots {
		c.plan.slots[s.at] = s.info
	}
	for _, s := range k.spans {
		c.plan.spans[s.at] = s.parts
	}
	c.plan.reads = append(c.plan.reads, k.reads...)
	c.warnings = append(c.warnings, k.warnings...)
	c.jumps = append(c.jumps, k.jumps...)
	c.plan.references = c.plan.references || k.references
	c.madeAnchors = c.madeAnchors || k.madeAnchors
	next := *k
	next.noted = nil
	for _, n := range k.noted {
		if f := fields[n.field]; f != nil {
			f.Note(n.used[0], n.used[1])
			next.noted = append(next.noted, notedField{f, n.used})
		}
	}
	return &next
}

// pair finds the fields of a contract in the one that was made before of the same source.
func pair(to map[*exprlang.Field]*exprlang.Field, before, now *exprlang.Type) {
	if before == nil || now == nil {
		return
	}
	pair(to, before.Elem, now.Elem)
	for i, f := range before.Fields {
		if i < len(now.Fields) && to[f] == nil {
			to[f] = now.Fields[i]
			pair(to, f.Type, now.Fields[i].Type)
		}
	}
}

// keep begins to note what the compilation of a component does; end keeps it when no problem was
// found.
func (c *compiler) keep(d *component) (end func()) {
	if c.next == nil {
		return func() {}
	}
	around, problems := c.log, len(c.list)
	k := &keptComponent{key: keyOf(d), component: d}
	c.log = k
	c.compiled++
	return func() {
		c.log = around
		if len(c.list) > problems {
			return
		}
		for _, at := range k.readAt {
			k.reads = append(k.reads, c.plan.reads[at])
		}
		k.readAt = nil
		c.next.components[d.name] = k
	}
}

// finished hands what was compiled to the next compilation. A compilation with problems leaves what
// was there.
func (c *compiler) finished(src []byte) {
	if c.next == nil {
		return
	}
	c.next.slots, c.next.spans = len(c.plan.slots), len(c.plan.spans)
	unused := 0
	for _, s := range c.plan.slots {
		if s.list == nil && s.name == "" && s.reads == nil {
			unused++
		}
	}
	for _, s := range c.plan.spans {
		if s == nil {
			unused++
		}
	}
	const few = 64 // which are not worth a compilation of all
	c.next.sparse = unused > c.next.slots+c.next.spans-unused+few
	c.next.cost = int64(len(src))
	for _, b := range c.images {
		c.next.cost += int64(len(b))
	}
	c.store.put(c.plan.file, c.next, c.compiled)
}

// noteFile notes that the component being compiled reads a file.
func (c *compiler) noteFile(name string) {
	if c.log == nil {
		return
	}
	b := c.images[name]
	if b == nil || slices.ContainsFunc(c.log.files, func(f keptFile) bool { return f.name == name }) {
		return
	}
	c.log.files = append(c.log.files, keptFile{name, sha256.Sum256(b)})
}

// noteUse notes that the component being compiled uses another.
func (c *compiler) noteUse(name string) {
	if c.log != nil && !slices.Contains(c.log.uses, name) {
		c.log.uses = append(c.log.uses, name)
	}
}

// parsed is parse for a file that the template names: one that did not change is not parsed again.
func (c *compiler) parsed(name string, src []byte) *strictyaml.Node {
	if c.store == nil {
		return c.parse(src)
	}
	k := keptRoot{sum: sha256.Sum256(src)}
	if c.before != nil && c.before.roots[name].sum == k.sum {
		k.root = c.before.roots[name].root
	} else {
		k.root = c.parse(src)
	}
	if k.root != nil {
		c.roots[name] = k
	}
	return k.root
}
