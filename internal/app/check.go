package app

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"example.com/quire/internal/config"
	"example.com/quire/internal/convert"
	"example.com/quire/internal/nearest"
	"example.com/quire/internal/record"
	"example.com/quire/internal/templates"
	"example.com/quire/pdf"
	"example.com/quire/pdf/htmlpdf"
)

// Check checks everything that a configuration names: templates, sources, certificates. New begins
// with it, and doctor calls it. found is the error that config.Load returned with the
// configuration. The error of Check is a *config.Error with all problems, or found if that is none.
func Check(ctx context.Context, o Options, found error) error {
	wrong, ok := errors.AsType[*config.Error](found)
	if found != nil && !ok {
		return found
	}
	var read, faults []record.Problem
	if ok {
		read = wrong.Faults
	}
	for _, check := range []func(context.Context, Options) ([]record.Problem, error){checkTemplates, checkSources, checkSigners, checkConvert, checkOCR, checkTLS} {
		more, err := check(ctx, o)
		if err != nil && !ok { // of what was read in part there may be nothing to tell
			return err
		}
		faults = append(faults, more...)
	}
	return config.Join(read, faults)
}

// checkTemplates finds reports whose template is not there.
func checkTemplates(ctx context.Context, o Options) (faults []record.Problem, err error) {
	folder, done, err := folderOf(o, nil)
	if err != nil {
		return []record.Problem{o.Config.Fault("templates", "a directory that can be read", err.Error(), "")}, nil
	}
	defer func() { err = errors.Join(err, done()) }()
	for _, report := range slices.Sorted(maps.Keys(o.Config.Reports)) {
		r := o.Config.Reports[report]
		names, err := folder.Names(ctx, record.Space(r.Space))
		if err != nil {
			return nil, err
		}
		name := r.Template
		if slices.Contains(names, name) {
			continue
		}
		suggestion := ""
		if near := nearest.Name(name, names); near != "" {
			suggestion = fmt.Sprintf("did you mean %q?", near)
		}
		faults = append(faults, o.Config.Fault("reports."+report+".template", "the name of a template in "+templatesOf(o.Config, r.Space), strconv.Quote(name), suggestion))
	}
	return faults, nil
}

// folderOf opens the templates. done gives back what it opened.
func folderOf(o Options, load templates.Loader) (folder *templates.Folder, done func() error, err error) {
	spaces := spacesOf(o.Config)
	if o.Templates != nil {
		return templates.New(o.Templates, load, spaces...), func() error { return nil }, nil
	}
	root, err := os.OpenRoot(o.Config.Templates)
	if errors.Is(err, fs.ErrNotExist) { // it may be made later
		return templates.New(os.DirFS(o.Config.Templates), load, spaces...), func() error { return nil }, nil
	}
	if err != nil {
		return nil, nil, err
	}
	return templates.New(root.FS(), load, spaces...), root.Close, nil
}

// templatesOf is the directory in which the templates of a space stand.
func templatesOf(c *config.Config, space string) string {
	if space == config.LocalSpace {
		return c.Templates
	}
	return filepath.Join(c.Templates, space)
}

// spacesOf lists the spaces that a configuration names.
func spacesOf(c *config.Config) []record.Space {
	var spaces []record.Space
	for _, t := range c.Tokens {
		spaces = append(spaces, record.Space(t.Space))
	}
	for _, s := range c.Signers {
		spaces = append(spaces, record.Space(s.Space))
	}
	for _, r := range c.Reports {
		spaces = append(spaces, record.Space(r.Space))
	}
	slices.Sort(spaces)
	return slices.Compact(spaces)
}

// checkSources makes each source by itself: the error of several does not say which key it is of.
func checkSources(ctx context.Context, o Options) (faults []record.Problem, err error) {
	for _, name := range slices.Sorted(maps.Keys(o.Config.Sources)) {
		one := &config.Config{Sources: map[string]config.Source{name: o.Config.Sources[name]}}
		c, wrong := sourcesOf(one, slog.New(slog.DiscardHandler))
		if wrong != nil {
			got := strings.TrimPrefix(wrong.Error(), "source "+name+": ")
			faults = append(faults, o.Config.Fault("sources."+name, "a source that can be called", got, ""))
			continue
		}
		if err := c.Close(ctx); err != nil {
			return nil, err
		}
	}
	return faults, nil
}

// checkSigners reads each key as the server will.
func checkSigners(_ context.Context, o Options) (faults []record.Problem, err error) {
	for _, name := range slices.Sorted(maps.Keys(o.Config.Signers)) {
		if _, wrong := identityOf(o.Config.Signers[name]); wrong != nil {
			faults = append(faults, o.Config.Fault("signers."+name+".key", "a key with its certificates that only its owner may read", wrong.Error(), ""))
		}
	}
	return faults, nil
}

// checkConvert looks for the browser and reads the hosts.
func checkConvert(ctx context.Context, o Options) (faults []record.Problem, err error) {
	for i, h := range o.Config.Convert.Hosts {
		if wrong, ok := errors.AsType[*convert.HostError](convert.CheckHost(h)); ok {
			faults = append(faults, o.Config.Fault(fmt.Sprintf("convert.hosts[%d]", i), convert.WantHost, strconv.Quote(h), wrong.Remedy))
		}
	}
	if len(faults) > 0 {
		return faults, nil
	}
	c, wrong := converterOf(o.Config)
	if errors.Is(wrong, htmlpdf.ErrNoBrowser) {
		return []record.Problem{o.Config.Fault("convert.browser", "a Chromium that can be started", strconv.Quote(o.Config.Convert.Browser), "install chromium, or name its path")}, nil
	}
	if wrong != nil {
		return []record.Problem{o.Config.Fault("convert", "settings with which HTML can be converted", wrong.Error(), "")}, nil
	}
	if c == nil {
		return nil, nil
	}
	return nil, c.Close(ctx)
}

// checkOCR looks for tesseract.
func checkOCR(ctx context.Context, o Options) (faults []record.Problem, err error) {
	program := o.Config.OCR.Program
	if program == "" {
		return nil, nil
	}
	if _, wrong := pdf.Tesseract(ctx, pdf.TesseractOptions{Program: program}); wrong != nil && !errors.As(wrong, new(*pdf.OptionError)) { // English may be missing
		return []record.Problem{o.Config.Fault("ocr.program", "a tesseract that can be started", strconv.Quote(program), "install tesseract-ocr, or name its path")}, nil
	}
	return nil, nil
}

// checkTLS reads the certificate as the server will.
func checkTLS(_ context.Context, o Options) (faults []record.Problem, err error) {
	if o.Config.TLS.Cert == "" {
		return nil, nil
	}
	if _, err := tls.LoadX509KeyPair(o.Config.TLS.Cert, o.Config.TLS.Key); err != nil {
		faults = append(faults, o.Config.Fault("tls.cert", "a certificate with its key, in PEM", err.Error(), ""))
	}
	return faults, nil
}
