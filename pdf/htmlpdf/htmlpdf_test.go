package htmlpdf

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"image/color"
	_ "image/jpeg"
	"image/png"
	"io"
	"math"
	"net"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"go.uber.org/goleak"
	_ "golang.org/x/image/webp"

	"example.com/quire/internal/judgetest"
	"example.com/quire/pdf/pdftest"
)

// shared is one browser for all tests, which run one after the other.
var shared *Converter

func TestMain(m *testing.M) {
	before := goleak.IgnoreCurrent()
	code := m.Run()
	if shared != nil {
		if err := errors.Join(shared.Close(), goleak.Find(before)); err != nil {
			fmt.Fprintln(os.Stderr, "after the tests:", err)
			code = 1
		}
	}
	os.Exit(code)
}

// converter gives the shared one other options: it has no sandbox, for tests may run as root.
func converter(t *testing.T, o Options) *Converter {
	t.Helper()
	o.NoSandbox = true
	if o.Limits.Time == 0 {
		o.Limits.Time = 2 * time.Minute
	}
	c, err := New(o)
	if errors.Is(err, ErrNoBrowser) {
		judgetest.Chromium(t)
	}
	check(t, err)
	if shared == nil {
		shared = c
	}
	shared.options, shared.turns = c.options, c.turns
	return shared
}

// own is a converter that the test closes.
func own(t *testing.T) *Converter {
	t.Helper()
	c, err := New(converter(t, Options{}).options)
	check(t, err)
	t.Cleanup(func() { check(t, c.Close()) })
	return c
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// policy answers requests of pages by a function and keeps them.
type policy struct {
	answer func(r *http.Request) (*http.Response, error)
	mu     sync.Mutex
	asked  []*http.Request
}

func (p *policy) RoundTrip(r *http.Request) (*http.Response, error) {
	p.mu.Lock()
	p.asked = append(p.asked, r)
	p.mu.Unlock()
	return p.answer(r)
}

func (p *policy) urls() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	var u []string
	for _, r := range p.asked {
		u = append(u, r.URL.String())
	}
	return u
}

func reply(status int, kind string, body []byte) *http.Response {
	return &http.Response{
		StatusCode: status, Header: http.Header{"Content-Type": {kind}},
		Body: io.NopCloser(bytes.NewReader(body)),
	}
}

// square is a PNG of one colour.
func square(t *testing.T, c color.Color) []byte {
	t.Helper()
	m := image.NewRGBA(image.Rect(0, 0, 8, 8))
	for i := range 64 {
		m.Set(i%8, i/8, c)
	}
	var b bytes.Buffer
	check(t, png.Encode(&b, m))
	return b.Bytes()
}

// picture draws a page and decodes the image.
func picture(t *testing.T, c *Converter, page string, o ImageOptions) (image.Image, string) {
	t.Helper()
	file, err := c.Image(t.Context(), Source{HTML: []byte(page)}, o)
	check(t, err)
	m, format, err := image.Decode(bytes.NewReader(file))
	check(t, err)
	return m, format
}

// near compares two colours by what an eye would not tell apart.
func near(t *testing.T, what string, got, want color.Color) {
	t.Helper()
	r, g, b, a := got.RGBA()
	x, y, z, w := want.RGBA()
	for _, d := range []int{int(r) - int(x), int(g) - int(y), int(b) - int(z), int(a) - int(w)} {
		if d > 0x1400 || d < -0x1400 {
			t.Errorf("%s is %v, want %v", what, got, want)
			return
		}
	}
}

var (
	red   = color.RGBA{255, 0, 0, 255}
	white = color.RGBA{255, 255, 255, 255}
)

