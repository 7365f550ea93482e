package cli

import (
	"errors"
	"path/filepath"
	"regexp"

	"example.com/quire/internal/app"
	"example.com/quire/internal/record"
)

// folder is where the files of a template are, as whoever called names it. A template knows its
// files by their names in its folder; messages name them so that editors and shells find them.
type folder struct{ template, dir string }

func folderOf(template string) folder { return folder{template, app.FolderOf(template)} }

// path returns the name of a file for messages.
func (f folder) path(name string) string {
	if f.dir != f.template && name == filepath.Base(f.template) { // a pipe does not lie in the folder
		return filepath.Clean(f.template)
	}
	return filepath.Join(f.dir, name)
}

// errors puts the folder before the names of the template's files in an error; data is the name of
// the file with the data.
func (f folder) errors(err error, data string) error {
	if e, ok := errors.AsType[*record.TemplateError](err); ok {
		f.problem(&e.Problem, data)
		f.problems(e.More, data)
	}
	if e, ok := errors.AsType[*record.DataError](err); ok {
		f.problem(&e.Problem, data)
		f.problems(e.More, data)
	}
	return err
}

func (f folder) problems(all []record.Problem, data string) {
	for i := range all {
		f.problem(&all[i], data)
	}
}

// where is where the template uses a value of the data.
var where = regexp.MustCompile(`\((used|declared) at ([^():]+)(:\d+:\d+\))`)

func (f folder) problem(p *record.Problem, data string) {
	if p.File != "" && p.File != data {
		p.File = f.path(p.File)
	}
	p.Message = where.ReplaceAllStringFunc(p.Message, func(s string) string {
		m := where.FindStringSubmatch(s)
		return "(" + m[1] + " at " + f.path(m[2]) + m[3]
	})
}
