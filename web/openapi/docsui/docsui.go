// Package docsui serves a page that shows an OpenAPI description: Swagger UI, embedded completely,
// so that it needs no other host. It is a separate package because it adds 480 KB of assets to a
// program.
package docsui

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"errors"
	"fmt"
	"html/template"
	"io"
	"net/http"
	"path"
	"time"

	"example.com/quire/internal/httpfield"
	"example.com/quire/web"
)

//go:embed page.html start.js page.css assets
var files embed.FS

// Options of Serve.
type Options struct {
	// Path of the page, without a slash at its end. Default: /docs.
	Path string
	// Description is the URL of the description as JSON, relative to the page, so that
	// both may stand behind a path prefix. Default: ../openapi.json.
	Description string
	// Title of the page. Default: API.
	Title string
}

// policy lets the page load what it came with and ask the API beside it, nothing
// else.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// Serve registers the page and its files. Put r behind authentication where not
// everybody may read the description. Requests that the page makes for its reader go
// to the API with the reader's own credentials of this origin.
func Serve(r web.Registrar, o Options) error {
	o.Path = cmp.Or(o.Path, "/docs")
	o.Description = cmp.Or(o.Description, "../openapi.json")
	o.Title = cmp.Or(o.Title, "API")
	t, err := template.ParseFS(files, "page.html")
	if err != nil {
		return fmt.Errorf("docsui: %w", err)
	}
	var page bytes.Buffer
	if err := t.Execute(&page, o); err != nil {
		return fmt.Errorf("docsui: %w", err)
	}
	add := func(name string, h web.Handler) {
		if err == nil {
			_, err = r.TryHandle(http.MethodGet, o.Path+"/"+name, h)
		}
	}
	tag := tagOf(page.Bytes())
	add("{$}", func(c *web.Context) error {
		h := c.Writer().Header()
		h.Set("Content-Security-Policy", policy)
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cache-Control", "no-cache")
		return c.Content(web.Content{Type: "text/html; charset=utf-8", ETag: tag, Body: bytes.NewReader(page.Bytes())})
	})
	for _, a := range []struct{ file, kind string }{
		{"start.js", "text/javascript; charset=utf-8"},
		{"page.css", "text/css; charset=utf-8"},
		{"assets/swagger-ui-bundle.js.gz", "text/javascript; charset=utf-8"},
		{"assets/swagger-ui.css.gz", "text/css; charset=utf-8"},
		{"assets/LICENSE", "text/plain; charset=utf-8"},
		{"assets/NOTICE", "text/plain; charset=utf-8"},
	} {
		content, readErr := files.ReadFile(a.file)
		err = errors.Join(err, readErr)
		name := path.Base(a.file)
		if path.Ext(name) == ".gz" {
			add(name[:len(name)-len(".gz")], compressed(content, a.kind))
			continue
		}
		tag := tagOf(content)
		add(name, func(c *web.Context) error {
			c.Writer().Header().Set("Cache-Control", "no-cache")
			return c.Content(web.Content{Type: a.kind, ETag: tag, Body: bytes.NewReader(content)})
		})
	}
	if err != nil {
		return fmt.Errorf("docsui: %w", err)
	}
	return nil
}

// compressed sends what is kept compressed as it is, or unpacked to a client that
// does not take it.
func compressed(content []byte, kind string) web.Handler {
	tag := tagOf(content)
	return func(c *web.Context) error {
		h := c.Writer().Header()
		h.Set("Cache-Control", "no-cache")
		h.Add("Vary", "Accept-Encoding")
		if accepted := c.Request().Header["Accept-Encoding"]; len(accepted) > 0 && httpfield.CodingQ(httpfield.ParseWeighted(accepted), true, "gzip") > 0 {
			h.Set("Content-Encoding", "gzip")
			return c.Content(web.Content{Type: kind, ETag: tag, Body: bytes.NewReader(content)})
		}
		if err := c.Precondition(tag[:len(tag)-1]+`-plain"`, time.Time{}); err != nil {
			return err
		}
		return c.Stream(kind, func(w io.Writer) error {
			z, err := gzip.NewReader(bytes.NewReader(content))
			if err != nil {
				return fmt.Errorf("docsui: %w", err)
			}
			_, err = io.Copy(w, z) //nolint:gosec // what is unpacked is embedded in the program
			return err
		})
	}
}

func tagOf(content []byte) string {
	sum := sha256.Sum256(content)
	return `"` + base64.RawURLEncoding.EncodeToString(sum[:16]) + `"`
}
