// Package htmlpdf converts HTML to PDF or an image with a Chromium that the user has installed.
//
// It is not part of the document engine. The output of Chromium is not archival, differs each
// time, and is never a document of record. Use it for pages that exist only as HTML.
//
// The browser never opens a connection. Each of its requests is intercepted, and answered by
// [Options.Resources] or refused. Without that policy, everything except the page itself is
// refused. Connections that cannot be intercepted individually (WebSocket, WebRTC, DNS prefetch)
// use a resolver that knows no host. Scripts do not run unless requested, frames stay empty unless
// their content is in the page (srcdoc), and downloads and further pages are refused. Each call
// has its own browser context, so nothing of one page is visible to the next.
//
//	c, err := htmlpdf.New(htmlpdf.Options{})
//	if err != nil {
//		return err
//	}
//	defer c.Close()
//	file, err := c.PDF(ctx, htmlpdf.Source{HTML: page}, htmlpdf.PDFOptions{Background: true})
//
// A Converter is safe for concurrent use.
package htmlpdf

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os/exec"
	"sync"
	"time"

	"github.com/chromedp/chromedp"

	"example.com/quire/pdf/internal/diag"
)

// The errors of a conversion. An exceeded limit is a [LimitError], an invalid request an
// [OptionError], and the end of the caller's context is the context's own error.
var (
	ErrNoBrowser = errors.New("htmlpdf: no Chromium found: install chromium, or name it in Options.Browser")
	ErrBrowser   = errors.New("htmlpdf: the browser failed") // it did not start, or it ended
	ErrBusy      = errors.New("htmlpdf: other pages took the time in which a turn was waited for")
	ErrOptions   = errors.New("htmlpdf: option out of range")
	ErrPage      = errors.New("htmlpdf: the page could not be loaded")
	ErrClosed    = errors.New("htmlpdf: the converter is closed")
)

// LimitError says which limit was exceeded, and by how much.
type LimitError = diag.LimitError

// OptionError says which option cannot be: a field of [Source], [PDFOptions] or [ImageOptions]. It
// is an [ErrOptions].
type OptionError struct{ Field, Got, Want string }

// Error implements error.
func (e *OptionError) Error() string {
	return fmt.Sprintf("%v: %s is %s: want %s", ErrOptions, e.Field, e.Got, e.Want)
}

// Unwrap returns ErrOptions.
func (e *OptionError) Unwrap() error { return ErrOptions }

// Options configure a Converter. The zero value finds the browser itself and allows no network.
type Options struct {
	// Browser is the path of the browser; "" looks for chromium, chromium-browser, google-chrome
	// and chrome in PATH.
	Browser string

	// NoSandbox runs the browser without its sandbox, as it must where it runs as root. Then a
	// fault of the browser is a fault of the whole account: not for pages of strangers.
	NoSandbox bool

	// Resources answers the requests of pages: GET, without cookies, credentials or Referer. A
	// redirect is returned to the browser, whose next request is checked like any other. An error,
	// as a guard against private networks returns it, is a missing resource. nil refuses all.
	Resources http.RoundTripper

	// Limits bound input and output; a zero field means its default.
	Limits Limits
}

// Limits bound one conversion.
type Limits struct {
	HTMLBytes     int64         // page; default 8 MiB
	Resources     int64         // requests; default 500
	ResourceBytes int64         // all answers together; default 64 MiB
	OutputBytes   int64         // file; default 128 MiB
	ImagePixels   int64         // width x height of an image in device pixels; default 50,000,000
	Time          time.Duration // all of it, waiting for a turn included; default 30 s
	Parallel      int           // pages at once; default 2
}

func (l Limits) orDefaults() Limits {
	for _, f := range []struct {
		value *int64
		byDef int64
	}{
		{&l.HTMLBytes, 8 << 20},
		{&l.Resources, 500},
		{&l.ResourceBytes, 64 << 20},
		{&l.OutputBytes, 128 << 20},
		{&l.ImagePixels, 50_000_000},
	} {
		if *f.value <= 0 {
			*f.value = f.byDef
		}
	}
	if l.Time <= 0 {
		l.Time = 30 * time.Second
	}
	if l.Parallel <= 0 {
		l.Parallel = 2
	}
	return l
}

