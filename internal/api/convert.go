package api

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
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

// htmlConversion is the body of POST /v1/convert/html. Its members, and those of imageConversion,
// are named as the fields of htmlpdf.
type htmlConversion struct {
	HTML        string   `json:"html" doc:"The page, at most 8 MiB; or leave it out and give its address as url"`
	URL         string   `json:"url" doc:"Where the page is, at a host of the configuration; beside html: where its links start from"`
	Scripts     bool     `json:"scripts" doc:"Run the scripts of the page until it is loaded"`
	Width       float64  `json:"width" doc:"Of the paper in mm, 20 to 3,000; with height, default 210 and 297"`
	Height      float64  `json:"height" doc:"Of the paper in mm"`
	Landscape   bool     `json:"landscape" doc:"Turn the paper"`
	Margins     *margins `json:"margins" doc:"Default: those that the page gives in @page, or 10"`
	Scale       float64  `json:"scale" doc:"Of the page's content, 0.1 to 2; default 1"`
	Background  bool     `json:"background" doc:"Print backgrounds"`
	CSSPageSize bool     `json:"css_page_size" doc:"A size that the page gives in @page counts"`
	Pages       string   `json:"pages" doc:"Such as 1-3,5; default all"`
}

type margins struct {
	Top    float64 `json:"top" doc:"In mm"`
	Right  float64 `json:"right"`
	Bottom float64 `json:"bottom"`
	Left   float64 `json:"left"`
}

// imageConversion is the body of POST /v1/convert/image.
type imageConversion struct {
	HTML        string  `json:"html" doc:"The page, at most 8 MiB; or leave it out and give its address as url"`
	URL         string  `json:"url" doc:"Where the page is, at a host of the configuration; beside html: where its links start from"`
	Scripts     bool    `json:"scripts" doc:"Run the scripts of the page until it is loaded"`
	Format      string  `json:"format" doc:"png, jpeg or webp; default png"`
	Width       int     `json:"width" doc:"Of the window in CSS pixels, 1 to 16,384; default 1,280"`
	Height      int     `json:"height" doc:"Of the window; default the whole page"`
	Zoom        float64 `json:"zoom" doc:"Device pixels of a CSS pixel, 0.1 to 8; default 1"`
	Crop        *crop   `json:"crop" doc:"The part that is drawn"`
	Quality     int     `json:"quality" doc:"Of jpeg and webp, 1 to 100; default 80"`
	Grayscale   bool    `json:"grayscale" doc:"Colours become shades of gray"`
	Transparent bool    `json:"transparent" doc:"No white behind the page: png and webp"`
}

type crop struct {
	X      float64 `json:"x"`
	Y      float64 `json:"y"`
	Width  float64 `json:"width"`
	Height float64 `json:"height"`
}

// registerConvert adds the routes that convert. They are there without a browser too, and say then
// what is missing.
func (a *API) registerConvert(v1 *web.Group, bodies *web.BodyPool) {
	budget := web.Budgets{Time: a.o.Limits.Convert + convertRest, BodyBytes: convertBody, Bodies: bodies}
	v1.POST("/convert/html", a.convertHTML, describedConversion("html", budget)...)
	v1.POST("/convert/image", a.convertImage, describedConversion("image", budget)...)
}

func describedConversion(name string, budget web.Budgets) []web.RouteOption {
	common := []web.RouteOption{
		web.Name("convert-" + name), openapi.Tags("convert"), budget,
		openapi.Errors(http.StatusRequestEntityTooLarge, http.StatusNotImplemented, http.StatusBadGateway),
	}
	const about = "By a Chromium of this server, where its configuration names one. The page reads from the hosts of the configuration only, " +
		"at public addresses, and leaves nothing behind for the next. What is made is not archival, not the same twice, and no document of record."
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

func (a *API) convertHTML(c *web.Context) error {
	var w htmlConversion
	if err := c.BindJSON(&w); err != nil {
		return inCharacters(c, err)
	}
	o := htmlpdf.PDFOptions{
		Width: w.Width, Height: w.Height, Landscape: w.Landscape, Margins: (*htmlpdf.Margins)(w.Margins), Scale: w.Scale,
		Background: w.Background, CSSPageSize: w.CSSPageSize, Pages: w.Pages,
	}
	return a.convert(c, w.HTML, w.URL, w.Scripts, "page.pdf", pdfType, func(ctx context.Context, s htmlpdf.Source) ([]byte, error) {
		return a.o.Converter.PDF(ctx, s, o)
	})
}

func (a *API) convertImage(c *web.Context) error {
	var w imageConversion
	if err := c.BindJSON(&w); err != nil {
		return inCharacters(c, err)
	}
	o := htmlpdf.ImageOptions{
		Format: w.Format, Width: w.Width, Height: w.Height, Zoom: w.Zoom, Crop: (*htmlpdf.Crop)(w.Crop),
		Quality: w.Quality, Grayscale: w.Grayscale, Transparent: w.Transparent,
	}
	format := cmp.Or(w.Format, htmlpdf.PNG)
	return a.convert(c, w.HTML, w.URL, w.Scripts, "page."+format, "image/"+format, func(ctx context.Context, s htmlpdf.Source) ([]byte, error) {
		return a.o.Converter.Image(ctx, s, o)
	})
}

// convert answers with the file that draw makes of a page.
func (a *API) convert(c *web.Context, html, url string, scripts bool, name, kind string,
	draw func(context.Context, htmlpdf.Source) ([]byte, error),
) error {
	if a.o.Converter == nil {
		return problemOf("tool", http.StatusNotImplemented,
			"this server converts no HTML: install chromium and name it in the configuration, convert: {browser: chromium}", nil)
	}
	var refused convert.Refused
	s := htmlpdf.Source{URL: url, Scripts: scripts, Missed: refused.Missed}
	switch {
	case html != "":
		s.HTML = []byte(html)
	case url != "" && !a.o.Converter.Reads(url): // before anything is asked for: the answer tells nothing of networks
		return problem("request", http.StatusBadRequest, errAddress, members{
			"field": "url", "got": clip(url), "want": "an address at a host that the configuration lists in convert: {hosts: [...]}",
		})
	}
	file, err := draw(c.Context(), s)
	if err != nil {
		return conversionProblem(err)
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

var errAddress = errors.New("pages are not read from there")

// conversionProblem tells why a page was not converted. What a network said stays in the log.
func conversionProblem(err error) error {
	if e, ok := errors.AsType[*htmlpdf.OptionError](err); ok {
		return problem("request", http.StatusBadRequest, err, members{"field": strings.ToLower(e.Field), "got": e.Got, "want": e.Want})
	}
	if errors.Is(err, htmlpdf.ErrBusy) {
		return fmt.Errorf("%w: %w", web.ErrBusy, err)
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
	return err
}
