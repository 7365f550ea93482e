package edit

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"example.com/quire/internal/nearest"
	"example.com/quire/pdf/internal/diag"
)

// TesseractOptions say how text is read by the program tesseract.
type TesseractOptions struct {
	Program   string        // its path, or its name in PATH; "": tesseract
	Languages []string      // such as eng, deu or chi_sim, of those that are installed; none: eng
	Time      time.Duration // of one picture; 0: 2 minutes
}

// What tesseract may write.
const (
	mostRead      = 16 << 20 // bytes, of the words of one picture
	mostSaid      = 4 << 10
	mostLanguages = 8 // at a time: each makes it slower
)

// language is a name of a file of training data, which is no option of a program and no other
// directory.
var language = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_]{1,31}(/[A-Za-z][A-Za-z0-9_]{1,31})?$`)

// Tesseract returns the OCR that runs tesseract. Where it is not installed the error is
// diag.ErrTool; one of a language that it does not have is an *OptionError.
func Tesseract(ctx context.Context, o TesseractOptions) (OCR, error) {
	name := o.Program
	if name == "" {
		name = "tesseract"
	}
	program, err := exec.LookPath(name)
	if err != nil {
		return nil, diag.Fail(diag.Diagnostic{
			Code: diag.CodeTool, Message: "text in images is read by tesseract, which is not installed here",
			Suggestion: "install tesseract (tesseract-ocr in Debian and Ubuntu, tesseract elsewhere), or redact images by box",
		})
	}
	t := &tesseract{program: program, time: o.Time}
	if t.time <= 0 {
		t.time = 2 * time.Minute
	}
	var languages []string // each once, the first ones first
	for _, l := range o.Languages {
		if !slices.Contains(languages, l) {
			languages = append(languages, l)
		}
	}
	if len(languages) == 0 {
		languages = []string{"eng"}
	}
	if len(languages) > mostLanguages {
		return nil, &OptionError{Field: "ocr", Got: fmt.Sprintf("%d languages", len(languages)), Want: fmt.Sprintf("at most %d", mostLanguages)}
	}
	out, err := t.run(ctx, nil, "--list-langs")
	if err != nil {
		return nil, err
	}
	var known []string
	for line := range strings.Lines(out) {
		if s := strings.TrimSpace(line); language.MatchString(s) && s != "osd" {
			known = append(known, s)
		}
	}
	slices.Sort(known)
	for _, l := range languages {
		if !slices.Contains(known, l) {
			return nil, &OptionError{
				Field: "ocr", Got: strconv.Quote(l),
				Want:    "languages that tesseract has: " + strings.Join(known, ", ") + "; more are packages such as tesseract-ocr-deu of Debian",
				Nearest: nearest.Name(l, known),
			}
		}
	}
	t.languages = strings.Join(languages, "+")
	return t, nil
}

// environment returns the variables that the program is given: where it finds itself, its data and
// room for temporary files. Secrets of the server are none of its business.
func environment() (env []string) {
	for _, name := range []string{"PATH", "HOME", "TESSDATA_PREFIX", "LD_LIBRARY_PATH", "TMPDIR", "LANG", "LC_ALL", "LC_CTYPE", "SystemRoot", "TEMP", "TMP", "USERPROFILE"} {
		if v, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+v)
		}
	}
	return append(env, "OMP_THREAD_LIMIT=1")
}

type tesseract struct {
	program, languages string
	time               time.Duration
}

// Read implements OCR.
func (t *tesseract) Read(ctx context.Context, p *Picture) ([]PictureWord, error) {
	if len(p.RGB) != 3*p.Width*p.Height || p.Width < 1 || p.Height < 1 {
		return nil, errors.New("pdf: tesseract: a picture without pixels")
	}
	if err := diag.Check("OCRPixels", int64(p.Width)*int64(p.Height), mostDrawn, ""); err != nil {
		return nil, err
	}
	out, err := t.run(ctx, p, "stdin", "stdout", "-l", t.languages, "--psm", "3", "tsv")
	if err != nil {
		return nil, err
	}
	return readTSV(out)
}

// run runs tesseract and returns what it wrote. It works on one core.
func (t *tesseract) run(ctx context.Context, p *Picture, args ...string) (string, error) {
	ms := t.time.Milliseconds()
	ctx, stop := context.WithTimeoutCause(ctx, t.time, &diag.LimitError{Name: "OCRTime", Value: ms, Limit: ms})
	defer stop()
	var out, said bytes.Buffer
	cmd := exec.CommandContext(ctx, t.program, args...) //nolint:gosec // G204: no shell, and arguments of ours
	cmd.Env = environment()
	cmd.WaitDelay = time.Second
	written := &limited{&out, mostRead + 1}
	cmd.Stdout, cmd.Stderr = written, &limited{&said, mostSaid}
	if p != nil {
		cmd.Stdin = bytes.NewReader(append(fmt.Appendf(make([]byte, 0, len(p.RGB)+32), "P6\n%d %d\n255\n", p.Width, p.Height), p.RGB...))
	}
	err := cmd.Run()
	switch {
	case ctx.Err() != nil:
		return "", context.Cause(ctx)
	case err != nil:
		return "", fmt.Errorf("pdf: tesseract: %w: %s", err, strings.TrimSpace(said.String()))
	case strings.Contains(said.String(), "Failed loading language"): // it goes on with the others
		return "", fmt.Errorf("pdf: tesseract: %s", strings.TrimSpace(said.String()))
	case out.Len() > mostRead:
		return "", &diag.LimitError{Name: "OCRBytes", Value: int64(out.Len()), Limit: mostRead}
	}
	return out.String(), nil
}

// readTSV reads the words of tesseract's table: level, page, block, paragraph, line, word, left,
// top, width, height, confidence and text, with tabs between them.
func readTSV(s string) ([]PictureWord, error) {
	var words []PictureWord
	line, last := 0, ""
	for i, row := range strings.Split(s, "\n") {
		row = strings.TrimSuffix(row, "\r")
		cells := strings.SplitN(row, "\t", 12)
		if i == 0 && cells[0] != "level" {
			return nil, errors.New("pdf: tesseract: wrote no table of words")
		}
		if i == 0 || row == "" || cells[0] != "5" {
			continue
		}
		if len(cells) < 12 {
			return nil, fmt.Errorf("pdf: tesseract: row %d of its words has %d cells", i+1, len(cells))
		}
		var n [4]int
		var err error
		for k := range n {
			if n[k], err = strconv.Atoi(cells[6+k]); err != nil || n[k] < 0 || n[k] > mostDrawn {
				return nil, fmt.Errorf("pdf: tesseract: row %d of its words has the place %.20q", i+1, cells[6+k])
			}
		}
		sure, err := strconv.ParseFloat(cells[10], 64)
		if err != nil {
			return nil, fmt.Errorf("pdf: tesseract: row %d of its words has the confidence %.20q", i+1, cells[10])
		}
		if at := strings.Join(cells[1:5], "."); at != last {
			line, last = line+1, at
		}
		if text := strings.TrimSpace(cells[11]); text != "" {
			words = append(words, PictureWord{Text: text, Box: image.Rect(n[0], n[1], n[0]+n[2], n[1]+n[3]), Line: line, Confidence: sure})
		}
	}
	return words, nil
}