func TestPagesAreDrawnAsAsked(t *testing.T) {
	c := converter(t, Options{})
	const page = `<!doctype html><title>x</title><style>
		body{margin:0} #a{width:100px;height:100px;background:#f00} #b{height:1000px}</style><div id=a></div><div id=b></div>`
	for _, tt := range []struct {
		name          string
		options       ImageOptions
		format        string
		width, height int
		at            image.Point
		want          color.Color
	}{
		{"whole page", ImageOptions{}, "png", 1280, 1100, image.Pt(99, 99), red},
		{"beside it", ImageOptions{}, "png", 1280, 1100, image.Pt(101, 101), white},
		{"window", ImageOptions{Width: 300, Height: 200}, "png", 300, 200, image.Pt(50, 50), red},
		{"zoom", ImageOptions{Width: 300, Height: 200, Zoom: 2}, "png", 600, 400, image.Pt(198, 198), red},
		{"crop", ImageOptions{Width: 300, Height: 200, Crop: &Crop{90, 90, 20, 30}}, "png", 20, 30, image.Pt(9, 9), red},
		{"crop below the window", ImageOptions{Width: 300, Height: 200, Crop: &Crop{0, 600, 20, 30}}, "png", 20, 30, image.Pt(9, 9), white},
		{"jpeg", ImageOptions{Width: 64, Height: 64, Format: JPEG}, "jpeg", 64, 64, image.Pt(9, 9), red},
		{"webp", ImageOptions{Width: 64, Height: 64, Format: WebP, Quality: 90}, "webp", 64, 64, image.Pt(9, 9), red},
		{"gray", ImageOptions{Width: 64, Height: 64, Grayscale: true}, "png", 64, 64, image.Pt(9, 9), color.Gray{54}},
		{"transparent", ImageOptions{Width: 300, Height: 64, Transparent: true}, "png", 300, 64, image.Pt(200, 9), color.Transparent},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m, format := picture(t, c, page, tt.options)
			if format != tt.format || m.Bounds().Dx() != tt.width || m.Bounds().Dy() != tt.height {
				t.Errorf("%s of %v, want %s of %d x %d", format, m.Bounds(), tt.format, tt.width, tt.height)
			}
			near(t, fmt.Sprint("pixel at ", tt.at), m.At(tt.at.X, tt.at.Y), tt.want)
		})
	}
	t.Run("quality", func(t *testing.T) {
		const noisy = `<body style="background:repeating-radial-gradient(circle,red,blue 3px,green 5px)">`
		var sizes [2]int
		for i, q := range []int{10, 95} {
			file, err := c.Image(t.Context(), Source{HTML: []byte(noisy)}, ImageOptions{Width: 300, Height: 300, Format: JPEG, Quality: q})
			check(t, err)
			sizes[i] = len(file)
		}
		if sizes[0]*2 > sizes[1] {
			t.Errorf("quality 10 and 95 take %d bytes", sizes)
		}
	})
}

