package compile

import (
	"context"
	"io/fs"
	"slices"
	"strings"

	"example.com/quire/internal/strictyaml"
	"example.com/quire/pdf/doc"
	"example.com/quire/pdf/internal/compile/decimal"
	"example.com/quire/pdf/internal/compile/exprlang"
	"example.com/quire/pdf/internal/compile/locale"
	"example.com/quire/pdf/internal/diag"
	"example.com/quire/pdf/standard"
)

// Options says how a template is compiled.
type Options struct {
	// File is the name that diagnostics use.
	File string
	// Files holds what the template names; nil: nothing, so naming a file is a
	// problem. The operating system's files are never read.
	Files fs.FS
	// Limits bounds the template; zero fields mean the defaults.
	Limits diag.Limits
	// Families are the font families that there are beside those of the template; nil: not known,
	// and the names that styles have are not checked.
	Families []string
	// Components keeps compiled components for the next compilation; nil: all are compiled.
	Components *Components
}

// Plan is a compiled template. It is immutable and safe for concurrent use.
type Plan struct {
	file      string
	name      string
	lang      string
	standards []standard.ID
	files     []string
	warnings  []diag.Diagnostic
	contract  *exprlang.Type

	title           *plainText
	filename        *plainText
	author, subject *plainText
	keywords        []*plainText
	page            doc.Master
	base            *doc.Style
	theme           *doc.Theme
	fonts           *doc.Fonts
	slots           []slotInfo
	spans           [][]part // what each span of a text prints, by its number
	vars            []planVar
	header, footer  running
	background      running
	watermark       *watermark
	signing         *signing
	protection      *protection
	viewer          doc.Viewer
	attachments     []attachment
	outline         []outlineItem
	outlineLevels   int
	numberHeadings  int
	body            []block
	footnotes       doc.Footnotes
	references      bool // the body asks for numbers of pages
	reads           []reading
	decimalSign     string
}

// reading is an expression that reads data.
type reading struct {
	prog *exprlang.Program
	at   *place
	loop bool // it is the list of a loop
}

// planVar is a variable, in an order that computes each after those it needs.
type planVar struct {
	prog *exprlang.Program
	slot int
	at   *place
}

// running holds the blocks of headers or footers.
type running struct {
	first, odd, even, other, all []block

	identity *doc.Identity // nil: some of it needs data
}

type watermark struct {
	cond  *programAt
	text  *plainText
	image *imageNode // nil: text
	out   doc.Watermark
}

// Standards returns the standards that the template asks for.
func (p *Plan) Standards() []standard.ID { return slices.Clone(p.standards) }

// Files returns the names of the files that the template reads, sorted, each
// once. They were read when the template was compiled; whoever keeps the template
// keeps them with it.
func (p *Plan) Files() []string { return slices.Clone(p.files) }

// Warnings returns what is likely a mistake of the template, in the order of the places.
func (p *Plan) Warnings() []diag.Diagnostic { return slices.Clone(p.warnings) }

// compiler holds the state of one compilation.
type compiler struct {
	reporter
	plan     *Plan
	files    fs.FS
	limit    diag.Limits
	families []string // that styles may name, when they are known
	known    bool     // they are

	types *strictyaml.Node
	named map[string]*exprlang.Type

	exprOptions exprlang.Options
	toldLocale  bool // that there are no formats for the locale
	locals      []local
	vars        []*variable

	styles     map[string]*styleDef
	styleNames []string
	base       *doc.Style
	headings   [10]*doc.Style
	spanStyles map[nested]*doc.Style

	components     map[string]*component
	componentNames []string
	inside         *component // whose body is being compiled
	around         *doc.Style // of what the block being compiled is in, as far as it is known; nil: the base
	imported       []string   // files

	images  map[string][]byte
	running bool // inside a header or footer
	// artifact says that what is being compiled is part of an artifact.
	artifact bool
	loops    int // loops around the block, a component counts as one

	store    *Components // nil: nothing is kept
	before   *edition    // of the compilation before; nil: none
	next     *edition    // of this one; nil: nothing is kept of it
	roots    map[string]keptRoot
	log      *keptComponent // being compiled; nil: none, or nothing is kept
	compiled int64          // components

	anchors     []string
	ids         cellIDs // of the table being compiled
	madeAnchors bool    // some are made of data: which there are is known at the end of a layout
	jumps       []jump  // links to anchors, checked when all anchors are known
}

