package web

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"html"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"example.com/quire/internal/httpfield"
	"example.com/quire/internal/route"
)

// StaticOptions configure Static. The zero value serves files and index pages,
// and nothing that begins with a dot.
type StaticOptions struct {
	// Index is the file served for a directory. Default: index.html.
	Index string
	// List answers a directory without index by a list of its files. Default:
	// off. Danger: it shows names nobody linked to.
	List bool
	// SPA serves the top index for paths without file whose last segment has no
	// dot, when the client takes HTML: the routes of a single-page application.
	SPA bool
	// CacheControl is sent with files. Default: no-cache, so that clients
	// revalidate by entity tag.
	CacheControl string
}

// Static serves the files of fsys below prefix. Entity tags are hashes of the
// content. A sibling with .br, .zst or .gz is sent in place of a file to
// clients that take the coding. Names with a segment that begins with a dot are
// 404. fsys decides what can be reached: os.Root's FS keeps symbolic links
// inside, os.DirFS follows them anywhere.
func (g *Group) Static(prefix string, fsys fs.FS, o StaticOptions) {
	s := &static{fsys: fsys, o: o, tags: map[string]fileTag{}}
	s.o.Index = cmp.Or(o.Index, "index.html")
	s.o.CacheControl = cmp.Or(o.CacheControl, "no-cache")
	g.GET(strings.TrimSuffix(prefix, "/")+"/{path...}", s.serve, optionFunc(func(r *Route) { r.static = s }))
}

type static struct {
	fsys fs.FS
	o    StaticOptions
	mu   sync.Mutex
	tags map[string]fileTag
}

// fileTag is a file's entity tag, good while size and time stay.
type fileTag struct {
	size int64
	mod  time.Time
	tag  string
}

func (s *static) serve(c *Context) error {
	name := c.Param("path")
	dir := name == "" || strings.HasSuffix(name, "/")
	name = strings.TrimSuffix(name, "/")
	if name == "" {
		name = "."
	}
	if !safeName(name) {
		return ErrNotFound
	}
	info, err := fs.Stat(s.fsys, name)
	switch {
	case err != nil:
		if err = fileError(name, err); s.o.SPA && errors.Is(err, ErrNotFound) && !strings.Contains(path.Base(name), ".") && wantsHTML(c.req) {
			return s.file(c, s.o.Index)
		}
		return err
	case info.IsDir() && !dir:
		return c.LocalRedirect(http.StatusTemporaryRedirect, route.EscapedPath(c.req.URL)+"/"+query(c.req.URL))
	case info.IsDir():
		index := path.Join(name, s.o.Index)
		if _, err := fs.Stat(s.fsys, index); err == nil {
			return s.file(c, index)
		}
		if s.o.List {
			return s.list(c, name)
		}
		return ErrNotFound
	case dir:
		return ErrNotFound
	}
	return s.file(c, name)
}

func query(u *url.URL) string {
	if u.RawQuery == "" {
		return ""
	}
	return "?" + u.RawQuery
}

func wantsHTML(r *http.Request) bool {
	return httpfield.Prefer(r.Header["Accept"], "application/json", "text/html") == "text/html"
}

// safeName refuses what is no slash-separated path inside a file system, and
// dotfiles: .git and .env are what scanners look for first.
func safeName(name string) bool {
	if name == "." {
		return true
	}
	if !fs.ValidPath(name) || strings.ContainsAny(name, "\\\x00") {
		return false
	}
	for seg := range strings.SplitSeq(name, "/") {
		if seg[0] == '.' {
			return false
		}
	}
	return true
}

// fileError makes 404 of what cannot be reached, and leaves the faults of the
// server itself as they are.
func fileError(name string, err error) error {
	for _, fault := range []error{syscall.EMFILE, syscall.ENFILE, syscall.EIO, syscall.ENOMEM} {
		if errors.Is(err, fault) {
			return fmt.Errorf("web: file %s: %w", name, err)
		}
	}
	return fmt.Errorf("%w: %w", ErrNotFound, err)
}

// file serves one file, or its sibling in a coding that the client takes.
func (s *static) file(c *Context, name string) error {
	h := c.w.Header()
	served := name
	accept := c.req.Header["Accept-Encoding"]
	weights := httpfield.ParseWeighted(accept)
	best := httpfield.CodingQ(weights, len(accept) > 0, "identity")
	for _, sib := range siblings {
		if info, err := fs.Stat(s.fsys, name+sib.ext); err != nil || !info.Mode().IsRegular() {
			continue
		}
		addVary(h, "Accept-Encoding")
		if q := httpfield.CodingQ(weights, len(accept) > 0, sib.coding); q > 0 && (q > best || q == best && served == name) {
			best, served = q, name+sib.ext
			h["Content-Encoding"] = []string{sib.coding}
		}
	}
	f, info, err := openFile(s.fsys, served)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }() // it was only read
	tag, err := s.tag(served, info, f)
	if err != nil {
		return fmt.Errorf("web: file %s: %w", served, err)
	}
	h.Set("Cache-Control", s.o.CacheControl)
	return c.serveFile(f, info, typeByName(name), tag)
}

var siblings = []struct{ ext, coding string }{{".br", "br"}, {".zst", "zstd"}, {".gz", "gzip"}}

// largeFile is the size from which a tag is of size and time, not of content:
// hashing would hold up the first client for seconds.
const largeFile = 64 << 20

