package cli

import (
	"errors"
	"os"
	"path/filepath"
	"regexp"

	"example.com/quire/internal/record"
)

// folder is where the files of a template are, as whoever called names it. A template knows its
// files by their names in its folder; messages name them so that editors and shells find them.
type folder string

// folderOf returns the folder of a template, which is a file or a folder.
func folderOf(template string) folder {
	if info, err := os.Stat(template); err == nil && info.IsDir() {
		return folder(template)
	}
	return folder(filepath.Dir(template))
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
		p.File = filepath.Join(string(f), p.File)
	}
	p.Message = where.ReplaceAllStringFunc(p.Message, func(s string) string {
		m := where.FindStringSubmatch(s)
		return "(" + m[1] + " at " + filepath.Join(string(f), m[2]) + m[3]
	})
}
