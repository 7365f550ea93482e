package edit

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

	"example.com/quire/pdf/cos"
	"example.com/quire/pdf/internal/diag"
	"example.com/quire/pdf/standard"
)

// specification is a file specification dictionary (ISO 32000-2, 7.11.3).
type specification struct {
	at    cos.Ref // itself, or the object that it stands in
	dict  cos.Dict
	whole bool     // it is an object of its own
	key   cos.Name // under which it stands within another
}

// files notes file specifications, and with which of them something is associated (14.13).
func (c *checker) files(r cos.Ref, d cos.Dict, key cos.Name) {
	for _, k := range [...]cos.Name{"AF", "MCAF"} {
		for _, o := range c.e.array(d.Get(k)) {
			if at := refOf(o); !at.IsZero() {
				c.associated[at.Num] = true
			}
		}
	}
	if c.e.name(d.Get("Type")) == "Filespec" || d.Get("EF") != nil {
		c.specs = append(c.specs, specification{r, d, key == "", key})
	}
	if c.e.name(d.Get("Subtype")) == "FileAttachment" {
		if d.Get("FS") != nil {
			spec := c.e.dict(d.Get("FS"))
			c.j.AttachedByAnnotation(r, c.resolved(spec, "AFRelationship"))
		}
	}
}

// resolved returns these entries of a dictionary, without references.
func (c *checker) resolved(d cos.Dict, keys ...cos.Name) (out cos.Dict) {
	for _, key := range keys {
		if v := c.e.resolve(d.Get(key)); v != nil {
			out = append(out, cos.E(key, v))
		}
	}
	return out
}

// attached shows the file specifications that objects have noted, and each embedded file once.
func (c *checker) attached() error {
	named, known := map[uint32]bool{}, map[uint32]bool{}
	for _, s := range c.specs {
		known[s.at.Num] = known[s.at.Num] || s.whole
	}
	for _, x := range c.e.embeddedFiles() {
		r := refOf(x.value)
		if d := c.e.dict(x.value); d != nil && !r.IsZero() && !known[r.Num] { // which lacks its type
			known[r.Num] = true
			c.specs = append(c.specs, specification{at: r, dict: d, whole: true})
		}
		named[r.Num] = true
	}
	seen := map[uint32]bool{}
	for _, s := range c.specs {
		if err := c.ctx.Err(); err != nil {
			return err
		}
		c.j.Specification(s.at, standard.Specification{
			Dict:       c.resolved(s.dict, "EF", "F", "UF", "AFRelationship", "Desc"),
			Named:      s.whole && named[s.at.Num] || s.key == "Names",
			Associated: s.whole && c.associated[s.at.Num] || s.key == "AF" || s.key == "MCAF",
		})
		ef := c.e.dict(s.dict.Get("EF"))
		for _, key := range [...]cos.Name{"F", "UF", "DOS", "Mac", "Unix"} {
			r := refOf(ef.Get(key))
			file, ok := c.e.resolve(r).(*stream)
			if !ok || seen[r.Num] {
				continue
			}
			seen[r.Num] = true
			why, err := c.noArchive(r)
			if err != nil {
				return err
			}
			c.j.Embedded(r, c.e.name(file.dict.Get("Subtype")), why)
		}
	}
	return nil
}

// mostWithin is how deep files are followed that stand within files.
const mostWithin = 8

// operatorsOfFile is what an embedded file counts for beside its bytes and its content.
const operatorsOfFile = 1_000

// operatorsOfNone is what one counts for that is no file which can be read: how much was decoded
// until then is not known.
const operatorsOfNone = 20_000

// unjudged notes an embedded file that reaches a limit: the rest of the file is judged, unless
// what the whole may decode is spent with it.
func (c *checker) unjudged(r cos.Ref, err error) error {
	if limit := new(diag.LimitError); errors.As(err, &limit) && limit.Name == "DecodedBytes" {
		return fmt.Errorf("object %d: %w", r.Num, err)
	}
	c.j.Unjudged(r, err)
	return nil
}

// noArchive tells why an embedded file keeps none of the standards of which it must keep one;
// empty: it keeps one, or need not.
func (c *checker) noArchive(r cos.Ref) (why string, err error) {
	if len(c.filesMustBe) == 0 {
		return "", nil
	}
	place := fmt.Sprintf("object %d", r.Num)
	if err := diag.Check("Depth", int64(c.depth)+1, mostWithin, place); err != nil {
		c.j.Unjudged(r, err)
		return "", nil
	}
	data := c.e.data(r)
	if c.left -= operatorsOfFile + len(data)/bytesOfOperator; c.left < 0 {
		return "", c.tooMuch(r)
	}
	d, err := Open(bytes.NewReader(data), int64(len(data)), Options{Limits: c.e.base.Within()})
	if err != nil {
		if c.left -= operatorsOfNone; c.left < 0 {
			return "", fmt.Errorf("%s: %w", place, err)
		}
		if errors.As(err, new(*diag.LimitError)) {
			return "", c.unjudged(r, err)
		}
		if e, ok := errors.AsType[*cos.ReadError](err); ok {
			return e.Reason, nil
		}
		return err.Error(), nil
	}
	defer func() { // whatever became of it
		if spent := c.e.base.Spent(d.Reader); spent != nil && err == nil {
			why, err = "", fmt.Errorf("%s: %w", place, spent)
		}
	}()
	claims := NewDraft(d).Claims()
	i := slices.IndexFunc(c.filesMustBe, func(id standard.ID) bool { return id.ClaimedBy(claims) })
	if i < 0 {
		return fmt.Sprintf("it claims none of %v", c.filesMustBe), nil
	}
	found, err := d.check(c.ctx, c.filesMustBe[i:i+1], c.depth+1, &c.left)
	switch {
	case err != nil && (c.ctx.Err() != nil || c.left < 0):
		return "", fmt.Errorf("%s: %w", place, err)
	case errors.As(err, new(*diag.LimitError)):
		return "", c.unjudged(r, err)
	case err != nil:
		return err.Error(), nil
	case len(found) > 0:
		return found[0].Clause + ": " + found[0].Message, nil
	}
	return "", nil
}