func (s *static) tag(name string, info fs.FileInfo, f fs.File) (string, error) {
	if info.Size() >= largeFile {
		return fmt.Sprintf(`W/"%x-%x"`, info.Size(), info.ModTime().UnixNano()), nil
	}
	s.mu.Lock()
	t, ok := s.tags[name]
	s.mu.Unlock()
	if ok && t.size == info.Size() && t.mod.Equal(info.ModTime()) {
		return t.tag, nil
	}
	seeker, ok := f.(io.Seeker)
	if !ok {
		return "", nil
	}
	sum := sha256.New()
	if _, err := io.Copy(sum, f); err != nil {
		return "", err
	}
	if _, err := seeker.Seek(0, io.SeekStart); err != nil {
		return "", err
	}
	t = fileTag{info.Size(), info.ModTime(), `"` + base64.RawURLEncoding.EncodeToString(sum.Sum(nil)[:16]) + `"`}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.tags) >= 10_000 { // only files that exist are noted; still, a directory may grow
		clear(s.tags)
	}
	s.tags[name] = t
	return t.tag, nil
}

func (s *static) list(c *Context, name string) error {
	entries, err := fs.ReadDir(s.fsys, name)
	if err != nil {
		return fileError(name, err)
	}
	var b bytes.Buffer
	b.WriteString("<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>Files</title></head><body><ul>\n")
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), ".") {
			continue
		}
		shown := e.Name()
		if e.IsDir() {
			shown += "/"
		}
		link := url.URL{Path: "./" + shown} // ./ keeps a colon in the name from looking like a scheme
		fmt.Fprintf(&b, "<li><a href=\"%s\">%s</a></li>\n", html.EscapeString(link.String()), html.EscapeString(shown))
	}
	b.WriteString("</ul></body></html>\n")
	c.w.Header().Set("Cache-Control", "no-cache")
	return c.send(http.StatusOK, valueHTML, b.Bytes())
}

// openFile opens a regular file.
func openFile(fsys fs.FS, name string) (fs.File, fs.FileInfo, error) {
	if system, ok := fsys.(fs.StatFS); ok { // to open a named pipe waits until somebody writes to it
		if info, err := system.Stat(name); err == nil && !info.Mode().IsRegular() {
			return nil, nil, fileError(name, fs.ErrNotExist)
		}
	}
	f, err := fsys.Open(name)
	if err != nil {
		return nil, nil, fileError(name, err)
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = ErrNotFound
	}
	if err != nil {
		_ = f.Close() // it was only opened
		return nil, nil, fileError(name, err)
	}
	return f, info, nil
}

func (c *Context) serveFile(f fs.File, info fs.FileInfo, kind, tag string) error {
	if body, ok := f.(io.ReadSeeker); ok && info.Size() > 0 {
		return c.Content(Content{Type: kind, ETag: tag, Modified: info.ModTime(), Size: info.Size(), Body: body})
	}
	if err := c.precondition(tag, info.ModTime(), true); err != nil {
		return err
	}
	h := c.w.Header()
	h["Content-Type"] = []string{kind}
	h["Content-Length"] = []string{strconv.FormatInt(info.Size(), 10)}
	c.w.WriteHeader(http.StatusOK)
	if c.req.Method == http.MethodHead {
		return nil
	}
	return c.copyBody(f, info.Size())
}

// File answers with a file of fsys, with conditions and ranges. The name is the
// program's: dotfiles are served when it asks for them.
func (c *Context) File(fsys fs.FS, name string) error {
	c.live()
	f, info, err := openFile(fsys, name)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }() // it was only read
	return c.serveFile(f, info, typeByName(name), "")
}

// Attachment is File with a name for the client to save it under.
func (c *Context) Attachment(fsys fs.FS, name, as string) error {
	c.live()
	c.w.Header().Set("Content-Disposition", ContentDisposition("attachment", as))
	return c.File(fsys, name)
}

// typeByName returns the media type of a file name by a fixed table: the
// system's own differs from machine to machine.
func typeByName(name string) string {
	ext := strings.ToLower(path.Ext(name))
	if i, ok := slices.BinarySearchFunc(mediaTypes, ext, func(m [2]string, e string) int { return strings.Compare(m[0], e) }); ok {
		return mediaTypes[i][1]
	}
	return "application/octet-stream"
}

var mediaTypes = [][2]string{ // sorted
	{".avif", "image/avif"},
	{".css", "text/css; charset=utf-8"},
	{".csv", "text/csv; charset=utf-8"},
	{".gif", "image/gif"},
	{".gz", "application/gzip"},
	{".htm", "text/html; charset=utf-8"},
	{".html", "text/html; charset=utf-8"},
	{".ico", "image/vnd.microsoft.icon"},
	{".jpeg", "image/jpeg"},
	{".jpg", "image/jpeg"},
	{".js", "text/javascript; charset=utf-8"},
	{".json", "application/json"},
	{".map", "application/json"},
	{".md", "text/markdown; charset=utf-8"},
	{".mjs", "text/javascript; charset=utf-8"},
	{".mp3", "audio/mpeg"},
	{".mp4", "video/mp4"},
	{".otf", "font/otf"},
	{".pdf", "application/pdf"},
	{".png", "image/png"},
	{".svg", "image/svg+xml"},
	{".ttf", "font/ttf"},
	{".txt", "text/plain; charset=utf-8"},
	{".wasm", "application/wasm"},
	{".webm", "video/webm"},
	{".webmanifest", "application/manifest+json"},
	{".webp", "image/webp"},
	{".woff", "font/woff"},
	{".woff2", "font/woff2"},
	{".xml", "text/xml; charset=utf-8"},
	{".zip", "application/zip"},
}