func TestPagesArePrintedAsAsked(t *testing.T) {
	c := converter(t, Options{})
	const page = `<!doctype html><html lang=en><title>Three pages</title><style>
		@page{size:a5;margin:5mm} section{break-after:page;background:#f00;height:40mm}</style>
		<section><h1>First</h1></section><section>second</section><section>third</section>`
	for _, tt := range []struct {
		name    string
		options PDFOptions
		pages   string
		size    string
		words   string
	}{
		{"A4 upright", PDFOptions{}, "3", "595 x 842", "First second third"},
		{"turned", PDFOptions{Landscape: true}, "3", "842 x 595", "First second third"},
		{"a size", PDFOptions{Width: 254, Height: 127}, "3", "720 x 360", "First second third"},
		{"a size, turned", PDFOptions{Width: 254, Height: 127, Landscape: true}, "3", "360 x 720", "First second third"},
		{"size of the page", PDFOptions{CSSPageSize: true}, "3", "420 x 595", "First second third"},
		{"some pages", PDFOptions{Pages: "2-3"}, "2", "595 x 842", "second third"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			file, err := c.PDF(t.Context(), Source{HTML: []byte(page)}, tt.options)
			check(t, err)
			path := pdftest.Write(t, "page.pdf", file)
			info := pdftest.Info(t, path)
			var width, height float64
			_, err = fmt.Sscanf(info["Page size"], "%g x %g pts", &width, &height)
			check(t, err)
			size := fmt.Sprintf("%.0f x %.0f", width, height)
			if info["Pages"] != tt.pages || size != tt.size || info["Title"] != "Three pages" || info["Tagged"] != "yes" {
				t.Errorf("%v, want %s pages of %s, tagged", info, tt.pages, tt.size)
			}
			if words := strings.Join(pdftest.Words(t, path), " "); words != tt.words {
				t.Errorf("text %q, want %q", words, tt.words)
			}
		})
	}
	for pages, got := range map[string]string{"4": `"4"`, "5-9": `"5-9"`} {
		_, err := c.PDF(t.Context(), Source{HTML: []byte(page)}, PDFOptions{Pages: pages})
		if e, ok := errors.AsType[*OptionError](err); !ok || e.Field != "Pages" || e.Got != got {
			t.Errorf("pages %s of three: %v", pages, err)
		}
	}
	const box = `<body style="margin:0"><div style="background:#f00;height:40mm">`
	ink := func(o PDFOptions, x, y float64) color.Color { // mm
		file, err := c.PDF(t.Context(), Source{HTML: []byte(box)}, o)
		check(t, err)
		m := pdftest.Raster(t, pdftest.Write(t, "page.pdf", file), 72)[0]
		return m.At(int(x/inch*72), int(y/inch*72))
	}
	none := &Margins{}
	near(t, "without backgrounds", ink(PDFOptions{}, 100, 40), white)
	near(t, "with backgrounds", ink(PDFOptions{Background: true}, 100, 40), red)
	near(t, "in the margin", ink(PDFOptions{Background: true}, 5, 20), white)
	near(t, "without margins", ink(PDFOptions{Background: true, Margins: none}, 4, 20), red)
	near(t, "below 40 mm", ink(PDFOptions{Background: true, Margins: none}, 100, 50), white)
	near(t, "at twice the scale", ink(PDFOptions{Background: true, Margins: none, Scale: 2}, 100, 50), red)
}

func TestOptionsThatCannotBeAreRefused(t *testing.T) {
	c := &Converter{options: Options{Limits: Limits{}.orDefaults()}} // refused before there is a browser
	page := Source{HTML: []byte("<p>x")}
	for _, o := range []PDFOptions{
		{Width: 5, Height: 5},
		{Width: 210},
		{Scale: 3},
		{Scale: -1},
		{Scale: math.NaN()},
		{Width: math.Inf(1), Height: 297},
		{Margins: &Margins{Left: 150, Right: 60}},
		{Margins: &Margins{Top: -1}},
		{Margins: &Margins{Top: 205}, Landscape: true},
		{Pages: "0"},
		{Pages: "1-"},
		{Pages: "-1"},
		{Pages: "3-2"},
		{Pages: "1,1"},
		{Pages: "1-2-3"},
		{Pages: "1 2"},
		{Pages: ","},
		{Pages: "1234567"},
		{Grayscale: true},
	} {
		if _, err := c.PDF(t.Context(), page, o); !errors.Is(err, ErrOptions) {
			t.Errorf("%+v: error %v", o, err)
		}
	}
	for _, s := range []string{"1", "1-3,5", "2-2", "1,2,3-9"} {
		if err := pageRanges(s); err != nil {
			t.Errorf("%q: %v", s, err)
		}
	}
	for _, o := range []ImageOptions{
		{Format: "gif"},
		{Width: -1},
		{Width: 20000},
		{Height: -1},
		{Zoom: 9},
		{Zoom: math.NaN()},
		{Quality: 50},
		{Format: JPEG, Quality: 101},
		{Format: JPEG, Transparent: true},
		{Crop: &Crop{}},
		{Crop: &Crop{X: -1, Width: 1, Height: 1}},
		{Crop: &Crop{Width: math.Inf(1), Height: 1}},
	} {
		if _, err := c.Image(t.Context(), page, o); !errors.Is(err, ErrOptions) {
			t.Errorf("%+v: error %v", o, err)
		}
	}
	for _, s := range []Source{{}, {URL: "file:///etc/passwd"}, {URL: "https://"}, {URL: "about:blank"}, {URL: "%zz"}} {
		if _, err := c.PDF(t.Context(), s, PDFOptions{}); !errors.Is(err, ErrOptions) {
			t.Errorf("%+v: error %v", s, err)
		}
	}
	var option *OptionError
	if _, err := c.PDF(t.Context(), page, PDFOptions{Scale: 3}); !errors.As(err, &option) || option.Field != "Scale" || option.Got != "3" {
		t.Errorf("error %v, want one that names Scale", err)
	}
	if _, err := New(Options{Browser: "/nowhere/chromium"}); !errors.Is(err, ErrNoBrowser) || !strings.Contains(err.Error(), "/nowhere/chromium") {
		t.Errorf("a browser that is not there: %v", err)
	}
}

