package record

import (
	"fmt"
	"io/fs"
	"maps"
	"slices"

	"example.com/quire/internal/nearest"
)

// Template is one version of a template: its main file and the assets that
// the main file may name. It is immutable; do not change Files.
type Template struct {
	Name  string
	Main  string            // name of the main file in Files
	Files map[string][]byte // by slash-separated path, as of io/fs
	hash  Hash
	form  manifest
	text  []byte // of form, canonical
}

// TemplateRef is the identity of a template: its name and the hash of its
// canonical form. The same name with another hash is another version.
type TemplateRef struct {
	Name string `json:"name"`
	Hash Hash   `json:"hash"`
}

// maxTemplateFiles bounds the files of one template.
const maxTemplateFiles = 1000

// NewTemplate makes a template of files, of which main is the one to compile.
// File names are paths as of io/fs: relative, slash-separated, without "..".
func NewTemplate(name, main string, files map[string][]byte) (*Template, error) {
	if err := CheckName("template name", name); err != nil {
		return nil, err
	}
	if len(files) > maxTemplateFiles {
		return nil, &LimitError{Name: "template files", Limit: maxTemplateFiles, Got: int64(len(files))}
	}
	if _, ok := files[main]; !ok {
		return nil, &RequestError{
			Field: "template main file", Got: fmt.Sprintf("%q", main), Want: "one of the template's files",
			Nearest: nearest.Name(main, slices.Sorted(maps.Keys(files))),
		}
	}
	form := manifest{Main: main, Files: make(map[string]Hash, len(files))}
	for file, b := range files {
		if !fs.ValidPath(file) || file == "." {
			return nil, &RequestError{
				Field: "template file", Got: fmt.Sprintf("%q", file),
				Want: `a relative path with "/" between names and without ".."`,
			}
		}
		form.Files[file] = Sum(b)
	}
	b, err := marshal(form)
	if err != nil {
		return nil, err
	}
	return &Template{Name: name, Main: main, Files: files, hash: Sum(b), form: form, text: b}, nil
}

// manifest is the canonical form of a template: which file is the main one, and the hash of every
// file. The files are kept as blobs under these hashes, and the manifest under its own, so a
// document can be made again after its template has changed.
type manifest struct {
	Files map[string]Hash `json:"files"`
	Main  string          `json:"main"`
}

// Manifest returns the canonical form: canonical JSON
// {"files":{FILE:SHA256,...},"main":FILE}. Its hash is the template's.
func (t *Template) Manifest() []byte { return t.text }

// Sum returns the SHA-256 of a file of the template.
func (t *Template) Sum(file string) (h Hash, ok bool) {
	h, ok = t.form.Files[file]
	return h, ok
}

// Ref returns the template's identity.
func (t *Template) Ref() TemplateRef { return TemplateRef{Name: t.Name, Hash: t.hash} }
