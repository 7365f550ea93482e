package compile

import (
	"cmp"
	"encoding/base64"
	"errors"
	"io"
	"io/fs"
	"slices"
	"strings"

	"example.com/quire/internal/strictyaml"
	"example.com/quire/pdf/doc"
	"example.com/quire/pdf/internal/compile/exprlang"
)

// altClause is where PDF/UA-2 asks for alternative text of figures.
const altClause = "ISO 14289-2, 8.2.5.28.2"

func (c *compiler) imageBlock(b *blockSource) block {
	o := b.common
	n := &imageNode{}
	c.imageSource(b.value, b.path, n)
	n.alt, n.out.Alt, n.out.Decorative = c.alternative(b, o)
	mayHave(o, "width", &n.out.Width, c.lengthFrom(1))
	mayHave(o, "height", &n.out.Height, c.lengthFrom(1))
	if v := o.get("fit"); v != nil {
		i, _ := c.choice(v, o.at("fit"), "contain", "stretch", "cover")
		n.out.Fit = doc.Fit(i) //nolint:gosec // one of three
		if n.out.Width == 0 || n.out.Height == 0 {
			c.bad(v, o.at("fit"), codeWrong, "", "without width and height there is no box to fit in")
		}
	}
	mayHave(o, "dpi-max", &n.out.MaxDPI, c.integerIn(18, 2400))
	n.link = b.link
	n.common = b.done()
	return n
}

// alternative reads what stands for a figure where it cannot be seen, from o: `alt`, a text that
// may need data, or `decorative: true`; one of them must be there.
func (c *compiler) alternative(b *blockSource, o *object) (text *plainText, fixed string, decorative bool) {
	alt := o.get("alt")
	if c.artifact {
		for _, key := range [...]string{"alt", "decorative"} {
			if o.get(key) != nil {
				c.bad(o.n.Key(key), o.path, codeWrong, "", "%q changes nothing of an artifact", key)
			}
		}
		return nil, "", true
	}
	if alt != nil {
		text = c.plain(alt, o.at("alt"))
		if s, ok := text.known(); ok {
			fixed, text = s, nil
			if strings.TrimSpace(s) == "" {
				c.bad(alt, o.at("alt"), codeNoAlt, "write decorative: true when the "+b.kind+" means nothing", "the alt text is empty")
			}
		}
	}
	mayHave(o, "decorative", &decorative, c.flag)
	switch {
	case alt == nil && !decorative:
		c.bad(b.common.n.Key(b.kind), b.path, codeNoAlt, "add alt: or decorative: true", "no alt text")
		c.list[len(c.list)-1].Clause = altClause
	case alt != nil && decorative:
		c.bad(alt, o.at("alt"), codeWrong, "", "a decorative %s has no alt text", b.kind)
	}
	return text, fixed, decorative
}

// imageSource reads what an image is: a file, a data: URL, or a value of type image.
func (c *compiler) imageSource(v *strictyaml.Node, path string, n *imageNode) {
	text, ok := c.scalar(v, path)
	switch {
	case !ok:
	case wrapped(text):
		p := c.expr(v, path)
		if p == nil {
			return
		}
		if p.prog.Type.Kind != exprlang.ImageKind {
			hint := ""
			if p.prog.Type.Kind == exprlang.StringKind {
				hint = "declare the field as image and give base64"
			}
			c.bad(v, path, exprlang.CodeType, hint, "want an image, got %s", p.prog.Type)
		}
		n.value = p
		n.out.Name = p.prog.Desc
	case strings.Contains(text, "${"):
		c.bad(v, path, codeLater, "", "file names made of data are not in this version")
	case strings.HasPrefix(text, "data:"):
		n.out.Name = "data"
		n.out.Data = c.inlineImage(v, path, text)
	default:
		n.out.Name = text
		n.out.Data = c.readFile(v, path, text)
	}
}

func (c *compiler) inlineImage(n *strictyaml.Node, path, text string) []byte {
	head, body, ok := strings.Cut(text, ";base64,")
	if !ok {
		c.bad(n, path, codeWrong, "", "want data:...;base64, and the image")
		return nil
	}
	kind, _ := strings.CutPrefix(head, "data:image/")
	if kinds := []string{"png", "jpeg", "gif", "webp", "tiff", "svg+xml"}; !slices.Contains(kinds, kind) {
		c.bad(n, path, codeWrong, "", "%s is not one of image/%s", quoted(head), strings.Join(kinds, ", "))
	}
	b, err := base64.StdEncoding.DecodeString(strings.Join(strings.Fields(body), ""))
	if err != nil {
		c.bad(n, path, codeWrong, "", "the image is not base64")
	}
	return b
}

// readFile reads a file of the template, each once. Names stay inside Files:
// neither absolute nor with .. nor a URL.
func (c *compiler) readFile(n *strictyaml.Node, path, name string) []byte {
	if b, ok := c.images[name]; ok {
		c.noteFile(name)
		return b
	}
	if !fs.ValidPath(name) || name == "." || strings.ContainsAny(name, `\:`) {
		c.bad(n, path, codeFile, "name it as in assets/logo.png", "%s is not the name of a file of the template", quoted(name))
		return nil
	}
	c.images[name] = nil
	if c.files == nil {
		c.bad(n, path, codeFile, "", "file %s: the template has no files", quoted(name))
		return nil
	}
	b, err := readLimited(c.files, name, c.limit.ImageBytes)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		hint := cmp.Or(exprlang.Nearest(name, c.neighbours(name)), "put it into the folder of the template")
		c.bad(n, path, codeFile, hint, "file %s: there is none", quoted(name))
		return nil
	case err != nil:
		c.bad(n, path, codeFile, "", "file %s: %s", quoted(name), reason(err))
		return nil
	}
	c.images[name] = b
	c.plan.files = append(c.plan.files, name)
	c.noteFile(name)
	return b
}

// reason is the innermost cause, which names no path of the machine.
func reason(err error) string {
	if pe, ok := errors.AsType[*fs.PathError](err); ok {
		err = pe.Err
	}
	return err.Error()
}

var errTooLarge = errors.New("it is larger than the limit")

func readLimited(files fs.FS, name string, limit int64) ([]byte, error) {
	f, err := files.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close() //nolint:errcheck // it was only read
	b, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err == nil && int64(len(b)) > limit {
		err = errTooLarge
	}
	return b, err
}

// neighbours lists the files beside one that does not exist.
func (c *compiler) neighbours(name string) []string {
	dir := "."
	if i := strings.LastIndexByte(name, '/'); i >= 0 {
		dir = name[:i]
	}
	entries, err := fs.ReadDir(c.files, dir)
	if err != nil {
		return nil
	}
	names := make([]string, 0, len(entries))
	for _, e := range entries {
		n := e.Name()
		if dir != "." {
			n = dir + "/" + n
		}
		names = append(names, n)
	}
	return names
}