// Every way out that HTML, CSS and scripts have, towards listeners of the test.
func TestNothingReachesTheNetwork(t *testing.T) {
	var reached atomic.Int64
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	check(t, err)
	datagrams, err := new(net.ListenConfig).ListenPacket(t.Context(), "udp", "127.0.0.1:0")
	check(t, err)
	var serving sync.WaitGroup
	serving.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			reached.Add(1)
			_ = conn.Close()
		}
	})
	serving.Go(func() {
		for {
			if _, _, err := datagrams.ReadFrom(make([]byte, 100)); err != nil {
				return
			}
			reached.Add(1)
		}
	})
	_, port, err := net.SplitHostPort(listener.Addr().String())
	check(t, err)
	_, stun, err := net.SplitHostPort(datagrams.LocalAddr().String())
	check(t, err)
	page := strings.NewReplacer("HOST", "127.0.0.1:"+port, "NAME", "localhost:"+port, "STUN", "127.0.0.1:"+stun).Replace(`<!doctype html>
		<link rel=preconnect href="http://HOST/"><link rel=dns-prefetch href="//NAME"><link rel=prefetch href="http://HOST/a">
		<link rel=preload as=font href="http://HOST/f" crossorigin><link rel=stylesheet href="http://NAME/s.css"><link rel=icon href="http://HOST/i">
		<style>@import "http://HOST/i.css"; @font-face{font-family:x;src:url(http://HOST/x.woff)} p{font-family:x;background:url(http://HOST/b)}</style>
		<img src="http://HOST/1.png" srcset="http://NAME/2.png 2x"><iframe src="http://HOST/frame"></iframe><iframe srcdoc="<img src=http://HOST/3>"></iframe>
		<object data="http://HOST/o"></object><embed src="http://HOST/e"><video src="http://HOST/v" poster="http://HOST/p"></video>
		<svg><image href="http://HOST/g.png"/><use href="http://HOST/u.svg#a"/></svg><p>words</p>
		<form id=f action="http://HOST/form" method=post target=t><input name=a></form><iframe name=t></iframe>
		<script src="http://HOST/j.js"></script><script>
		const go = f => { try { const p = f(); if (p && p.catch) p.catch(() => {}) } catch {} };
		go(() => new WebSocket("ws://HOST/ws")); go(() => fetch("http://HOST/fetch")); go(() => fetch("http://NAME/post", {method: "POST", body: "x"}));
		go(() => navigator.sendBeacon("http://HOST/beacon", "x")); go(() => new EventSource("http://HOST/events")); go(() => window.open("http://HOST/open"));
		go(() => new Worker(URL.createObjectURL(new Blob(['fetch("http://HOST/worker"); new WebSocket("ws://HOST/w")']))));
		go(() => { const c = new RTCPeerConnection({iceServers: [{urls: "stun:STUN"}]}); c.createDataChannel("x"); return c.createOffer().then(o => c.setLocalDescription(o)) });
		go(() => document.getElementById("f").submit()); go(() => new WebTransport("https://HOST/wt"));
		go(() => import("http://HOST/m.js"));
		</script>`)
	for _, scripts := range []bool{false, true} {
		c := own(t)
		file, err := c.PDF(t.Context(), Source{HTML: []byte(page), Scripts: scripts}, PDFOptions{})
		check(t, err)
		if words := pdftest.Words(t, pdftest.Write(t, "page.pdf", file)); !slices.Contains(words, "words") {
			t.Errorf("scripts %t: the page says %q", scripts, words)
		}
		check(t, c.Close()) // what the browser still had in mind has ended with it
	}
	check(t, listener.Close())
	check(t, datagrams.Close())
	serving.Wait()
	if n := reached.Load(); n != 0 {
		t.Errorf("%d connections and datagrams reached the network", n)
	}
}

