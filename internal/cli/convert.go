package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"example.com/quire/internal/convert"
	"example.com/quire/pdf/htmlpdf"
)

func (p *program) convert() *cobra.Command {
	c := &cobra.Command{
		Use:   "convert",
		Short: "Convert HTML to a PDF or an image by Chromium",
		Long: "Convert HTML to a PDF or an image by the Chromium of this machine. The result is not a document\n" +
			"of record. The page may read only from the hosts that --allow names.",
		Args: subcommand,
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(p.convertHTML(), p.convertImage())
	return c
}

// converting is what both ways of converting take.
type converting struct {
	out, base, browser string
	allow              []string
	scripts, private   bool
	noSandbox          bool
	timeout            time.Duration
}

func (v *converting) flags(c *cobra.Command) {
	f := c.Flags()
	f.StringVar(&v.base, "base", "", "base `URL` of the relative links of a file")
	f.StringArrayVar(&v.allow, "allow", nil, "the page may read from this `HOST` at ports 80 and 443, or from HOST:PORT at that port only; may be repeated (the host of an address, or of --base, is allowed)")
	f.BoolVar(&v.private, "private", false, "allowed hosts may have addresses in private networks, and any port if none is named")
	f.BoolVar(&v.scripts, "scripts", false, "run the scripts of the page")
	f.StringVar(&v.browser, "browser", "", "`PATH` of Chromium (default: the first of chromium, chromium-browser, google-chrome and chrome in PATH)")
	f.BoolVar(&v.noSandbox, "no-sandbox", false, "run Chromium without its sandbox, which root needs; only for pages that you trust")
	f.DurationVar(&v.timeout, "timeout", 30*time.Second, "give up after this `TIME`")
}

func (p *program) convertHTML() *cobra.Command {
	var v converting
	var o htmlpdf.PDFOptions
	var margin string
	c := &cobra.Command{
		Use:     "html PAGE",
		Short:   "Print an HTML file or an address to a PDF",
		Long:    "Print an HTML file, standard input (-) or an address to a PDF. Lengths are in millimetres.",
		Example: "  quire convert html report.html -o report.pdf\n  quire convert html https://pages.example/report --allow assets.example --background",
		Args:    counted(1, 1, "page"),
		RunE: func(c *cobra.Command, a []string) error {
			if margin != "" {
				m, err := numbers(margin, 4)
				if err != nil {
					return usageError{fmt.Errorf("--margin %q: want one length, or four: top,right,bottom,left", margin)}
				}
				o.Margins = &htmlpdf.Margins{Top: m[0], Right: m[1], Bottom: m[2], Left: m[3]}
			}
			return p.converted(c.Context(), a[0], ".pdf", v, func(ctx context.Context, h *htmlpdf.Converter, s htmlpdf.Source) ([]byte, error) {
				return h.PDF(ctx, s, o)
			})
		},
	}
	f := c.Flags()
	f.StringVarP(&v.out, "out", "o", "", "PDF `FILE` to write; - for standard output (default: the page's name with .pdf, in the current directory)")
	f.Float64Var(&o.Width, "width", 210, "width of the paper in `MM`")
	f.Float64Var(&o.Height, "height", 297, "height of the paper in `MM`")
	f.BoolVar(&o.Landscape, "landscape", false, "landscape orientation")
	f.StringVar(&margin, "margin", "", "one margin in `MM` for all sides, or top,right,bottom,left (default: the margins of the page's @page, or 10)")
	f.Float64Var(&o.Scale, "scale", 1, "scale the content by `FACTOR`, 0.1 to 2")
	f.BoolVar(&o.Background, "background", false, "print backgrounds")
	f.BoolVar(&o.CSSPageSize, "css-page-size", false, "use the paper size of the page's @page")
	f.BoolVar(&o.Grayscale, "gray", false, "refused; convert image can convert colours to shades of gray")
	f.StringVar(&o.Pages, "pages", "", "print these `PAGES` only, such as 1-3,5")
	v.flags(c)
	return c
}

func (p *program) convertImage() *cobra.Command {
	var v converting
	var o htmlpdf.ImageOptions
	var crop string
	c := &cobra.Command{
		Use:     "image PAGE",
		Short:   "Draw an HTML file or an address as an image",
		Long:    "Draw an HTML file, standard input (-) or an address as a PNG, JPEG or WebP image. Lengths are\nin CSS pixels.",
		Example: "  quire convert image card.html --width 600 --height 315 --zoom 2 -o card.png",
		Args:    counted(1, 1, "page"),
		RunE: func(c *cobra.Command, a []string) error {
			if crop != "" {
				n, err := numbers(crop, 4)
				if err != nil {
					return usageError{fmt.Errorf("--crop %q: want X,Y,WIDTH,HEIGHT", crop)}
				}
				o.Crop = &htmlpdf.Crop{X: n[0], Y: n[1], Width: n[2], Height: n[3]}
			}
			return p.converted(c.Context(), a[0], "."+o.Format, v, func(ctx context.Context, h *htmlpdf.Converter, s htmlpdf.Source) ([]byte, error) {
				return h.Image(ctx, s, o)
			})
		},
	}
	f := c.Flags()
	f.StringVarP(&v.out, "out", "o", "", "image `FILE` to write; - for standard output (default: the page's name with the suffix of the format, in the current directory)")
	f.StringVar(&o.Format, "format", htmlpdf.PNG, "`FORMAT`: png, jpeg or webp")
	f.IntVar(&o.Width, "width", 1280, "width of the window in `PIXELS`")
	f.IntVar(&o.Height, "height", 0, "height of the window in `PIXELS` (default: the whole page)")
	f.Float64Var(&o.Zoom, "zoom", 1, "device pixels for each CSS pixel: `FACTOR` from 0.1 to 8")
	f.StringVar(&crop, "crop", "", "draw this area only: `X,Y,WIDTH,HEIGHT`")
	f.IntVar(&o.Quality, "quality", 0, "`QUALITY` of jpeg and webp, 1 to 100 (default 80)")
	f.BoolVar(&o.Grayscale, "gray", false, "convert colours to shades of gray")
	f.BoolVar(&o.Transparent, "transparent", false, "no white background: png and webp")
	v.flags(c)
	return c
}

// numbers reads as many numbers as are wanted, or one that stands for all.
func numbers(list string, want int) ([]float64, error) {
	var n []float64
	for s := range strings.SplitSeq(list, ",") {
		v, err := strconv.ParseFloat(strings.TrimSpace(s), 64)
		if err != nil {
			return nil, err
		}
		n = append(n, v)
	}
	if len(n) == 1 {
		n = slices.Repeat(n, want)
	}
	if len(n) != want {
		return nil, strconv.ErrSyntax
	}
	return n, nil
}

// conversion is what was made, as JSON.
type conversion struct {
	File    string   `json:"file"`
	Bytes   int      `json:"bytes"`
	Refused []string `json:"refused,omitempty"` // hosts that the page asked for in vain
}

func (p *program) converted(ctx context.Context, from, suffix string, v converting,
	draw func(context.Context, *htmlpdf.Converter, htmlpdf.Source) ([]byte, error),
) error {
	source, name, err := p.page(from, v)
	if err != nil {
		return err
	}
	var refused convert.Refused
	source.Missed = refused.Missed
	if v.out == "" {
		v.out = name + suffix
	}
	if v.out == "-" && p.json {
		return usageError{errors.New("--json and --out - both write to standard output; name a FILE")}
	}
	hosts := v.allow
	if u, err := url.Parse(source.URL); err == nil && u.Host != "" {
		hosts = append(slices.Clip(hosts), u.Host)
	}
	h, err := convert.New(convert.Config{
		Browser: v.browser, NoSandbox: v.noSandbox, Hosts: hosts, Unguarded: v.private,
		UserAgent: "Quire/" + p.Version, Limits: htmlpdf.Limits{Time: v.timeout},
	})
	if wrong, ok := errors.AsType[*convert.HostError](err); ok {
		at := "--allow"
		switch {
		case wrong.Index < len(v.allow):
		case v.base != "":
			at = "--base " + v.base
		default:
			at = from
		}
		return usageError{fmt.Errorf("%s: %w", at, wrong)}
	}
	if err != nil {
		return err
	}
	file, err := draw(ctx, h.Converter, source)
	if err = errors.Join(err, h.Close(context.WithoutCancel(ctx))); errors.Is(err, htmlpdf.ErrOptions) {
		return usageError{err}
	}
	if err != nil {
		return fmt.Errorf("convert %s: %w", from, err)
	}
	if err := p.output(v.out, func(w io.Writer) error { _, err := w.Write(file); return err }); err != nil {
		return err
	}
	made := conversion{v.out, len(file), refused.Hosts()}
	for _, host := range made.Refused {
		_, _ = fmt.Fprintf(p.Stderr, "warning: the page requested %s, which is not allowed; to allow it, add --allow %[1]s\n", host)
	}
	if v.out == "-" {
		return nil
	}
	return p.print(made, fmt.Sprintf("%s: %d bytes\n", made.File, made.Bytes))
}

// page reads the page: a file, standard input or an address, and how its file would be called.
func (p *program) page(from string, v converting) (s htmlpdf.Source, name string, err error) {
	s.Scripts = v.scripts
	if strings.HasPrefix(from, "https://") || strings.HasPrefix(from, "http://") {
		u, err := url.Parse(from)
		if err != nil || v.base != "" {
			return s, "", usageError{fmt.Errorf("%s: want an address, without --base", from)}
		}
		if name = strings.TrimSuffix(path.Base(u.Path), path.Ext(u.Path)); name == "" || name == "." || name == "/" {
			name = u.Hostname()
		}
		s.URL = from
		return s, name, nil
	}
	s.URL = v.base
	if from == "-" {
		s.HTML, err = io.ReadAll(io.LimitReader(p.Stdin, 64<<20))
		return s, "page", err
	}
	f, err := os.Open(from)
	if err != nil {
		return s, "", err
	}
	s.HTML, err = io.ReadAll(io.LimitReader(f, 64<<20))
	base := path.Base(strings.ReplaceAll(from, `\`, "/"))
	return s, strings.TrimSuffix(base, path.Ext(base)), errors.Join(err, f.Close())
}
