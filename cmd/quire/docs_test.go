package main

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"encoding/pem"
	"io/fs"
	"math/big"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"example.com/quire/internal/cli"
	"example.com/quire/internal/config"
	"example.com/quire/internal/judgetest"
	"example.com/quire/pdf/operation"
)

// The documentation is part of the program: what it shows must run, what it names must exist,
// and what exists must be named.

const root = "../.."

// pages are the files of prose, by their path from the root.
func pages(t *testing.T) map[string]string {
	t.Helper()
	all := map[string]string{}
	read := func(name string) {
		b, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			t.Fatal(err)
		}
		all[filepath.ToSlash(name)] = string(b)
	}
	for _, name := range []string{"README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md", "NOTICE"} {
		read(name)
	}
	err := fs.WalkDir(os.DirFS(root), "docs", func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && strings.HasSuffix(path, ".md") {
			read(path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func page(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(name)))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

var (
	linkForm    = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	fenceForm   = regexp.MustCompile("(?ms)^```([^\n]*)\n(.*?)^```$")
	codeForm    = regexp.MustCompile("`[^`\n]*`")
	headingForm = regexp.MustCompile(`(?m)^#+ (.+)$`)
)

// TestDocsLinks: every relative link leads to a file, and its fragment to a heading.
func TestDocsLinks(t *testing.T) {
	for name, text := range pages(t) {
		prose := codeForm.ReplaceAllString(fenceForm.ReplaceAllString(text, ""), "")
		for _, m := range linkForm.FindAllStringSubmatch(prose, -1) {
			target, fragment, _ := strings.Cut(m[1], "#")
			if strings.Contains(m[1], ":") {
				continue // an address
			}
			file := name
			if target != "" {
				file = filepath.ToSlash(filepath.Join(filepath.Dir(name), target))
			}
			if _, err := os.Stat(filepath.Join(root, file)); err != nil {
				t.Errorf("%s: %s: %v", name, m[1], err)
				continue
			}
			if fragment != "" && !slices.Contains(anchors(page(t, file)), fragment) {
				t.Errorf("%s: %s has no heading #%s", name, file, fragment)
			}
		}
	}
}

// anchors are the fragments of a page's headings, as forges make them.
func anchors(text string) []string {
	var all []string
	for _, m := range headingForm.FindAllStringSubmatch(text, -1) {
		kept := strings.Map(func(r rune) rune {
			switch {
			case r == ' ':
				return '-'
			case r == '-' || r == '_' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r > 127:
				return r
			}
			return -1
		}, strings.ToLower(m[1]))
		all = append(all, kept)
	}
	return all
}

type fence struct{ info, text string }

func fences(text string) []fence {
	var all []fence
	for _, m := range fenceForm.FindAllStringSubmatch(text, -1) {
		all = append(all, fence{m[1], m[2]})
	}
	return all
}

// TestDocsConfiguration: every block marked "yaml config" is a configuration, and every key and
// environment variable has its place in docs/configuration.md.
func TestDocsConfiguration(t *testing.T) {
	env := map[string]string{"STATUS_TOKEN": "x", "OFFICE_KEY_PASSWORD": "x"}
	n := 0
	for name, text := range pages(t) {
		for _, b := range fences(text) {
			if b.info != "yaml config" {
				continue
			}
			n++
			file := filepath.Join(t.TempDir(), "quire.yaml")
			if err := os.WriteFile(file, []byte(b.text), 0o600); err != nil {
				t.Fatal(err)
			}
			if _, err := config.Load(file, func(k string) (string, bool) { v, ok := env[k]; return v, ok }); err != nil {
				t.Errorf("%s:\n%s%v", name, b.text, err)
			}
		}
	}
	if n == 0 {
		t.Error("no block is marked")
	}
	text := page(t, "docs/configuration.md")
	for _, key := range configKeys(reflect.TypeFor[config.Config](), "") {
		if !strings.Contains(text, "`"+key+"`") {
			t.Errorf("docs/configuration.md does not describe `%s`", key)
		}
	}
	source := page(t, "internal/config/config.go")
	for _, v := range regexp.MustCompile(`QUIRE_[A-Z_]+`).FindAllString(source, -1) {
		if !strings.Contains(text, "`"+v+"`") {
			t.Errorf("docs/configuration.md does not describe %s", v)
		}
	}
}

// configKeys are the paths of all keys; a name that the operator chooses is written NAME.
func configKeys(t reflect.Type, path string) []string {
	switch t.Kind() {
	case reflect.Map:
		if t.Elem().Kind() == reflect.Struct {
			return configKeys(t.Elem(), path+".NAME")
		}
	case reflect.Slice:
		if t.Elem().Kind() == reflect.Struct {
			return configKeys(t.Elem(), path+"[]")
		}
	case reflect.Struct:
		var all []string
		for f := range t.Fields() {
			if key := f.Tag.Get("yaml"); key != "" && key != "-" {
				all = append(all, configKeys(f.Type, strings.TrimPrefix(path+"."+key, "."))...)
			}
		}
		return all
	}
	return []string{path}
}

// TestDocsDirectories: ARCHITECTURE.md names every directory of packages, and none that is not
// there.
func TestDocsDirectories(t *testing.T) {
	_, table, _ := strings.Cut(page(t, "ARCHITECTURE.md"), "## Directories")
	table, _, _ = strings.Cut(table, "\n## ")
	var named []string
	for _, m := range regexp.MustCompile("`([a-z/]+)/`").FindAllStringSubmatch(table, -1) {
		named = append(named, m[1])
		if info, err := os.Stat(filepath.Join(root, m[1])); err != nil || !info.IsDir() {
			t.Errorf("there is no directory %s", m[1])
		}
	}
	dirs, err := filepath.Glob(filepath.Join(root, "internal", "*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range dirs {
		if name := "internal/" + filepath.Base(dir); !slices.Contains(named, name) {
			t.Errorf("ARCHITECTURE.md does not name %s", name)
		}
	}
}

// quire runs the program inside the test.
func quire(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	code = cli.Run(t.Context(), cli.Env{
		Args: args, Stdin: strings.NewReader(""), Stdout: &out, Stderr: &errs,
		LookupEnv: func(string) (string, bool) { return "", false }, Version: "test",
	})
	return code, out.String(), errs.String()
}

// TestDocsTemplates: a block marked "yaml template" is a template; the "json data" behind it
// render it. A block marked "yaml body" is the body of the page's first template.
func TestDocsTemplates(t *testing.T) {
	n := 0
	for name, text := range pages(t) {
		var first, data string
		all := fences(text)
		for i, b := range all {
			template := b.text
			switch b.info {
			default:
				continue
			case "yaml template":
				if i+1 == len(all) || all[i+1].info != "json data" {
					t.Errorf("%s: no data behind\n%s", name, b.text)
					continue
				}
				data = all[i+1].text
				if first == "" {
					first = b.text
				}
			case "yaml body":
				head, _, _ := strings.Cut(first, "\nbody:\n")
				template = head + "\nbody:\n" + indent(b.text)
				data = all[slices.IndexFunc(all, func(f fence) bool { return f.info == "json data" })].text
			}
			n++
			dir := t.TempDir()
			for file, content := range map[string]string{"template.yaml": template, "data.json": data} {
				if err := os.WriteFile(filepath.Join(dir, file), []byte(content), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			code, _, errs := quire(t, "render", dir, "-d", filepath.Join(dir, "data.json"), "-o", filepath.Join(dir, "out.pdf"), "--time", "2026-01-31")
			if code != 0 {
				t.Errorf("%s:\n%s%s", name, b.text, errs)
			}
		}
	}
	if n < 5 {
		t.Errorf("%d blocks are marked", n)
	}
}

func indent(s string) string {
	var b strings.Builder
	for line := range strings.Lines(s) {
		b.WriteString("  " + line)
	}
	return b.String()
}

var (
	commandForm = regexp.MustCompile(`(?m)^  ([a-z]+) +[A-Z]`)
	flagForm    = regexp.MustCompile(`(?m)^ +(?:-[a-z], )?(--[a-z-]+)`)
)

// TestDocsCommandLine: docs/command-line.md has a section for every command and names its flags,
// and for no other.
func TestDocsCommandLine(t *testing.T) {
	sections := map[string]string{}
	for part := range strings.SplitSeq(page(t, "docs/command-line.md"), "\n## ") {
		title, text, _ := strings.Cut(part, "\n")
		sections[strings.TrimSpace(title)] = text
	}
	var look func(path []string)
	look = func(path []string) {
		code, help, errs := quire(t, append([]string{"help"}, path...)...)
		if code != 0 {
			t.Fatalf("help %v: %s", path, errs)
		}
		_, list, group := strings.Cut(help, "Available Commands:\n")
		if group && !slices.Equal(path, []string{"pdf"}) { // whose commands docs/operations.md has
			list, _, _ = strings.Cut(list, "\n\n")
			for _, m := range commandForm.FindAllStringSubmatch(list, -1) {
				look(append(slices.Clone(path), m[1]))
			}
		}
		title := strings.Join(append([]string{"quire"}, path...), " ")
		text, ok := sections[title]
		if group && len(path) > 0 && !ok {
			return // it does nothing by itself
		}
		if !ok && len(path) > 0 {
			t.Errorf("docs/command-line.md has no section %q", title)
		}
		delete(sections, title)
		flags, _, _ := strings.Cut(help, "Global Flags:")
		for _, m := range flagForm.FindAllStringSubmatch(flags, -1) {
			if len(path) > 0 && m[1] != "--help" && !strings.Contains(text, "`"+m[1]) {
				t.Errorf("docs/command-line.md, %s: no %s", title, m[1])
			}
		}
	}
	look(nil)
	for title := range sections {
		if strings.HasPrefix(title, "quire ") {
			t.Errorf("docs/command-line.md describes %q, which does not exist", title)
		}
	}
}

// TestDocsManual: the manual page has every command with its flags, every variable that the
// program reads, the exit statuses as docs/command-line.md has them, and nothing that roff does
// not understand.
func TestDocsManual(t *testing.T) {
	code, man, errs := quire(t, "man")
	if code != 0 {
		t.Fatal(errs)
	}
	plain := strings.NewReplacer(`\-`, "-", `\(aq`, "'", `\&`, "").Replace(man)
	for part := range strings.SplitSeq(page(t, "docs/command-line.md"), "\n## quire ") {
		name, _, _ := strings.Cut(part, "\n")
		_, manual, ok := strings.Cut(plain, `.SS "quire `+name)
		if strings.HasPrefix(part, "# ") {
			_, manual, ok = strings.Cut(plain, `.SH "OPTIONS"`)
		}
		if !ok {
			t.Errorf("no command %s", name)
			continue
		}
		manual, _, _ = strings.Cut(manual, "\n.S")
		for _, m := range regexp.MustCompile("(?m)^\\| .*`(--[a-z-]+)").FindAllStringSubmatch(part, -1) {
			if m[1] != "--help" && !strings.Contains(manual, m[1]) {
				t.Errorf("%s: no %s", name, m[1])
			}
		}
	}
	for _, name := range regexp.MustCompile(`"(QUIRE_[A-Z_]+)"`).FindAllStringSubmatch(sources(t, "internal/config"), -1) {
		if !strings.Contains(plain, `.B "`+name[1]+`"`) {
			t.Errorf("no variable %s", name[1])
		}
	}
	statuses := regexp.MustCompile(`(?m)^\| ([0-9]) \| (.*) \|$`).FindAllStringSubmatch(page(t, "docs/command-line.md"), -1)
	if len(statuses) != 5 {
		t.Errorf("exit statuses %v", statuses)
	}
	for _, m := range statuses {
		if !strings.Contains(plain, `.B "`+m[1]+"\"\n"+m[2]+"\n") {
			t.Errorf("no exit status %s: %s", m[1], m[2])
		}
	}
	for line := range strings.Lines(man) {
		if strings.ContainsFunc(line, func(r rune) bool { return r >= 0x7F }) {
			t.Errorf("not in ASCII, which is all that roff reads everywhere: %q", line)
		}
		if m := regexp.MustCompile(`^[.'](\S*)`).FindStringSubmatch(line); m != nil && !slices.Contains([]string{"TH", "SH", "SS", "PP", "TP", "B", "nf", "fi"}, m[1]) {
			t.Errorf("not one of the macros: %q", line)
		}
	}
}

// TestManualPageIsRoff: groff understands every line.
func TestManualPageIsRoff(t *testing.T) {
	groff := judgetest.Program(t, "groff", "apt-get install groff-base")
	_, man, _ := quire(t, "man")
	for text, sound := range map[string]bool{man: true, ".XX unknown\n" + man: false} {
		cmd := exec.CommandContext(t.Context(), groff, "-man", "-Tutf8", "-ww", "-z") //nolint:gosec // G204: a fixed judge
		cmd.Stdin = strings.NewReader(text)
		out, err := cmd.CombinedOutput()
		if (err == nil && len(out) == 0) != sound {
			t.Errorf("%.40q: %v\n%s", text, err, out)
		}
	}
}

// sources is the text of a package's files, without its tests.
func sources(t *testing.T, dir string) string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(root, dir, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, f := range files {
		if !strings.HasSuffix(f, "_test.go") {
			text, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			b.Write(text)
		}
	}
	return b.String()
}

// TestDocsProblems: docs/problems.md describes the problems that the API answers with, and no
// others.
func TestDocsProblems(t *testing.T) {
	described := map[string]bool{}
	for _, m := range regexp.MustCompile(`(?m)^## urn:quire:problem:([a-z-]+)$`).FindAllStringSubmatch(page(t, "docs/problems.md"), -1) {
		described[m[1]] = true
	}
	made := map[string]bool{}
	for _, m := range regexp.MustCompile(`(?:problemType|problem|problemOf|listed)\("([a-z-]+)"`).FindAllStringSubmatch(sources(t, "internal/api"), -1) {
		made[m[1]] = true
	}
	if len(made) < 8 || !reflect.DeepEqual(described, made) {
		t.Errorf("described %v, made %v", described, made)
	}
}

// TestDocsRoutes: docs/http-api.md has a heading for every route.
func TestDocsRoutes(t *testing.T) {
	text := page(t, "docs/http-api.md")
	routes := regexp.MustCompile(`(v1|r)\.(GET|POST|PUT|DELETE)\("([^"]+)"`).FindAllStringSubmatch(sources(t, "internal/api"), -1)
	if len(routes) < 8 {
		t.Fatalf("routes found: %v", routes)
	}
	for _, m := range routes {
		prefix := ""
		if m[1] == "v1" {
			prefix = "/v1"
		}
		if want := "## " + m[2] + " " + prefix + m[3]; !strings.Contains(text, want+"\n") {
			t.Errorf("docs/http-api.md has no %q", want)
		}
	}
}

// TestDocsOperations: docs/operations.md has a heading for every operation and no other, and its
// commands run as they stand.
func TestDocsOperations(t *testing.T) {
	text := page(t, "docs/operations.md")
	var headings, names []string
	for _, m := range regexp.MustCompile(`(?m)^## (.+)$`).FindAllStringSubmatch(text, -1) {
		headings = append(headings, m[1])
	}
	for _, o := range operation.All() {
		names = append(names, o.Name)
		_, section, _ := strings.Cut(text, "\n## "+o.Name+"\n")
		section, _, _ = strings.Cut(section, "\n## ")
		if !strings.Contains(section, "```sh operation\nquire pdf "+o.Name+" ") || !strings.Contains(section, "\nGo: `") {
			t.Errorf("%s has no example or no function", o.Name)
		}
		for _, p := range o.Parameters {
			if p.Name != "password" && !strings.Contains(section, "--"+p.Name) {
				t.Errorf("%s: no word of --%s", o.Name, p.Name)
			}
		}
	}
	if !slices.Equal(headings, names) {
		t.Errorf("headings %q, operations %q", headings, names)
	}
	t.Chdir(t.TempDir())
	for _, name := range []string{"in.pdf", "more.pdf"} {
		if err := os.WriteFile("t.yaml", []byte(operationSample), 0o600); err != nil {
			t.Fatal(err)
		}
		if code, _, errs := quire(t, "render", "t.yaml", "-o", name, "--standard", "pdf/a-4,pdf/ua-2"); code != 0 {
			t.Fatal(errs)
		}
	}
	finish := signer(t)
	if err := os.WriteFile("form.yaml", []byte(formSample), 0o600); err != nil {
		t.Fatal(err)
	}
	if code, _, errs := quire(t, "render", "form.yaml", "-o", "form.pdf"); code != 0 {
		t.Fatal(errs)
	}
	for name, text := range map[string]string{"values.json": `{"name": "Zoë"}`, "values.xfdf": `<xfdf><fields><field name="name"><value>Zoë</value></field></fields></xfdf>`} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	_, steps, _ := strings.Cut(text, "```json\n")
	steps, _, _ = strings.Cut(steps, "```")
	for name, text := range map[string]string{"secret.txt": "owner\n", "reader.txt": "reader\n", "note.txt": "a note", "steps.json": steps} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, b := range fences(text) {
		if b.info != "sh operation" {
			continue
		}
		for line := range strings.Lines(b.text) {
			code, out, errs := quire(t, shellWords(t, line)[1:]...)
			if code != 0 {
				t.Errorf("%s%d: %s%s", line, code, out, errs)
			}
			finish(out)
		}
	}
}

// shellWords cuts a command as a shell does. What a shell would take for something else than a
// letter must stand in single quotes.
func shellWords(t *testing.T, line string) (words []string) {
	t.Helper()
	word, in, begun := "", false, false
	for _, r := range strings.TrimSpace(line) + " " {
		switch {
		case r == '\'':
			in, begun = !in, true
		case in:
			word += string(r)
		case r == ' ':
			if begun {
				words = append(words, word)
			}
			word, begun = "", false
		case strings.ContainsRune("#;&|<>()[]{}$`\\\"*?!~", r):
			t.Errorf("%sa shell takes %q for something else", line, r)
		default:
			word, begun = word+string(r), true
		}
	}
	if in {
		t.Errorf("%sa quote that does not end", line)
	}
	return words
}

// signer writes a key for tests with its certificate, and returns what signs the message that a
// report has, in the place of a key that is elsewhere.
func signer(t *testing.T) func(report string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	c := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "TEST ONLY"}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
		KeyUsage: x509.KeyUsageDigitalSignature,
	}
	cert, err := x509.CreateCertificate(rand.Reader, c, c, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	public := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: cert})
	write := func(name string, b []byte) {
		if err := os.WriteFile(name, b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("ca.pem", public)
	write("chain.pem", public)
	write("key.pem", append(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private}), public...))
	return func(report string) {
		var r struct{ Message []byte }
		if json.Unmarshal([]byte(report), &r) != nil || r.Message == nil {
			return
		}
		sum := sha256.Sum256(r.Message)
		b, err := ecdsa.SignASN1(rand.Reader, key, sum[:])
		if err != nil {
			t.Fatal(err)
		}
		write("signature.bin", b)
	}
}

const formSample = `quire: 1
name: form
lang: en
title: Form
body:
  - {field: text, name: name, label: Name}
`

const operationSample = `quire: 1
name: sample
lang: en
title: Sample
body:
  - {heading: One, bookmark: One}
  - {page-break: true}
  - {heading: Two, bookmark: Two}
  - {page-break: true}
  - {heading: Three, bookmark: Three}
`