// Source is the page: its HTML, or where it is. One of the two.
type Source struct {
	HTML []byte // UTF-8, unless the page says otherwise
	URL  string // http or https, read through [Options.Resources]; with HTML, the base of its links

	// Scripts lets the scripts of the page run until it is loaded.
	Scripts bool

	// Missed, if set, is called for each address that the page requested and did not get, with the
	// reason: the error of [Options.Resources], or that there are none. It is called by several
	// goroutines concurrently, and not after the conversion has returned.
	Missed func(address string, reason error)
}

// blank is where a page without an address stands: a host that cannot exist (RFC 2606), by https,
// so that nothing of the page reaches local files.
const blank = "https://document.invalid/"

func (s Source) address(l Limits) (string, error) {
	if n := int64(len(s.HTML)); n > l.HTMLBytes {
		return "", &LimitError{Name: "HTMLBytes", Value: n, Limit: l.HTMLBytes}
	}
	if s.URL == "" {
		if s.HTML == nil {
			return "", &OptionError{Field: "HTML", Got: "nothing", Want: "a page, or a URL"}
		}
		return blank, nil
	}
	u, err := url.Parse(s.URL)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return "", option("URL", fmt.Sprintf("%.100q", s.URL), "http or https and a host")
	}
	u.Fragment, u.User = "", nil
	if u.Path == "" {
		u.Path = "/"
	}
	return u.String(), nil
}

// A Converter runs one browser process, started by the first call and again when it has ended.
type Converter struct {
	path    string
	options Options
	turns   chan struct{}

	mu      sync.Mutex
	closed  bool
	browser context.Context // of the process; nil before it runs
	stop    func()
}

// New finds the browser. It does not start it.
func New(o Options) (*Converter, error) {
	o.Limits = o.Limits.orDefaults()
	names := []string{"chromium", "chromium-browser", "google-chrome", "chrome"}
	if o.Browser != "" {
		names = []string{o.Browser}
	}
	for _, name := range names {
		if path, err := exec.LookPath(name); err == nil {
			return &Converter{path: path, options: o, turns: make(chan struct{}, o.Limits.Parallel)}, nil
		}
	}
	if o.Browser != "" {
		return nil, fmt.Errorf("%w: there is no program %s", ErrNoBrowser, o.Browser)
	}
	return nil, ErrNoBrowser
}

// Close ends the browser, and with it the calls that are at work. Later calls fail with ErrClosed.
func (c *Converter) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
	return c.end()
}

// end ends the browser process, if there is one.
func (c *Converter) end() error {
	if c.browser == nil {
		return nil
	}
	err := chromedp.Cancel(c.browser)
	c.stop()
	c.browser, c.stop = nil, nil
	return err
}

// process gives the running browser, started anew when there is none.
func (c *Converter) process() (context.Context, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.closed:
		return nil, ErrClosed
	case c.browser != nil && c.browser.Err() == nil:
		return c.browser, nil
	}
	_ = c.end() // what had ended by itself
	allocator, stop := chromedp.NewExecAllocator(context.Background(), c.flags()...)
	ctx, cancel := chromedp.NewContext(allocator)
	c.stop = func() { cancel(); stop() }
	if err := chromedp.Do(ctx); err != nil {
		c.stop()
		return nil, fmt.Errorf("%w: %s: %w", ErrBrowser, c.path, err)
	}
	c.browser = ctx
	return ctx, nil
}

// flags of the browser. No host has an address for it, its proxy and literal addresses included.
func (c *Converter) flags() []chromedp.ExecAllocatorOption {
	o := append(chromedp.DefaultExecAllocatorOptions[:len(chromedp.DefaultExecAllocatorOptions):len(chromedp.DefaultExecAllocatorOptions)],
		chromedp.ExecPath(c.path),
		chromedp.Flag("headless", "new"),
		chromedp.DisableGPU,
		chromedp.Flag("host-resolver-rules", "MAP * ~NOTFOUND"),
		chromedp.ProxyServer("socks5://proxy.invalid:1"),
		chromedp.Flag("proxy-bypass-list", "<-loopback>"),
		chromedp.Flag("webrtc-ip-handling-policy", "disable_non_proxied_udp"),
		chromedp.Flag("force-webrtc-ip-handling-policy", "disable_non_proxied_udp"),
		chromedp.Flag("disable-quic", true),
		chromedp.Flag("dns-prefetch-disable", true),
		chromedp.Flag("disable-component-update", true),
		chromedp.Flag("disable-domain-reliability", true),
		chromedp.Flag("hide-scrollbars", true),
	)
	if c.options.NoSandbox {
		o = append(o, chromedp.NoSandbox)
	}
	return o
}
