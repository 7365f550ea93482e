package api

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"strings"
	"time"

	"example.com/quire/internal/convert"
	"example.com/quire/pdf/htmlpdf"
	"example.com/quire/web"
	"example.com/quire/web/openapi"
)

// Converter turns pages of HTML into files, as many at once as it is made for; others wait.
type Converter interface {
	PDF(context.Context, htmlpdf.Source, htmlpdf.PDFOptions) ([]byte, error)
	Image(context.Context, htmlpdf.Source, htmlpdf.ImageOptions) ([]byte, error)
	// Reads reports whether pages may read from an address.
	Reads(address string) bool
}

// Of a conversion: the JSON of a page may be larger than its text, and the answer for one that took
// too long has to get out before the route's own time has passed.
const (
	convertBody = 16 << 20
	convertRest = 5 * time.Second
)

// convertedPage is the page of a conversion. Its members, and those of what embeds it, are named as
// the fields of htmlpdf.
type convertedPage struct {
	HTML    string `json:"html" doc:"The page, at most 8 MiB. Without it, url is the address of the page"`
	URL     string `json:"url" doc:"Without html: the address of the page, at a host of the configuration. With html: the base address of its relative links"`
	Scripts bool   `json:"scripts" doc:"Run the scripts of the page until it is loaded"`
}

// htmlConversion is the body of POST /v1/convert/html.
type htmlConversion struct {
	convertedPage
	Width       float64  `json:"width" doc:"Paper width in mm, 20 to 3,000; default 210"`
	Height      float64  `json:"height" doc:"Paper height in mm, 20 to 3,000; default 297"`
	Landscape   bool     `json:"landscape" doc:"Landscape orientation"`
	Margins     *margins `json:"margins" doc:"Margins in mm; default: the margins of the page's @page, or 10"`
	Scale       float64  `json:"scale" doc:"Scale of the content, 0.1 to 2; default 1"`
	Background  bool     `json:"background" doc:"Print backgrounds"`
	CSSPageSize bool     `json:"css_page_size" doc:"Use the paper size of the page's @page"`
	Pages       string   `json:"pages" doc:"Pages to print, such as 1-3,5; default all"`
	Grayscale   bool     `json:"grayscale" doc:"Refused, because a page that is turned gray has no text in print. An image can be gray"`
}

type margins struct {
	Top    float64 `json:"top" doc:"Top margin in mm"`
	Right  float64 `json:"right"`
	Bottom float64 `json:"bottom"`
	Left   float64 `json:"left"`
}

// imageConversion is the body of POST /v1/convert/image.
type imageConversion struct {
	convertedPage
	Format      string  `json:"format" doc:"Image format: png, jpeg or webp; default png"`
	Width       int     `json:"width" doc:"Window width in CSS pixels, 1 to 16,384; default 1,280"`
	Height      int     `json:"height" doc:"Window height in CSS pixels; default: the height of the whole page"`
	Zoom        float64 `json:"zoom" doc:"Device pixels for each CSS pixel, 0.1 to 8; default 1"`
	Crop        *crop   `json:"crop" doc:"The area to draw, in CSS pixels"`
	Quality     int     `json:"quality" doc:"Quality of jpeg and webp, 1 to 100; default 80"`
	Grayscale   bool    `json:"grayscale" doc:"Convert colours to shades of gray"`
	Transparent bool    `json:"transparent" doc:"No white background: png and webp"`
}

type crop struct {
	X      float64 `json:"x"`
	Y      float64 `json:"y"`
	Width  float64 `json:"width"`
	Height float64 `json:"height"`
}

// registerConvert adds the routes that convert. They are there without a browser too, and say then
// what is missing. A page takes as long as its scripts like, so conversions share nothing with the
// routes that make documents: neither the bytes of bodies nor places.
func (a *API) registerConvert(v1 *web.Group) {
	budget := web.Budgets{Time: a.o.Limits.Convert + convertRest, BodyBytes: convertBody, Bodies: web.NewBodyPool(a.o.Limits.Pages)}
	gate := web.NewGate(a.o.Limits.Converting, 0).Middleware()
	routes := v1.Group("", a.converts)
	routes.POST("/convert/html", bound(gate, a.convertHTML), describedConversion("html", budget)...)
	routes.POST("/convert/image", bound(gate, a.convertImage), describedConversion("image", budget)...)
}

// converts refuses what nothing here can convert, before it is read.
func (a *API) converts(next web.Handler) web.Handler {
	if a.o.Converter != nil {
		return next
	}
	return func(*web.Context) error {
		return problemOf("tool", http.StatusNotImplemented,
			"this server cannot convert HTML: install chromium and name it in the configuration, convert: {browser: chromium}", nil)
	}
}

// bound reads a request before it enters the gate: whoever sends slowly holds no place there.
func bound[T any](gate web.Middleware, convert func(*web.Context, *T) error) web.Handler {
	return func(c *web.Context) error {
		v := new(T)
		if err := c.BindJSON(v); err != nil {
			return inCharacters(c, err)
		}
		return gate(func(c *web.Context) error { return convert(c, v) })(c)
	}
}