// jump is a link to an anchor.
type jump struct {
	anchor    string
	line, col int
	path      string
}

// warn notes what is likely a mistake and stops nothing.
func (c *compiler) warn(line, col int, path, code, hint, format string, args ...any) {
	before := len(c.warnings)
	c.reporter.warn(line, col, path, code, hint, format, args...)
	if c.log != nil {
		c.log.warnings = append(c.log.warnings, c.warnings[before:]...)
	}
}

// leads notes a link to an anchor.
func (c *compiler) leads(j jump) {
	c.jumps = append(c.jumps, j)
	if c.log != nil {
		c.log.jumps = append(c.log.jumps, j)
	}
}

// refers notes that the body asks for numbers of pages.
func (c *compiler) refers() {
	c.plan.references = true
	if c.log != nil {
		c.log.references = true
	}
}

// land checks that each link to an anchor has one.
func (c *compiler) land() {
	for _, j := range c.jumps {
		if !c.madeAnchors && !slices.Contains(c.anchors, j.anchor) {
			c.at(j.line, j.col, j.path, codeName, exprlang.Nearest(j.anchor, c.anchors), "no anchor %q", j.anchor)
		}
	}
}

// Compile reads a template. The error is a *diag.DiagnosticError with every
// problem found, or that of ctx.
func Compile(ctx context.Context, src []byte, o Options) (*Plan, error) {
	limits := o.Limits.WithDefaults()
	c := &compiler{
		reporter: reporter{file: o.File}, files: o.Files, limit: limits, families: slices.Clone(o.Families), known: o.Families != nil,
		images: map[string][]byte{}, components: map[string]*component{},
		store: o.Components, before: o.Components.get(o.File), roots: map[string]keptRoot{},
		plan: &Plan{file: o.File, contract: &exprlang.Type{Kind: exprlang.RecordKind}},
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if n := int64(len(src)); n > limits.TemplateBytes {
		c.at(1, 1, "", codeTplBytes, "", "the template has %d bytes, more than %d", n, limits.TemplateBytes)
		return nil, c.err()
	}
	if line, ok := pemLine(string(src)); ok {
		c.at(line, 1, "", codeSecret, "name a signer instead", "key material in a template")
		return nil, c.err()
	}
	root := c.parse(src)
	if root == nil {
		return nil, c.err()
	}
	c.document(root)
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if err := c.err(); err != nil {
		return nil, err
	}
	c.sort(c.warnings)
	c.plan.warnings = c.warnings
	c.finished(src)
	return c.plan, nil
}

// parse reads a file of the template; nil when it cannot be read.
func (c *compiler) parse(src []byte) *strictyaml.Node {
	root, problems := strictyaml.Parse(src, strictyaml.Limits{Depth: int(c.limit.TemplateDepth), Nodes: int(c.limit.TemplateNodes)})
	for _, p := range problems {
		code := codeSyntax
		if p.Limit {
			code = codeTplNodes
			if strings.HasPrefix(p.Message, "nested") {
				code = codeTplDepth
			}
		}
		c.at(p.Line, p.Col, "", code, p.Hint, "%s", p.Message)
	}
	return root
}

// pemLine finds a private key in PEM form.
func pemLine(src string) (int, bool) {
	i := strings.Index(src, "PRIVATE KEY-----")
	if i < 0 || !strings.Contains(src[max(0, i-40):i], "-----BEGIN") {
		return 0, false
	}
	return strings.Count(src[:i], "\n") + 1, true
}

func (c *compiler) document(root *strictyaml.Node) {
	o, ok := c.object(root, "", "a template")
	if !ok {
		return
	}
	if v := o.need("quire"); v != nil && (v.Kind != strictyaml.Int || v.Text != "1") {
		c.bad(v, "quire", codeWrong, "write quire: 1", "language version %s is not known", describe(v))
	}
	if v := o.need("name"); v != nil {
		if s, ok := c.word(v, "name"); ok {
			c.plan.name = s
			if !reTemplateName.MatchString(s) {
				c.bad(v, "name", codeWrong, "use letters, digits, -, _ and .", "%q cannot be the name of a template", s)
			}
		}
	}
	c.language(o)
	c.standards(o.get("standard"))
	c.fonts(o.get("fonts"))
	c.plan.contract = c.contract(o.get("types"), o.get("data"))
	c.exprOptions.MaxBytes = int(c.limit.ExprBytes)
	c.exprOptions.MaxNodes = int(c.limit.ExprNodes)
	c.exprOptions.PredicateDepth = int(c.limit.PredicateDepth)
	c.slot(slotInfo{}) // the data
	c.variables(o.get("vars"))
	if v := o.need("title"); v != nil {
		c.plan.title = c.plain(v, "title")
	}
	if v := o.get("filename"); v != nil {
		c.plan.filename = c.plain(v, "filename")
	}
	c.meta(o.get("meta"))
	styles := o.get("styles")
	file, themed := c.theme(o.get("theme"), styles)
	c.plan.page = doc.A4()
	if themed {
		c.plan.page.Margins = doc.Same(doc.MM(25))
	}
	c.readStyles(styles, file, themed)
	if v := o.get("page"); v != nil {
		c.page(v, "page", &c.plan.page)
	}
	c.plan.base = c.base
	if file != nil {
		c.within(file.file, func() { c.declareComponents(file.components, true) })
	}
	c.imports(o.get("import"), nil)
	c.declareComponents(o.get("components"), false)
	c.reuse(root, file)
	c.readComponents()
	if v := o.get("footnotes"); v != nil {
		c.footnotes(v)
	}
	if v := o.get("watermark"); v != nil {
		c.plan.watermark = c.watermark(v, "watermark")
	}
	c.plan.header = c.runningContent(o.get("header"), "header", "header")
	c.plan.footer = c.runningContent(o.get("footer"), "footer", "footer")
	c.plan.background = c.runningContent(o.get("background"), "background", "background")
	c.viewer(o.get("viewer"))
	c.signing(o.get("sign"))
	c.protection(o.get("protect"))
	c.attachments(o.get("attach"))
	c.outline(o.get("outline"))
	mayHave(o, "number-headings", &c.plan.numberHeadings, c.integerIn(1, 9))
	if v := o.need("body"); v != nil && c.filled(v, "body", "blocks") {
		c.plan.body = c.blocks(v, "body")
	}
	c.land()
	o.done()
	slices.Sort(c.plan.files)
}

// language reads `lang:`, `locale:` and `rounding:`.
func (c *compiler) language(o *object) {
	tag, at := "", o.need("lang")
	named := at != nil
	if named {
		tag, named = c.tag(at, "lang")
		c.plan.lang, c.exprOptions.Language = tag, tag
	}
	if v := o.get("locale"); v != nil {
		at = v
		tag, named = c.tag(v, "locale")
	}
	if !named {
		tag = "en" // what is wrong with the name is told; that it has no formats is no news
	}
	l, ok := locale.Lookup(tag)
	if v := o.get("rounding"); v != nil {
		i, _ := c.choice(v, "rounding", decimal.Modes[:]...)
		c.exprOptions.Rounding = decimal.Mode(i) //nolint:gosec // an index of the modes
	}
	if ok {
		l = l.Rounding(c.exprOptions.Rounding)
	}
	c.exprOptions.Locale = l
	if l != nil {
		c.plan.decimalSign = l.DecimalSign()
	}
	if !ok {
		c.exprOptions.NoLocale = "there are no formats for " + quoted(tag) + "; set locale: to one of " + strings.Join(locale.Tags(), ", ")
		if at != nil && at == o.n.Get("locale") && tag != "" {
			c.toldLocale = true
			c.bad(at, "locale", exprlang.CodeLocale, exprlang.Nearest(tag, locale.Tags()), "there are no formats for %q", tag)
		}
	}
}

func (c *compiler) tag(n *strictyaml.Node, path string) (string, bool) {
	s, ok := c.word(n, path)
	if ok && !reTag.MatchString(s) {
		hint := "write a language as in en, en-GB or de"
		if dashed := strings.ReplaceAll(s, "_", "-"); reTag.MatchString(dashed) && dashed != s {
			hint = `did you mean "` + dashed + `"?`
		}
		c.bad(n, path, codeWrong, hint, "%q is not a BCP 47 language tag", s)
		return "", false
	}
	if part, known := locale.UnknownPart(s); ok && part != "" {
		what, like := "language", strings.ToLower(part)
		switch {
		case part == s || strings.HasPrefix(s, part+"-"):
		case len(part) == 4:
			what, like = "script", strings.ToUpper(part[:1])+strings.ToLower(part[1:])
		default:
			what, like = "region", strings.ToUpper(part)
		}
		c.bad(n, path, codeWrong, exprlang.Nearest(like, known), "there is no %s %q", what, part)
		return "", false
	}
	return s, ok
}

func (c *compiler) standards(n *strictyaml.Node) {
	if n == nil {
		return
	}
	items, path := []*strictyaml.Node{n}, "standard"
	if n.Kind == strictyaml.Sequence {
		items = n.Items
	}
	for i, v := range items {
		at := path
		if n.Kind == strictyaml.Sequence {
			at = index(path, i)
		}
		s, ok := c.word(v, at)
		if !ok {
			continue
		}
		id, err := standard.Parse(s)
		if err != nil {
			c.bad(v, at, codeName, exprlang.Nearest(s, standard.Names()), "no standard %q", s)
			continue
		}
		claims, err := standard.Set(append(c.plan.standards, id)...)
		if err != nil {
			c.bad(v, at, "S004", "", "%v", err)
			continue
		}
		c.plan.standards = claims
	}
}

func (c *compiler) variables(n *strictyaml.Node) {
	if n == nil {
		return
	}
	o, ok := c.object(n, "vars", "vars")
	if !ok {
		return
	}
	for i, k := range o.n.Keys {
		if !c.name(k, "vars."+k.Text, "a variable") {
			continue
		}
		if _, f := c.plan.contract.Field(k.Text); f != nil {
			c.bad(k, "vars."+k.Text, codeContract, "", "%q is a field of the data already", k.Text)
			continue
		}
		v := o.n.Values[i]
		if !v.IsScalar() || v.Kind == strictyaml.Null {
			c.bad(v, "vars."+k.Text, codeWrong, "", "want an expression, got %s", v.Kind)
			continue
		}
		c.vars = append(c.vars, &variable{name: k.Text, node: v})
	}
	for _, v := range c.vars {
		c.variable(v, exprScope{c: c, n: v.node, path: "vars." + v.name})
	}
}

func (c *compiler) meta(n *strictyaml.Node) {
	if n == nil {
		return
	}
	o, ok := c.object(n, "meta", "meta")
	if !ok {
		return
	}
	if v := o.get("author"); v != nil {
		c.plan.author = c.plain(v, "meta.author")
	}
	if v := o.get("subject"); v != nil {
		c.plan.subject = c.plain(v, "meta.subject")
	}
	if v := o.get("keywords"); v != nil {
		if v.Kind != strictyaml.Sequence {
			c.bad(v, "meta.keywords", codeWrong, "", "want a list of texts, got %s", v.Kind)
		}
		for i, k := range v.Items {
			c.plan.keywords = append(c.plan.keywords, c.plain(k, index("meta.keywords", i)))
		}
	}
	o.done()
}
