package web

import (
	"cmp"
	"errors"
	"fmt"
	"html/template"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
	"sync/atomic"
)

// TemplateOptions configure NewTemplates.
type TemplateOptions struct {
	// Ext is the extension of template files. Default: .html.
	Ext string
	// Shared are patterns (path.Match) of files that every page may use: layouts
	// and partials. Default: layouts/* and partials/*.
	Shared []string
	// Layout is the shared file that is executed around a page, which fills the
	// blocks it declares. Default: none; a page is executed by itself.
	Layout string
	// Funcs are functions for all templates. Danger: one that returns
	// template.HTML or its like switches the escaping off for what it returns.
	Funcs map[string]any
	// Left and Right are the delimiters. Default: {{ and }}.
	Left, Right string
	// Reload parses anew at every use. Default: off, on under Options.Debug.
	Reload bool
}

// Templates is a Renderer over html/template: one set per page, so that two
// pages may define the same block. It is safe for concurrent use.
type Templates struct {
	fsys   fs.FS
	o      TemplateOptions
	reload atomic.Bool
	pages  map[string]*template.Template
}

// NewTemplates parses all templates of fsys; a mistake in any is an error now,
// not at its first use.
func NewTemplates(fsys fs.FS, o TemplateOptions) (*Templates, error) {
	o.Ext = cmp.Or(o.Ext, ".html")
	if o.Shared == nil {
		o.Shared = []string{"layouts/*", "partials/*"}
	}
	t := &Templates{fsys: fsys, o: o}
	t.reload.Store(o.Reload)
	var err error
	t.pages, err = t.parse()
	return t, err
}

func (t *Templates) shared(name string) (bool, error) {
	for _, p := range t.o.Shared {
		if ok, err := path.Match(p, name); ok || err != nil {
			return ok, err
		}
	}
	return false, nil
}

func (t *Templates) parse() (map[string]*template.Template, error) {
	var shared, pages []string
	err := fs.WalkDir(t.fsys, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || path.Ext(name) != t.o.Ext {
			return err
		}
		isShared, err := t.shared(name)
		if isShared {
			shared = append(shared, name)
		} else {
			pages = append(pages, name)
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("web: templates: %w", err)
	}
	base := template.New("").Funcs(t.o.Funcs).Delims(t.o.Left, t.o.Right)
	if err := t.add(base, shared); err != nil {
		return nil, err
	}
	if t.o.Layout != "" && !slices.Contains(shared, t.o.Layout) {
		return nil, fmt.Errorf("web: templates: layout %s is not a shared file", t.o.Layout)
	}
	sets := make(map[string]*template.Template, len(pages))
	for _, name := range pages {
		set, err := base.Clone()
		if err != nil {
			return nil, fmt.Errorf("web: templates: %w", err)
		}
		if err := t.add(set, []string{name}); err != nil {
			return nil, err
		}
		sets[name] = set
	}
	return sets, nil
}

func (t *Templates) add(set *template.Template, files []string) error {
	for _, name := range files {
		text, err := fs.ReadFile(t.fsys, name)
		if err != nil {
			return fmt.Errorf("web: templates: %w", err)
		}
		if _, err := set.New(name).Parse(string(text)); err != nil {
			return fmt.Errorf("web: templates: %w", err)
		}
	}
	return nil
}

var errNoTemplate = errors.New("no such template")

// Render executes a page by its path in the file system, inside the layout if
// there is one. page.html#block executes one definition of the page alone.
func (t *Templates) Render(w io.Writer, name string, data any) error {
	pages := t.pages
	if t.reload.Load() {
		var err error
		if pages, err = t.parse(); err != nil {
			return err
		}
	}
	page, block, _ := strings.Cut(name, "#")
	set := pages[page]
	if set == nil {
		return fmt.Errorf("web: render %s: %w", name, errNoTemplate)
	}
	if block == "" {
		block = cmp.Or(t.o.Layout, page)
	}
	if set.Lookup(block) == nil {
		return fmt.Errorf("web: render %s: %w", name, errNoTemplate)
	}
	return set.ExecuteTemplate(w, block, data)
}
