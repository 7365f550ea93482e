package openapi

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"example.com/quire/web"
)

// Options of Serve.
type Options struct {
	// Path is that of the description without its ending; .json and .yaml are added.
	// Default: /openapi.
	Path string
}

// Serve registers the routes of a description, as JSON and as YAML, with an entity
// tag. Whoever may use the routes of r may read it: put it into a group with a
// middleware where that is too many. Without Info.Servers the description says that
// the API is where it came from itself.
func Serve(r web.Registrar, d *Doc, o Options) error {
	base := cmp.Or(o.Path, "/openapi")
	var written atomic.Pointer[served] // a route is asked for from the moment that it is there
	for _, form := range []struct {
		ending, kind string
		yaml         bool
	}{{".json", "application/json", false}, {".yaml", "application/yaml", true}} {
		route, err := r.TryHandle("GET", base+form.ending, func(c *web.Context) error {
			s := written.Load()
			if s == nil {
				return web.NewProblem(http.StatusServiceUnavailable, "the description is not there yet", nil)
			}
			text := s.json()
			if form.yaml {
				text = s.yaml()
			}
			c.Writer().Header()["Cache-Control"] = []string{"no-cache"} // a new program has another one
			return c.Content(web.Content{Type: form.kind, ETag: tag(text), Body: bytes.NewReader(text)})
		})
		if err != nil {
			return fmt.Errorf("openapi: serve: %w", err)
		}
		if written.Load() == nil {
			written.Store(d.servedAt(route.Info().Pattern))
		}
	}
	return nil
}

// served are the texts of a description, each written when it is first asked for: most programs
// start without anybody who does.
type served struct{ json, yaml func() []byte }

func tag(text []byte) string {
	sum := sha256.Sum256(text)
	return `"` + base64.RawURLEncoding.EncodeToString(sum[:16]) + `"`
}

// servedAt is the description with the server relative to its own place, so that what a proxy puts
// before the path stays before all paths.
func (d *Doc) servedAt(pattern string) *served {
	if d.servers {
		return &served{d.JSON, d.YAML}
	}
	url := "."
	if up := strings.Count(pattern, "/") - 1; up > 0 {
		url = strings.TrimSuffix(strings.Repeat("../", up), "/")
	}
	tree := slices.Clone(d.tree)
	for i, m := range tree {
		if m.name == "paths" {
			tree = slices.Insert(tree, i, member{"servers", servers([]string{url})})
			break
		}
	}
	text := sync.OnceValue(func() []byte {
		b, err := marshal(tree)
		if err != nil { // Document has written all of it but an address
			panic(fmt.Sprintf("openapi: the description cannot be written: %v", err))
		}
		return b
	})
	return &served{text, sync.OnceValue(func() []byte { return asYAML(text()) })}
}
