package render

import (
	"container/list"
	"sync"

	"example.com/quire/internal/record"
	"example.com/quire/pdf/template"
)

// plans keeps compiled templates by the hash of the template, the least
// recently used out first. The nil cache keeps nothing.
type plans struct {
	mu    sync.Mutex
	max   int64
	bytes int64
	byKey map[record.Hash]*list.Element
	used  *list.List // of *kept, the last used in front
}

type kept struct {
	key  record.Hash
	plan *template.Plan
	cost int64
}

func newPlans(maxBytes int64) *plans {
	if maxBytes <= 0 {
		return nil
	}
	return &plans{max: maxBytes, byKey: make(map[record.Hash]*list.Element), used: list.New()}
}

func (c *plans) get(key record.Hash) *template.Plan {
	if c == nil {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	e := c.byKey[key]
	if e == nil {
		return nil
	}
	c.used.MoveToFront(e)
	return e.Value.(*kept).plan
}

func (c *plans) put(key record.Hash, p *template.Plan, cost int64) {
	if c == nil || cost > c.max {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.byKey[key] != nil {
		return // compiled by somebody else meanwhile: the same plan
	}
	c.byKey[key] = c.used.PushFront(&kept{key, p, cost})
	c.bytes += cost
	for c.bytes > c.max {
		oldest := c.used.Remove(c.used.Back()).(*kept)
		delete(c.byKey, oldest.key)
		c.bytes -= oldest.cost
	}
}