func TestResourcesComeFromThePolicy(t *testing.T) {
	p := &policy{answer: func(r *http.Request) (*http.Response, error) {
		switch r.URL.Path {
		case "/page":
			return reply(200, "text/html", []byte(`<body style="margin:0"><img src="moved" style="display:block"><img src="missing" alt="">`)), nil
		case "/moved":
			a := reply(302, "text/plain", nil)
			a.Header.Set("Location", "/square.png")
			a.Header.Set("Set-Cookie", "a=b")
			return a, nil
		case "/square.png":
			return reply(200, "image/png", square(t, red)), nil
		}
		return nil, errors.New("the address is not public")
	}}
	c := converter(t, Options{Resources: p})
	draw := func(s Source) image.Image {
		file, err := c.Image(t.Context(), s, ImageOptions{Width: 50, Height: 50})
		check(t, err)
		m, err := png.Decode(bytes.NewReader(file))
		check(t, err)
		return m
	}
	missed := map[string]string{}
	var mu sync.Mutex
	page := Source{URL: "https://user@pages.example/page#part", Missed: func(address string, reason error) {
		mu.Lock()
		defer mu.Unlock()
		missed[address] = reason.Error()
	}}
	near(t, "an image of a page by its address", draw(page).At(4, 4), red)
	if missed["https://pages.example/missing"] != "the address is not public" || missed["https://pages.example/square.png"] != "" { // beside its icon
		t.Errorf("asked for in vain: %v", missed)
	}
	for _, want := range []string{"https://pages.example/page", "https://pages.example/moved", "https://pages.example/square.png", "https://pages.example/missing"} {
		if !slices.Contains(p.urls(), want) {
			t.Errorf("the policy was asked for %q, want %s too", p.urls(), want)
		}
	}
	near(t, "an image beside a page's base", draw(Source{URL: "https://pages.example/dir/", HTML: []byte(`<body style="margin:0"><img src="../square.png">`)}).At(4, 4), red)
	for _, r := range p.asked {
		for _, name := range []string{"Cookie", "Referer", "Authorization", "Origin"} {
			if v := r.Header.Get(name); v != "" {
				t.Errorf("%s was asked for with %s: %s", r.URL, name, v)
			}
		}
	}
	t.Run("a page that is not to be had", func(t *testing.T) {
		_, err := c.PDF(t.Context(), Source{URL: "https://pages.example/private"}, PDFOptions{})
		if !errors.Is(err, ErrPage) || !strings.Contains(err.Error(), "the address is not public") {
			t.Errorf("error %v", err)
		}
	})
	t.Run("no policy", func(t *testing.T) {
		if _, err := converter(t, Options{}).PDF(t.Context(), Source{URL: "https://pages.example/page"}, PDFOptions{}); !errors.Is(err, ErrPage) {
			t.Errorf("error %v", err)
		}
	})
	t.Run("frames and further pages", func(t *testing.T) {
		before := len(p.urls())
		m := draw(Source{HTML: []byte(`<meta http-equiv=refresh content="0;url=https://pages.example/page"><iframe src="https://pages.example/page"></iframe>`)})
		near(t, "the page", m.At(45, 45), white)
		if more := p.urls()[before:]; len(more) != 0 {
			t.Errorf("the policy was asked for %q", more)
		}
	})
}

