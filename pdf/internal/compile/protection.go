package compile

import (
	"example.com/quire/internal/strictyaml"
	"example.com/quire/pdf/crypt"
	"example.com/quire/pdf/doc"
	"example.com/quire/pdf/internal/compile/exprlang"
	"example.com/quire/pdf/standard"
)

// protection is what a template says of the passwords.
type protection struct {
	out         doc.Protection
	owner, user *plainText
}

// protection reads `protect:`.
func (c *compiler) protection(n *strictyaml.Node) {
	if n == nil {
		return
	}
	o, ok := c.object(n, "protect", "protection")
	if !ok {
		return
	}
	if c.plan.signing != nil {
		c.bad(n, "protect", codeWrong, "", "a document that is encrypted is not signed")
	}
	for _, d := range standard.NewChecker(c.plan.standards).Encryption() {
		c.bad(n, "protect", d.Code, d.Suggestion, "%s", d.Message)
		c.list[len(c.list)-1].Clause = d.Clause
	}
	p := &protection{out: doc.Protection{Src: c.source(n, "protect")}}
	mustHave(o, "owner", &p.owner, c.plain)
	mayHave(o, "user", &p.user, c.plain)
	p.out.Permissions = crypt.PermissionNames()
	mayHave(o, "permissions", &p.out.Permissions, c.permissions)
	if v := o.get("metadata"); v != nil {
		i, _ := c.choice(v, o.at("metadata"), "clear", "encrypted")
		p.out.PlainMetadata = i == 0
	}
	o.done()
	c.plan.protection = p
}

// permissions reads a list of them by their names.
func (c *compiler) permissions(n *strictyaml.Node, path string) (names []string) {
	if n.Kind != strictyaml.Sequence {
		c.bad(n, path, codeWrong, "", "want a list, got %s", n.Kind)
	}
	for i, v := range n.Items {
		name, ok := c.word(v, index(path, i))
		if _, known := crypt.ParsePermission(name); ok && !known {
			c.bad(v, index(path, i), codeWrong, exprlang.Nearest(name, crypt.PermissionNames()), "no permission %q", name)
		}
		names = append(names, name)
	}
	return names
}

// protection fills in the passwords.
func (r *render) protection(p *protection) (*doc.Protection, error) {
	if p == nil {
		return nil, nil //nolint:nilnil // no protection is no error
	}
	out := p.out
	var err error
	if out.Owner, err = r.plain(p.owner); err == nil && p.user != nil {
		out.User, err = r.plain(p.user)
	}
	return &out, err
}
