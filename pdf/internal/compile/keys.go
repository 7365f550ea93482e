package compile

import (
	"example.com/quire/internal/strictyaml"
	"example.com/quire/pdf/doc"
)

// mayHave reads the value of a key into to, when the key is there.
func mayHave[T any](o *object, key string, to *T, read func(n *strictyaml.Node, path string) T) {
	if v := o.get(key); v != nil {
		*to = read(v, o.at(key))
	}
}

// mustHave is mayHave for keys that must be there.
func mustHave[T any](o *object, key string, to *T, read func(n *strictyaml.Node, path string) T) {
	if v := o.need(key); v != nil {
		*to = read(v, o.at(key))
	}
}

// oneOf reads one of the words, whose places are the values of T.
func oneOf[T ~uint8](c *compiler, words ...string) func(n *strictyaml.Node, path string) T {
	return func(n *strictyaml.Node, path string) T {
		i, _ := c.choice(n, path, words...)
		return T(i)
	}
}

// lengthFrom reads a length of at least least.
func (c *compiler) lengthFrom(least doc.Length) func(n *strictyaml.Node, path string) doc.Length {
	return func(n *strictyaml.Node, path string) doc.Length { return c.length(n, path, least) }
}

// integerIn reads a whole number from least to most.
func (c *compiler) integerIn(least, most int) func(n *strictyaml.Node, path string) int {
	return func(n *strictyaml.Node, path string) int { return c.integer(n, path, least, most) }
}

// floatIn reads a number from least to most.
func (c *compiler) floatIn(least, most float64) func(n *strictyaml.Node, path string) float64 {
	return func(n *strictyaml.Node, path string) float64 { return c.float(n, path, least, most) }
}
