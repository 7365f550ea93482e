package edit

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	"example.com/quire/pdf/internal/diag"
)

// Picture is a page as it is drawn: three bytes for each pixel, from the left to the right and from
// the top down.
type Picture struct {
	Width, Height int
	RGB           []byte
}

// Raster draws the pages of a PDF file, in order. Its errors end it.
type Raster func(ctx context.Context, file string, dpi int) iter.Seq2[*Picture, error]

// mostDrawn bounds the picture of one page.
const mostDrawn = 50_000_000

// Poppler returns the Raster that runs poppler's pdftoppm. Where it is not installed the error is
// diag.ErrTool.
func Poppler() (Raster, error) {
	program, err := exec.LookPath("pdftoppm")
	if err != nil {
		return nil, diag.Fail(diag.Diagnostic{
			Code: diag.CodeTool, Message: "pixels are compared by pdftoppm, which is not installed here",
			Suggestion: "install poppler (poppler-utils in Debian and Ubuntu, poppler elsewhere), or compare without pixels",
		})
	}
	return func(ctx context.Context, file string, dpi int) iter.Seq2[*Picture, error] {
		return func(yield func(*Picture, error) bool) {
			ctx, stop := context.WithCancel(ctx)
			defer stop()
			var said bytes.Buffer
			cmd := exec.CommandContext(ctx, program, "-r", strconv.Itoa(dpi), file) //nolint:gosec // G204: a file of ours
			cmd.Stderr = &limited{&said, 4 << 10}
			out, err := cmd.StdoutPipe()
			if err == nil {
				err = cmd.Start()
			}
			if err != nil {
				yield(nil, err)
				return
			}
			in, more := bufio.NewReaderSize(out, 1<<16), true
			for more {
				p, err := readPPM(in)
				if errors.Is(err, io.EOF) {
					break
				}
				if err != nil {
					stop()
					_ = cmd.Wait() // err is what is told
					yield(nil, err)
					return
				}
				more = yield(p, nil)
			}
			if !more {
				stop()
				_ = cmd.Wait() // it was ended
				return
			}
			if err := cmd.Wait(); err != nil {
				yield(nil, fmt.Errorf("pdf: pdftoppm: %w: %s", err, strings.TrimSpace(said.String())))
			}
		}
	}, nil
}

// limited keeps the beginning of what is written.
type limited struct {
	to   io.Writer
	left int
}

func (l *limited) Write(b []byte) (int, error) {
	n := min(len(b), l.left)
	l.left -= n
	_, err := l.to.Write(b[:n])
	return len(b), err
}

// readPPM reads one of the pictures that pdftoppm writes, one behind the other; io.EOF where there
// is none.
func readPPM(in *bufio.Reader) (*Picture, error) {
	var p Picture
	var most int
	if _, err := in.Peek(1); err != nil {
		return nil, err
	}
	if _, err := fmt.Fscanf(in, "P6\n%d %d\n%d\n", &p.Width, &p.Height, &most); err != nil || most != 255 || p.Width < 1 || p.Height < 1 {
		return nil, fmt.Errorf("pdf: pdftoppm wrote no picture: %w", cmpErr(err))
	}
	if err := diag.Check("Pixels", int64(p.Width)*int64(p.Height), mostDrawn, ""); err != nil {
		return nil, err
	}
	p.RGB = make([]byte, 3*p.Width*p.Height)
	if _, err := io.ReadFull(in, p.RGB); err != nil {
		return nil, fmt.Errorf("pdf: pdftoppm did not write a complete picture: %w", cmpErr(err))
	}
	return &p, nil
}

// cmpErr is never io.EOF, which stands for the end of all pictures.
func cmpErr(err error) error {
	if err == nil || errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// pixels compares the pages as they are drawn. What is drawn of each file is read once, page by
// page.
func (c *comparing) pixels(ctx context.Context, o CompareOptions) error {
	dpi := o.DPI
	if dpi == 0 {
		dpi = 72
	}
	dir, err := os.MkdirTemp("", "quire-compare-*")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }() // the system clears what cannot be removed
	var next [2]func() (*Picture, error, bool)
	for i, s := range c.sides {
		for n := range s.e.pages {
			b := s.e.shown(n)
			if err := diag.Check("Pixels", int64((b[2]-b[0])*(b[3]-b[1])/72/72*float64(dpi)*float64(dpi)), mostDrawn, "page "+strconv.Itoa(n+1)); err != nil {
				return err
			}
		}
		name := filepath.Join(dir, strconv.Itoa(i)+".pdf")
		if err := s.save(name); err != nil {
			return err
		}
		pull, stop := iter.Pull2(o.Raster(ctx, name, dpi))
		defer stop()
		next[i] = pull
	}
	other := 0 // the page of the second file that comes next
	var q *Picture
	for n := range c.sides[0].e.pages {
		p, err, ok := next[0]()
		if err != nil || !ok {
			return fewer(err)
		}
		m, ok := c.pairs[n]
		if !ok {
			continue
		}
		for ; other <= m; other++ {
			if q, err, ok = next[1](); err != nil || !ok {
				return fewer(err)
			}
		}
		c.of = Difference{Page: n + 1, OtherPage: m + 1}
		c.picture(p, q, dpi, c.sides[0].e.shown(n))
	}
	return nil
}

func fewer(err error) error {
	if err != nil {
		return err
	}
	return errors.New("pdf: pdftoppm drew fewer pages than the file has")
}

// save writes the file for another program.
func (s *side) save(name string) error {
	if s.e.base.Key != nil {
		return &OptionError{Field: "pixels", Got: "an encrypted file", Want: "one that is decrypted first"}
	}
	f, err := os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	err = copySection(f, s.e.base.File, 0, s.e.base.Size)
	return errors.Join(err, f.Close())
}

// picture compares two pictures.
func (c *comparing) picture(a, b *Picture, dpi int, shown [4]float64) {
	if a.Width != b.Width || a.Height != b.Height {
		c.value("pixels", "size", fmt.Sprintf("%d x %d", a.Width, a.Height), fmt.Sprintf("%d x %d", b.Width, b.Height))
		return
	}
	if bytes.Equal(a.RGB, b.RGB) {
		return
	}
	count, most := 0, 0
	left, top, right, bottom := a.Width, a.Height, 0, 0
	for i := 0; i < len(a.RGB); i += 3 {
		far := 0
		for k := i; k < i+3; k++ {
			far = max(far, int(a.RGB[k])-int(b.RGB[k]), int(b.RGB[k])-int(a.RGB[k]))
		}
		if far == 0 {
			continue
		}
		x, y := i/3%a.Width, i/3/a.Width
		left, right, top, bottom = min(left, x), max(right, x+1), min(top, y), max(bottom, y+1)
		count++
		most = max(most, far)
	}
	d := Difference{Part: "pixels", Kind: "changed", After: fmt.Sprintf("%d of %d pixels, by up to %d of 255", count, a.Width*a.Height, most)}
	if rotated := c.sides[0].e.rotation(c.sides[0].e.pages[c.of.Page-1].Dict); rotated == 0 {
		at := 72 / float64(dpi)
		d.Box = new(rounded([4]float64{shown[0] + float64(left)*at, shown[3] - float64(bottom)*at, shown[0] + float64(right)*at, shown[3] - float64(top)*at}))
	}
	c.tell(d)
}
