//go:build judges && !race

package edit_test

import (
	"bytes"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"example.com/quire/pdf/internal/edit"
	"example.com/quire/pdf/pdftest"
	"example.com/quire/pdf/standard"
)

// entry is an entry of a dictionary in the text of an object: from its key on, and from its value.
type entry struct{ key, value, end int }

var (
	objectToken = regexp.MustCompile(`^(\d+ 0 R\b|/[^\s/<>\[\]()]*|\([^)]*\)|<[0-9a-fA-F]*>|[^\s/<>\[\]()]+)`)
	dictKind    = regexp.MustCompile(`/(?:Type|S|FT|FunctionType)/\w+`)
)

// entriesOf returns the entries of the dictionaries of an object's text, those within others too.
// It knows what the files of these tests are written with: no comments, no strings within strings.
func entriesOf(s string) (out []entry) {
	at := 0
	space := func() {
		for at < len(s) && strings.IndexByte(" \n\r", s[at]) >= 0 {
			at++
		}
	}
	var object func()
	object = func() {
		space()
		switch {
		case strings.HasPrefix(s[at:], "<<"):
			for at += 2; ; {
				if space(); strings.HasPrefix(s[at:], ">>") {
					at += 2
					return
				}
				e := entry{key: at}
				at += len(objectToken.FindString(s[at:]))
				space()
				e.value = at
				object()
				e.end = at
				out = append(out, e)
			}
		case s[at] == '[':
			for at++; ; object() {
				if space(); s[at] == ']' {
					at++
					return
				}
			}
		default:
			n := len(objectToken.FindString(s[at:]))
			if n == 0 {
				panic("no token at " + s[at:])
			}
			at += n
		}
	}
	object()
	return out
}

// mutant is a file of which one entry of a dictionary is another one, or none.
type mutant struct {
	name string // what was done
	of   []byte // the file
	at   [2]int // where the object lies in it
	now  string // the object as it is then
}

func (m mutant) file() []byte {
	return referenced(slices.Concat(m.of[:m.at[0]], []byte(m.now), m.of[m.at[1]:]))
}

// mutants returns those of a file; done are those that there are already.
func mutants(file []byte, done map[string]bool) (out []mutant) {
	for _, m := range objectText.FindAllSubmatchIndex(file, -1) {
		text := string(file[m[4]:m[5]])
		dict, data, _ := strings.Cut(text, "\nstream\n")
		if strings.Contains(data, "%PDF-") {
			continue // a file within the file
		}
		if !strings.HasPrefix(dict, "<<") {
			continue
		}
		kind := dictKind.FindString(dict)
		for _, e := range entriesOf(dict) {
			key, value := dict[e.key:e.value], dict[e.value:e.end]
			others := map[string]string{"": "", " null": "null", " of another type": "true", " to nothing": "999 0 R"}
			switch value[0] {
			case '/':
				others[" of another name"] = "/Other"
				others[" a string"] = "(" + value[1:] + ")"
			case '[':
				others[" empty"] = "[]"
			case '<':
				others[" empty"] = "<<>>"
				if !strings.HasPrefix(value, "<<") {
					others[" empty"] = "<>"
				}
			case '(':
				others[" empty"] = "()"
			default:
				if !strings.HasSuffix(value, "R") {
					others[" another number"], others[" below zero"], others[" a fraction"] = "7", "-1", "1.5"
				}
			}
			for _, what := range slices.Sorted(maps.Keys(others)) {
				other := others[what]
				if other == value || strings.TrimSpace(key) == "/Length" {
					continue
				}
				changed := ""
				if other != "" {
					changed = strings.TrimSpace(key) + " " + other
				}
				now := text[:e.key] + changed + text[e.end:]
				what = kind + " " + strings.TrimSpace(key) + what
				if done[what] {
					continue
				}
				done[what] = true
				out = append(out, mutant{what, file, [2]int{m[4], m[5]}, now})
			}
		}
	}
	return out
}

// explanation is why mutants are judged otherwise than by veraPDF.
type explanation struct {
	of  *regexp.Regexp
	why string
}

