// Package compress has the middleware that compresses responses with zstd and gzip.
package compress

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"net/http"
	"path"
	"regexp"
	"strings"
	"sync"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"example.com/quire/internal/httpfield"
	"example.com/quire/web"
)

// Options configure New.
type Options struct {
	// MinSize is the bytes of body from which coding is worth its cost. Default: 1024.
	MinSize int
	// ExcludeTypes are media types that stay as they are, "text/*" for all of a kind.
	// Images, video, archives and other types that do not shrink always do.
	ExcludeTypes []string
	// ExcludeExtensions of the request's path, such as .csv.
	ExcludeExtensions []string
	// ExcludePaths are prefixes of the request's path: /api excludes /api and what is
	// below it.
	ExcludePaths []string
	// ExcludeRegexps match the request's path.
	ExcludeRegexps []*regexp.Regexp
}

// New makes a middleware that codes answers by the q-values of Accept-Encoding; of
// equal ones zstd is taken, then gzip. It leaves alone: ranges, 204 and 304, answers
// that have a Content-Encoding already (a file that Static keeps as .br is sent so),
// a Content-Digest or Cache-Control: no-transform, types that do not shrink, and
// event streams that are not flushed. A flush reaches the client at once. A strong
// entity tag becomes weak, for the bytes are others. Who refuses identity gets small
// bodies coded too, and 406 where nothing is left.
//
// It belongs after the access log in Use, which else sees the status of an answer
// without Content-Length too early.
//
// Danger: an answer that holds both a secret and what a stranger chose tells the
// secret by its length (BREACH). Exclude such paths, or mask the secret per answer.
func New(o Options) (web.Middleware, error) {
	if o.MinSize < 0 {
		return nil, &web.ConfigError{Field: "Options.MinSize", Got: o.MinSize, Want: "at least 0"}
	}
	o.MinSize = cmp.Or(o.MinSize, 1024)
	for _, t := range o.ExcludeTypes {
		kind, sub, ok := strings.Cut(t, "/")
		if !ok || !httpfield.IsToken(kind) || !httpfield.IsToken(sub) {
			return nil, &web.ConfigError{Field: "Options.ExcludeTypes", Got: t, Want: "a media type such as text/csv or text/*"}
		}
	}
	for _, ext := range o.ExcludeExtensions {
		if len(ext) < 2 || ext[0] != '.' || strings.Contains(ext, "/") {
			return nil, &web.ConfigError{Field: "Options.ExcludeExtensions", Got: ext, Want: "an extension such as .csv"}
		}
	}
	for _, p := range o.ExcludePaths {
		if !strings.HasPrefix(p, "/") {
			return nil, &web.ConfigError{Field: "Options.ExcludePaths", Got: p, Want: "a path from /"}
		}
	}
	for _, re := range o.ExcludeRegexps {
		if re == nil {
			return nil, &web.ConfigError{Field: "Options.ExcludeRegexps", Got: "nil", Want: "a regular expression"}
		}
	}
	m := &middleware{Options: o}
	return m.wrap, nil
}

type middleware struct {
	Options

	gzips, zstds sync.Pool // of encoder, at rest
}

func (m *middleware) wrap(next web.Handler) web.Handler {
	return func(c *web.Context) error {
		r := c.Request()
		if m.excluded(r.URL.Path) {
			return next(c)
		}
		w := &writer{ResponseWriter: c.Writer(), m: m, head: r.Method == http.MethodHead}
		w.untouched = r.Header["Range"] != nil || httpfield.ParseCacheControl(r.Header["Cache-Control"]).Has("no-transform")
		w.coding, w.refused = choose(r.Header["Accept-Encoding"])
		w.strict = w.refused && (w.head || r.Method == http.MethodGet)
		c.SetWriter(w)
		err := next(c)
		c.SetWriter(w.ResponseWriter)
		if errors.Is(err, web.ErrNotModified) { // answered above, with the fields of the 200
			w.vary()
			w.weaken()
		}
		if end := w.finish(); err == nil {
			err = end
		}
		return err
	}
}

func (m *middleware) excluded(p string) bool {
	for _, ext := range m.ExcludeExtensions {
		if strings.EqualFold(path.Ext(p), ext) {
			return true
		}
	}
	for _, prefix := range m.ExcludePaths {
		if rest, ok := strings.CutPrefix(p, strings.TrimSuffix(prefix, "/")); ok && (rest == "" || rest[0] == '/') {
			return true
		}
	}
	for _, re := range m.ExcludeRegexps {
		if re.MatchString(p) {
			return true
		}
	}
	return false
}

// choose returns the coding that the client prefers, "" for none, and whether it
// refuses identity (RFC 9110, section 12.5.3).
func choose(lines []string) (coding string, refused bool) {
	ranges := httpfield.ParseWeighted(lines)
	identity := httpfield.CodingQ(ranges, lines != nil, "identity")
	best := 0
	for _, name := range [...]string{"zstd", "gzip"} {
		if q := httpfield.CodingQ(ranges, lines != nil, name); q > best && q >= identity {
			coding, best = name, q
		}
	}
	return coding, identity == 0
}

// compressible reports whether bodies of a media type shrink and are not excluded.
func (m *middleware) compressible(kind string) bool {
	main, _, _ := strings.Cut(kind, "/")
	for _, t := range m.ExcludeTypes {
		if strings.EqualFold(t, kind) || strings.EqualFold(t, main+"/*") {
			return false
		}
	}
	return httpfield.Compressible(kind)
}

// encoder is what gzip.Writer and zstd.Encoder have in common.
type encoder interface {
	io.WriteCloser
	Flush() error
	Reset(w io.Writer)
}

func (m *middleware) pool(coding string) *sync.Pool {
	if coding == "zstd" {
		return &m.zstds
	}
	return &m.gzips
}

func (m *middleware) take(coding string, w io.Writer) (encoder, error) {
	if e, ok := m.pool(coding).Get().(encoder); ok {
		e.Reset(w)
		return e, nil
	}
	if coding == "gzip" {
		return gzip.NewWriter(w), nil
	}
	// A client need not accept a window above 8 MiB (RFC 9659); a small one keeps the
	// memory of a connection small. One goroutine: the handler's.
	e, err := zstd.NewWriter(w, zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(256<<10), zstd.WithLowerEncoderMem(true))
	if err != nil {
		return nil, fmt.Errorf("make zstd encoder: %w", err)
	}
	return e, nil
}

func (m *middleware) put(coding string, e encoder) {
	e.Reset(nil) // keeps no answer alive
	m.pool(coding).Put(e)
}
