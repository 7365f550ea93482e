package htmlpdf

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	cdpio "github.com/chromedp/cdproto/io"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
)

const inch = 25.4 // mm

// PDF prints the page. The file is tagged as far as Chromium tags, with an outline of the headings.
func (c *Converter) PDF(ctx context.Context, s Source, o PDFOptions) ([]byte, error) {
	o, err := o.valid()
	if err != nil {
		return nil, err
	}
	return c.convert(ctx, s, o.css(), func(ctx context.Context) ([]byte, error) {
		m := o.margins()
		for _, v := range []*float64{&m.Top, &m.Right, &m.Bottom, &m.Left} {
			*v /= inch
		}
		printed, err := chromedp.Call(ctx, page.PrintToPDF, page.PrintToPDFParams{
			PrintBackground: &o.Background, Scale: o.Scale, PaperWidth: o.Width / inch, PaperHeight: o.Height / inch,
			MarginTop: &m.Top, MarginRight: &m.Right, MarginBottom: &m.Bottom, MarginLeft: &m.Left,
			PageRanges: o.Pages, PreferCSSPageSize: new(true),
			GenerateTaggedPDF: new(true), GenerateDocumentOutline: new(true),
			TransferMode: page.PrintToPDFTransferModeReturnAsStream,
		})
		if err != nil && o.Pages != "" && strings.Contains(err.Error(), "exceeds page count") {
			return nil, option("Pages", fmt.Sprintf("%.40q", o.Pages), "pages that there are")
		}
		if err != nil {
			return nil, err
		}
		var file bytes.Buffer
		for {
			part, err := chromedp.Call(ctx, cdpio.Read, cdpio.ReadParams{Handle: printed.Stream, Size: 1 << 20})
			if err != nil {
				return nil, err
			}
			file.Write(part.Data)
			if err := c.fits(file.Len()); err != nil || part.EOF {
				return file.Bytes(), err
			}
		}
	})
}

// Image draws the page as it is on a screen.
func (c *Converter) Image(ctx context.Context, s Source, o ImageOptions) ([]byte, error) {
	o, err := o.valid()
	if err != nil {
		return nil, err
	}
	return c.convert(ctx, s, o.css(), func(ctx context.Context) ([]byte, error) {
		height := o.Height
		if height == 0 {
			height = 720 // what the page sees while it is measured
		}
		_, err := chromedp.Call(ctx, emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{
			Width: int64(o.Width), Height: int64(height), DeviceScaleFactor: o.Zoom,
		})
		if err != nil {
			return nil, err
		}
		if o.Transparent {
			// An alpha of 0 is left out of the message and would mean 1: this one is the nearest
			// that is not.
			_, err := chromedp.Call(ctx, emulation.SetDefaultBackgroundColorOverride,
				emulation.SetDefaultBackgroundColorOverrideParams{Color: &cdp.RGBA{A: 0.001}})
			if err != nil {
				return nil, err
			}
		}
		clip := &page.Viewport{Width: float64(o.Width), Height: float64(o.Height), Scale: 1}
		switch {
		case o.Crop != nil:
			clip.X, clip.Y, clip.Width, clip.Height = o.Crop.X, o.Crop.Y, o.Crop.Width, o.Crop.Height
		case o.Height == 0:
			layout, err := chromedp.Call(ctx, page.GetLayoutMetrics, cdp.Empty{})
			if err != nil {
				return nil, err
			}
			clip.Height = math.Max(1, layout.CSSContentSize.Height)
		}
		pixels := math.Ceil(clip.Width*o.Zoom) * math.Ceil(clip.Height*o.Zoom)
		if most := c.options.Limits.ImagePixels; pixels > float64(most) {
			return nil, &LimitError{Name: "ImagePixels", Value: int64(min(pixels, math.MaxInt64/2)), Limit: most}
		}
		shot := page.CaptureScreenshotParams{
			Format: page.CaptureScreenshotFormat(o.Format), Clip: clip, CaptureBeyondViewport: new(true),
		}
		if o.Quality != 0 {
			shot.Quality = new(int64(o.Quality))
		}
		drawn, err := chromedp.Call(ctx, page.CaptureScreenshot, shot)
		if err != nil {
			return nil, err
		}
		return drawn.Data, c.fits(len(drawn.Data))
	})
}

func (c *Converter) fits(size int) error {
	if most := c.options.Limits.OutputBytes; int64(size) > most {
		return &LimitError{Name: "OutputBytes", Value: int64(size), Limit: most}
	}
	return nil
}

// convert loads the page in a browser context of its own and lets draw make the file of it.
func (c *Converter) convert(ctx context.Context, s Source, css string, draw func(context.Context) ([]byte, error)) ([]byte, error) {
	limits := c.options.Limits
	address, err := s.address(limits)
	if err != nil {
		return nil, err
	}
	milliseconds := limits.Time.Milliseconds()
	ctx, cancel := context.WithTimeoutCause(ctx, limits.Time, &LimitError{Name: "Time", Value: milliseconds, Limit: milliseconds})
	defer cancel()
	select {
	case c.turns <- struct{}{}:
		defer func() { <-c.turns }()
	case <-ctx.Done():
		return nil, fmt.Errorf("%w: %w", ErrBusy, context.Cause(ctx))
	}
	process, err := c.process()
	if err != nil {
		return nil, err
	}
	tab, shut := chromedp.NewContext(process, chromedp.WithNewBrowserContext())
	defer shut()
	defer context.AfterFunc(ctx, shut)()
	a := &answers{resources: c.options.Resources, limits: limits, html: s.HTML, missed: s.Missed, tab: tab, stop: shut}
	defer a.wait()
	defer shut()
	file, err := load(tab, a, address, css, s.Scripts, draw)
	switch {
	case a.fault() != nil: // a limit ended the tab
		return nil, a.fault()
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case err == nil, errors.Is(err, ErrPage), errors.Is(err, ErrOptions), errors.As(err, new(*LimitError)):
		return file, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return nil, ErrClosed
	}
	return nil, fmt.Errorf("%w: %w", ErrBrowser, err)
}

// load shows the page in the tab and waits until it has its images and fonts.
func load(tab context.Context, a *answers, address string, css string, scripts bool, draw func(context.Context) ([]byte, error)) ([]byte, error) {
	if err := a.listen(); err != nil {
		return nil, err
	}
	_, err := chromedp.Call(tab, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: !scripts})
	if err != nil {
		return nil, err
	}
	if err := chromedp.Do(tab, chromedp.Navigate(address)); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrPage, errors.Join(a.refusal(), err))
	}
	// A sheet that is adopted comes after those of the page, and no policy of the page keeps it
	// out.
	steps := fmt.Sprintf(`{ const s = new CSSStyleSheet(); s.replaceSync(%q); document.adoptedStyleSheets.push(s) }
		document.fonts.ready.then(() => true)`, css)
	if _, err := chromedp.Run(tab, chromedp.Evaluate[bool](steps, chromedp.EvalAwaitPromise)); err != nil {
		return nil, err
	}
	return draw(tab)
}