// explained are the mutants that we judge otherwise than veraPDF, with the reason.
var explained = []explanation{
	{regexp.MustCompile(` /N( |$)`), "N is asked of the profiles of output intents too; veraPDF reads the profile alone"},
	{regexp.MustCompile(`/Supplement( |$)`), "ISO 32000, table 114 requires it; veraPDF takes an absent one for one that is less"},
	{regexp.MustCompile(`/Type/Font /Subtype( |$)`), "a font of no subtype is none; veraPDF passes over it"},
	{regexp.MustCompile(`/Type/Catalog /Version( |$)`), "PDF/UA-2 is for files of PDF 2.0, of which veraPDF does not ask the version, and Version is a name"},
	{regexp.MustCompile(`/(BaseEncoding|Version) a string$`), "a string is no name"},
	{regexp.MustCompile(`/(StructParent|WMode) a fraction$`), "a fraction is no integer"},
	{regexp.MustCompile(`/WMode of another type$`), "true is no integer"},
	{regexp.MustCompile(`/(Desc|RV) to nothing$`), "an object that there is not is null (7.3.10), and an entry of null none (7.3.9)"},
	{regexp.MustCompile(`/(CropBox) empty$`), "an array of less than four numbers is no rectangle, and the box then that of the medium"},
	{regexp.MustCompile(`/Annot /A empty$`), "links of one element lead to one place; veraPDF compares structure destinations alone"},
	{regexp.MustCompile(`/Pages /Count below zero$`), "Count does not say which pages there are"},
}

// mostMutants bounds those of one flavour: there are up to 760, all of which were judged once.
const (
	mostMutants = 25
	mutantSeed  = 1
)

// TestMutantsAreJudgedAsByVeraPDF: of sound files, each with one entry of a dictionary changed or
// left out, those conform that do by veraPDF, but for those that are explained. The same part of
// all is judged each time.
func TestMutantsAreJudgedAsByVeraPDF(t *testing.T) {
	all := fileRules(t)
	maps.Copy(all, cmapRules(t))
	maps.Copy(all, contentRules(t))
	maps.Copy(all, documentRules(t))
	maps.Copy(all, accessRules(t))
	for name, x := range rules(t) {
		all["rules "+name] = judged{standard.PDFA2b, x.clause, x.is.bytes(t)}
	}
	for part, id := range map[int]standard.ID{1: standard.PDFUA1, 2: standard.PDFUA2} {
		for name, x := range tagRules(part) {
			all["tags "+name] = judged{id, x.clause, x.is.bytes(t)}
		}
	}
	judge := map[standard.ID][]mutant{standard.PDFA4: nil, standard.PDFA2b: nil, standard.PDFUA1: nil, standard.PDFUA2: nil}
	folders := map[string]string{}
	for id := range judge {
		var of []mutant
		dir, done := t.TempDir(), map[string]bool{}
		for _, name := range slices.Sorted(maps.Keys(all)) {
			if x := all[name]; x.id == id && x.clause == "" && bytes.Contains(x.file, []byte("\nxref\n")) {
				of = append(of, mutants(x.file, done)...)
			}
		}
		r := rand.New(rand.NewPCG(mutantSeed, 1)) //nolint:gosec // the same ones each time
		r.Shuffle(len(of), func(i, j int) { of[i], of[j] = of[j], of[i] })
		t.Logf("%s: %d of %d mutants", flavours[id], min(len(of), mostMutants), len(of))
		of = of[:min(len(of), mostMutants)]
		for i, m := range of {
			if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("%05d.pdf", i)), m.file(), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		judge[id], folders[flavours[id]] = of, dir
	}
	verdicts := pdftest.VeraPDF(t, folders)
	for id, of := range judge {
		agree, differ, unread := 0, 0, 0
		for i, m := range of {
			v := verdicts[flavours[id]][fmt.Sprintf("%05d.pdf", i)]
			if v.Unread { // which says nothing of our verdict
				unread++
				continue
			}
			found, err := findings(t, m.file(), id)
			switch {
			case err == nil && v.Compliant == (len(found) == 0):
				agree++
			case slices.ContainsFunc(explained, func(x explanation) bool { return x.of.MatchString(m.name) }):
				differ++
			default:
				t.Errorf("%s, %s: ours %v, %v, veraPDF %q", flavours[id], m.name, found, err, v.Clauses)
			}
		}
		t.Logf("%s: %d verdicts agree, %d explained differences, %d that veraPDF does not read", flavours[id], agree, differ, unread)
		if agree < len(of)/2 {
			t.Errorf("%s: %d verdicts of %d agree", flavours[id], agree, len(of))
		}
	}
}

func findings(t *testing.T, b []byte, id standard.ID) ([]standard.Finding, error) {
	t.Helper()
	d, err := edit.Open(bytes.NewReader(b), int64(len(b)), edit.Options{})
	if err != nil {
		return nil, err
	}
	return d.Check(t.Context(), []standard.ID{id})
}