func TestLimitsOfConversions(t *testing.T) {
	var hold atomic.Bool
	p := &policy{answer: func(r *http.Request) (*http.Response, error) {
		if hold.Load() {
			<-r.Context().Done()
			return nil, r.Context().Err()
		}
		return reply(200, "image/svg+xml", []byte(`<svg xmlns="http://www.w3.org/2000/svg"/>`)), nil
	}}
	many := Source{HTML: []byte(images(20))}
	for _, tt := range []struct {
		name   string
		limits Limits
		source Source
	}{
		{"HTMLBytes", Limits{HTMLBytes: 10}, Source{HTML: []byte("<p>more than ten</p>")}},
		{"Resources", Limits{Resources: 5}, many},
		{"ResourceBytes", Limits{ResourceBytes: 300}, many},
		{"OutputBytes", Limits{OutputBytes: 100}, Source{HTML: []byte("<p>x</p>")}},
		{"ImagePixels", Limits{ImagePixels: 1000}, Source{HTML: []byte("<p>x</p>")}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := converter(t, Options{Limits: tt.limits, Resources: p}).Image(t.Context(), tt.source, ImageOptions{})
			var over *LimitError
			if !errors.As(err, &over) || over.Name != tt.name {
				t.Errorf("error %v, want the limit %s", err, tt.name)
			}
		})
	}
	hold.Store(true)
	t.Run("Time", func(t *testing.T) {
		_, err := converter(t, Options{Limits: Limits{Time: 3 * time.Second}, Resources: p}).PDF(t.Context(), many, PDFOptions{})
		var over *LimitError
		if !errors.As(err, &over) || over.Name != "Time" {
			t.Errorf("error %v, want the limit Time", err)
		}
	})
	t.Run("waiting for a turn", func(t *testing.T) {
		c := converter(t, Options{Limits: Limits{Time: time.Second, Parallel: 1}})
		c.turns <- struct{}{}
		var over *LimitError
		if _, err := c.PDF(t.Context(), many, PDFOptions{}); !errors.Is(err, ErrBusy) || !errors.As(err, &over) || over.Name != "Time" {
			t.Errorf("error %v, want ErrBusy of the limit Time", err)
		}
	})
	t.Run("the caller's context", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		stop := &policy{answer: func(r *http.Request) (*http.Response, error) {
			cancel()
			<-r.Context().Done()
			return nil, r.Context().Err()
		}}
		c := converter(t, Options{Resources: stop})
		if _, err := c.PDF(ctx, many, PDFOptions{}); !errors.Is(err, context.Canceled) {
			t.Errorf("error %v", err)
		}
	})
}

func images(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "<img src=https://a.example/%d>", i)
	}
	return b.String()
}

func TestPagesDoNotMeet(t *testing.T) {
	c := converter(t, Options{Limits: Limits{Parallel: 2}})
	const page = `<body><script>
		document.body.append(localStorage.length + "-" + document.cookie.length)
		localStorage.setItem("a", "b"); document.cookie = "a=b; max-age=1000"</script>`
	var at sync.WaitGroup
	for i := range 4 {
		at.Go(func() {
			file, err := c.PDF(t.Context(), Source{HTML: fmt.Appendf(nil, "%s<p>page%d", page, i), Scripts: true}, PDFOptions{})
			if err != nil {
				t.Error(err)
				return
			}
			if words, want := pdftest.Words(t, pdftest.Write(t, "page.pdf", file)), []string{"0-0", fmt.Sprint("page", i)}; !slices.Equal(words, want) {
				t.Errorf("a page says %q, want %q", words, want)
			}
		})
	}
	at.Wait()
}

func TestBrowserThatEndedIsStartedAgain(t *testing.T) {
	c := own(t)
	page := Source{HTML: []byte("<p>x")}
	_, err := c.PDF(t.Context(), page, PDFOptions{})
	check(t, err)
	first := c.browser
	if first == nil {
		t.Fatal("no browser runs")
	}
	check(t, chromedp.FromContext(first).Browser.Process().Kill())
	<-first.Done()
	_, err = c.PDF(t.Context(), page, PDFOptions{})
	check(t, err)
	check(t, c.Close())
	if _, err := c.PDF(t.Context(), page, PDFOptions{}); !errors.Is(err, ErrClosed) {
		t.Errorf("after Close: %v", err)
	}
}