func describedConversion(name string, budget web.Budgets) []web.RouteOption {
	common := []web.RouteOption{
		web.Name("convert-" + name), openapi.Tags("convert"), budget,
		openapi.Errors(http.StatusRequestEntityTooLarge, http.StatusNotImplemented, http.StatusBadGateway),
	}
	const about = "Uses a Chromium of this server, if the configuration names one. The page may read only from hosts that the configuration lists, " +
		"at public addresses, and leaves nothing behind for the next page. The result is not archival and differs each time, so it is never a document of record."
	if name == "html" {
		return append(common, openapi.Describe[struct{ Body htmlConversion }, operationAnswer](), openapi.Produces(pdfType),
			openapi.Summary("Print HTML to a PDF"), openapi.Description(about+" Lengths are in millimetres."),
			openapi.RequestExample("page", json.RawMessage(htmlExample)))
	}
	return append(common, openapi.Describe[struct{ Body imageConversion }, operationAnswer](), openapi.Produces("image/png", "image/jpeg", "image/webp"),
		openapi.Summary("Draw HTML as an image"), openapi.Description(about+" Lengths are in CSS pixels."),
		openapi.RequestExample("card", json.RawMessage(imageExample)))
}

// The examples are those of docs/http-api.md.
const (
	htmlExample  = `{"html": "<!doctype html><title>Report</title><h1>Report</h1><p>Two orders.", "margins": {"top": 20, "right": 15, "bottom": 20, "left": 15}, "background": true}`
	imageExample = `{"html": "<!doctype html><h1>Card</h1>", "format": "webp", "width": 600, "height": 315, "zoom": 2}`
)

func (a *API) convertHTML(c *web.Context, w *htmlConversion) error {
	o := htmlpdf.PDFOptions{
		Width: w.Width, Height: w.Height, Landscape: w.Landscape, Margins: (*htmlpdf.Margins)(w.Margins), Scale: w.Scale,
		Background: w.Background, CSSPageSize: w.CSSPageSize, Pages: w.Pages, Grayscale: w.Grayscale,
	}
	return a.convert(c, w.convertedPage, "page.pdf", pdfType, func(ctx context.Context, s htmlpdf.Source) ([]byte, error) {
		return a.o.Converter.PDF(ctx, s, o)
	})
}

func (a *API) convertImage(c *web.Context, w *imageConversion) error {
	o := htmlpdf.ImageOptions{
		Format: w.Format, Width: w.Width, Height: w.Height, Zoom: w.Zoom, Crop: (*htmlpdf.Crop)(w.Crop),
		Quality: w.Quality, Grayscale: w.Grayscale, Transparent: w.Transparent,
	}
	format := cmp.Or(w.Format, htmlpdf.PNG)
	return a.convert(c, w.convertedPage, "page."+format, "image/"+format, func(ctx context.Context, s htmlpdf.Source) ([]byte, error) {
		return a.o.Converter.Image(ctx, s, o)
	})
}

// convert answers with the file that draw makes of a page.
func (a *API) convert(c *web.Context, p convertedPage, name, kind string, draw func(context.Context, htmlpdf.Source) ([]byte, error)) error {
	var refused convert.Refused
	s := htmlpdf.Source{URL: p.URL, Scripts: p.Scripts, Missed: refused.Missed}
	switch {
	case p.HTML != "":
		s.HTML = []byte(p.HTML)
	case p.URL != "" && !a.o.Converter.Reads(p.URL): // before anything is asked for: the answer tells nothing of networks
		return problem("request", http.StatusBadRequest, errAddress, members{
			"field": "url", "got": clip(p.URL), "want": "an address at a host that the configuration lists in convert: {hosts: [...]}",
		})
	}
	file, err := draw(c.Context(), s)
	if errors.Is(err, htmlpdf.ErrBusy) {
		return fmt.Errorf("%w (%w)", err, web.ErrBusy) // which web does not take for a fault
	}
	if err != nil {
		return err
	}
	summary, err := json.Marshal(struct {
		Bytes   int      `json:"bytes"`
		Refused []string `json:"refused,omitempty"`
	}{len(file), refused.Hosts()})
	if err != nil {
		return err
	}
	h := c.Writer().Header()
	h.Set("Cache-Control", "no-store")
	h.Set("Quire-Summary", ascii(summary))
	nameIt(c, name)
	return c.Blob(http.StatusOK, kind, file)
}

var errAddress = errors.New("pages may not be read from this address")

// conversionProblem tells why a page was not converted; nil for errors of something else. What a
// network said stays in the log.
func conversionProblem(err error) *web.Problem {
	if e, ok := errors.AsType[*htmlpdf.OptionError](err); ok {
		field := memberOf(e.Field)
		p := problem("request", http.StatusBadRequest, err, members{"field": field, "got": e.Got, "want": e.Want})
		p.Detail = fmt.Sprintf("%s is %s: want %s", field, e.Got, e.Want)
		return p
	}
	if e, ok := errors.AsType[*htmlpdf.LimitError](err); ok {
		if e.Name == "Time" {
			return problemOf("timeout", http.StatusServiceUnavailable, "converting the page took longer than this server allows", err)
		}
		return problem("limit", http.StatusRequestEntityTooLarge, err, members{"limited": e.Name, "limit": e.Limit})
	}
	switch {
	case errors.Is(err, htmlpdf.ErrPage):
		return problemOf("page", http.StatusBadGateway, "the page could not be read from its address", err)
	case errors.Is(err, htmlpdf.ErrBrowser), errors.Is(err, htmlpdf.ErrClosed):
		return problemOf("browser", http.StatusServiceUnavailable, "the browser that converts HTML failed; try again", err)
	}
	return nil
}

// memberOf is the member of a request that sets a field of htmlpdf.
func memberOf(field string) string {
	for _, body := range []reflect.Type{reflect.TypeFor[htmlConversion](), reflect.TypeFor[imageConversion]()} {
		if f, ok := body.FieldByName(field); ok {
			return f.Tag.Get("json")
		}
	}
	return strings.ToLower(field)
}
