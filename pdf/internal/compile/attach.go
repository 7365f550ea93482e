package compile

import (
	"strings"

	"example.com/quire/internal/strictyaml"
	"example.com/quire/pdf/doc"
)

// attachment is a file that the document is to carry.
type attachment struct {
	cond *programAt
	out  doc.Attachment
	text *plainText // its content; nil: out.Data
	name *plainText
	desc *plainText
}

// attachments reads `attach:`.
func (c *compiler) attachments(n *strictyaml.Node) {
	if n == nil || !c.filled(n, "attach", "files") {
		return
	}
	for i, v := range n.Items {
		path := index("attach", i)
		o, ok := c.object(v, path, "an attached file")
		if !ok {
			continue
		}
		c.plan.attachments = append(c.plan.attachments, c.attachment(o))
		o.done()
	}
}

func (c *compiler) attachment(o *object) attachment {
	a := attachment{out: doc.Attachment{Src: c.source(o.n, o.path)}}
	if v := o.get("if"); v != nil {
		a.cond = c.condition(v, o.at("if"))
		defer c.given(a.cond.holds())()
	}
	mayHave(o, "name", &a.name, c.plain)
	file, text := o.get("file"), o.get("text")
	switch {
	case (file == nil) == (text == nil):
		c.bad(o.n, o.path, codeWrong, "", "want file: or text:, one of them")
	case text != nil:
		a.text = c.plain(text, o.at("text"))
		if a.name == nil {
			c.bad(o.n, o.path, codeNoKey, "", "a text that is attached needs a name")
		}
	default:
		if name, ok := c.word(file, o.at("file")); ok {
			a.out.Data = c.readFile(file, o.at("file"), name)
			a.out.Name = name[strings.LastIndexByte(name, '/')+1:]
		}
	}
	name := a.out.Name
	if a.name != nil {
		name = a.name.parts[len(a.name.parts)-1].lit // the ending, where the template writes it
	}
	a.out.Type = doc.MediaType(name)
	if v := o.get("type"); v != nil {
		s, ok := c.word(v, o.at("type"))
		if kind, sub, two := strings.Cut(s, "/"); ok && (!two || kind == "" || sub == "" || strings.ContainsAny(s, " ;,\"")) {
			c.bad(v, o.at("type"), codeWrong, "write text/csv or the like", "%s is not a media type", quoted(s))
		}
		a.out.Type = s
	}
	mayHave(o, "relationship", &a.out.Relationship, oneOf[doc.Relationship](c, "unspecified", "source", "data", "alternative", "supplement"))
	mayHave(o, "description", &a.desc, c.plain)
	return a
}

// attachments makes the files of a document.
func (r *render) attachments() ([]doc.Attachment, error) {
	var out []doc.Attachment
	for i := range r.plan.attachments {
		a := &r.plan.attachments[i]
		if a.cond != nil {
			v, err := r.eval(a.cond)
			if err != nil {
				return nil, err
			}
			if !v.True() {
				continue
			}
		}
		made := a.out
		for _, t := range [...]struct {
			from *plainText
			to   *string
		}{{a.name, &made.Name}, {a.desc, &made.Description}} {
			if t.from == nil {
				continue
			}
			var err error
			if *t.to, err = r.plain(t.from); err != nil {
				return nil, err
			}
		}
		made.Name = safeName(made.Name)
		if a.text != nil {
			text, err := r.plain(a.text)
			if err != nil {
				return nil, err
			}
			made.Data = []byte(text)
		}
		out = append(out, made)
	}
	return out, nil
}
