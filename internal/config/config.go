// Package config reads the configuration: quire.yaml, then the environment.
//
// An unknown key or a value of the wrong type is an error with file, line and column, and with
// the nearest known key. All errors are reported together.
// Without a file the zero configuration serves one space on a loopback address.
//
//	listen: 127.0.0.1:8080          # QUIRE_LISTEN
//	data: ./quire-data              # QUIRE_DATA
//	templates: ./templates          # QUIRE_TEMPLATES; NAME/template.yaml or NAME.yaml, of other spaces SPACE/NAME.yaml
//	tokens:
//	  - {space: finance, sha256: 6b3a55e0261b0304143f805a24924d0c1c44524821305f31d9277843b8a10f4e}
//	sources:
//	  status:
//	    url: https://status.example.com/v1/services/{service}
//	    parameters: {service: string}
//	    headers: {Authorization: {env: STATUS_TOKEN}}
//	    timeout: 20s
//	signers:
//	  office: {key: office.p12, password: {env: OFFICE_KEY_PASSWORD}}
//	convert: {browser: chromium, hosts: [assets.example.com]}
//	reports:
//	  uptime:
//	    template: service-report
//	    sources: {status: {source: status, with: {service: api}}}
//	    public: true
package config

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"example.com/quire/internal/record"
)

// Config is the whole configuration, defaults filled in. It is not changed after Load.
type Config struct {
	Listen    string            `yaml:"listen"`     // host:port; default 127.0.0.1:8080
	Data      string            `yaml:"data"`       // directory of state and blobs; default ./quire-data
	Templates string            `yaml:"templates"`  // directory of templates; default ./templates
	PublicURL string            `yaml:"public-url"` // how clients reach the server; default http://LISTEN
	TLS       TLS               `yaml:"tls"`
	Tokens    []Token           `yaml:"tokens"`
	Sources   map[string]Source `yaml:"sources"`
	Signers   map[string]Signer `yaml:"signers"`
	Reports   map[string]Report `yaml:"reports"`
	Convert   Convert           `yaml:"convert"`
	OCR       OCR               `yaml:"ocr"`
	Limits    Limits            `yaml:"limits"`
	Log       Log               `yaml:"log"`

	// File is where it was read from; empty without a file. Relative paths in the file are
	// relative to its folder.
	File string `yaml:"-"`

	src *source // where its keys stand
}

// Fault gives a problem with the value of a key, such as reports.daily.template, its position. It
// is for values that only the caller can check; Load has checked the others.
func (c *Config) Fault(key, want, got, suggestion string) record.Problem {
	return c.src.fault(key, want, got, suggestion)
}

// TLS says where TLS ends. For an address that is not loopback, one of the two must be set.
type TLS struct {
	Cert  string `yaml:"cert"`  // PEM files
	Key   string `yaml:"key"`   //
	Proxy bool   `yaml:"proxy"` // a proxy in front of us speaks TLS
}

// Token allows its bearer to act in a space. The file has only its hash.
type Token struct {
	Space  string `yaml:"space"`
	SHA256 string `yaml:"sha256"` // hex of SHA-256(token)
}

// Source is a named origin of data. Requests pick a name and parameters, never a URL.
type Source struct {
	Space      string            `yaml:"space"`      // default local
	URL        string            `yaml:"url"`        // {name} is replaced by the escaped parameter
	Parameters map[string]string `yaml:"parameters"` // name -> string | integer
	Headers    map[string]Secret `yaml:"headers"`
	Allow      []string          `yaml:"allow"`     // address prefixes beyond the public ones, e.g. 10.1.0.0/16
	Timeout    Duration          `yaml:"timeout"`   // the whole call with its retries; default 30s
	Attempts   int               `yaml:"attempts"`  // default 3
	MaxBytes   Size              `yaml:"max-bytes"` // of the answer; default 8MiB
	Required   bool              `yaml:"required"`  // a failure fails the document instead of being data in it
}

// Signer is a named key. Requests pick a name; keys never travel in them.
type Signer struct {
	Space    string `yaml:"space"`    // default local
	Key      string `yaml:"key"`      // a file that only its owner may read: PEM or PKCS #12, with the certificates
	Password Secret `yaml:"password"` // of PKCS #12
}

// Secret is a header's value or a password: a literal, or the name of an environment variable.
// It prints as [redacted].
type Secret struct {
	Value string `yaml:"value"`
	Env   string `yaml:"env"`
}

// Text is the value itself, as the environment has it now.
func (s Secret) Text() string {
	if s.Env != "" {
		return os.Getenv(s.Env)
	}
	return s.Value
}

// String hides the value.
func (Secret) String() string { return "[redacted]" }

// GoString hides the value.
func (Secret) GoString() string { return "[redacted]" }

// MarshalJSON hides the value.
func (Secret) MarshalJSON() ([]byte, error) { return []byte(`"[redacted]"`), nil }

// Report is a template with the sources of its data.
type Report struct {
	Space    string               `yaml:"space"` // default local
	Template string               `yaml:"template"`
	Title    string               `yaml:"title"`
	Public   bool                 `yaml:"public"` // its documents answer without a token
	Sources  map[string]SourceUse `yaml:"sources"`
}

// SourceUse puts the data of a source under a key of the template's data.
type SourceUse struct {
	Source string            `yaml:"source"`
	With   map[string]string `yaml:"with"`
}

// Convert says by what HTML is converted, and what pages may read. Without a browser nothing is.
type Convert struct {
	Browser   string   `yaml:"browser"`    // a Chromium: its path, or its name in PATH; default none
	NoSandbox bool     `yaml:"no-sandbox"` // as it must be where the server runs as root
	Hosts     []string `yaml:"hosts"`      // a page reads from these only: host (ports 80 and 443), or host:port; default none
	Allow     []string `yaml:"allow"`      // address prefixes beyond the public ones, e.g. 10.1.0.0/16
	Parallel  int      `yaml:"parallel"`   // pages at once; default 2
	Waiting   int      `yaml:"waiting"`    // pages that wait for their turn; default 16
	Bodies    Size     `yaml:"bodies"`     // of the requests for all these; default 64MiB
	Timeout   Duration `yaml:"timeout"`    // of one conversion, waiting for its turn included; default 30s
}

// OCR says by what redact reads text in images. Without a program nothing does.
type OCR struct {
	Program string   `yaml:"program"` // tesseract: its path, or its name in PATH; default none
	Timeout Duration `yaml:"timeout"` // of one redaction; default 2m
}

// Limits bound the cost of a request.
type Limits struct {
	Body Size `yaml:"body"` // of render and document requests; default 10MiB, at most 16MiB; data in it 8MiB
}

// The body of a request holds data, which have a limit of their own, and may hold
// a template and what JSON escapes of it: beyond twice the data there is nothing
// that would be taken.
const (
	defaultBody = record.DataBytes + 2<<20
	leastBody   = 1 << 10
	mostBody    = 2 * record.DataBytes
)

// Log says how the server logs to standard error.
type Log struct {
	Format string `yaml:"format"` // text | json; default text
	Level  string `yaml:"level"`  // debug | info | warn | error; default info
}

// LocalSpace is the space that is there from the start.
const LocalSpace = string(record.Local)

// Error lists all problems of a configuration. Path is the key, such as sources.status.url. File
// and Line are empty for values from the environment or a flag.
type Error struct{ Faults []record.Problem }

func (e *Error) Error() string {
	lines := make([]string, len(e.Faults))
	for i, f := range e.Faults {
		lines[i] = f.String()
	}
	return strings.Join(lines, "\n")
}

// Join returns an *Error of faults and more in file order, or nil if there are none. Entries of
// more for a key that faults names are dropped, because its value was not read.
func Join(faults, more []record.Problem) error {
	read := len(faults)
	for _, f := range more {
		if !slices.ContainsFunc(faults[:read], func(before record.Problem) bool { return f.Path != "" && within(before.Path, f.Path) }) {
			faults = append(faults, f)
		}
	}
	if len(faults) == 0 {
		return nil
	}
	slices.SortStableFunc(faults, func(a, b record.Problem) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	return &Error{Faults: faults}
}

// ErrNoFile is in the error of Load when a named file is absent.
var ErrNoFile = errors.New("configuration file not found")

// DefaultFile is read when no file is named and it exists.
const DefaultFile = "quire.yaml"

// Load reads file (or quire.yaml of the working directory if file is empty and that exists),
// applies the environment and the defaults, and checks everything. lookup is os.LookupEnv. Its
// error is an *Error, or wraps ErrNoFile. With an *Error it also returns the part that could be
// read, so that a caller can check and report more of it; a server cannot run with it.
func Load(file string, lookup func(string) (string, bool)) (*Config, error) {
	if file == "" {
		if v, ok := lookup("QUIRE_CONFIG"); ok {
			file = v
		} else if _, err := os.Stat(DefaultFile); err == nil {
			file = DefaultFile
		}
	}
	c := &Config{}
	src := &source{outside: map[string]bool{}}
	var faults []record.Problem
	if file != "" {
		b, err := os.ReadFile(file)
		if errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("%s: %w", file, ErrNoFile)
		}
		if err != nil {
			return nil, err
		}
		src, faults = parse(file, b, c)
		c.File = file
	}
	for _, v := range []struct {
		name, key string
		dst       *string
	}{
		{"QUIRE_LISTEN", "listen", &c.Listen},
		{"QUIRE_DATA", "data", &c.Data},
		{"QUIRE_TEMPLATES", "templates", &c.Templates},
		{"QUIRE_PUBLIC_URL", "public-url", &c.PublicURL},
		{"QUIRE_LOG_FORMAT", "log.format", &c.Log.Format},
		{"QUIRE_LOG_LEVEL", "log.level", &c.Log.Level},
	} {
		if s, ok := lookup(v.name); ok {
			*v.dst = s
			src.outside[v.key] = true
		}
	}
	// A path from outside the file is relative to where the program was called.
	for key, p := range map[string]*string{"data": &c.Data, "templates": &c.Templates} {
		if *p == "" || !src.outside[key] || c.File == "" {
			continue
		}
		abs, err := filepath.Abs(*p)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", key, err)
		}
		*p = abs
	}
	return c, c.complete(src, faults, lookup)
}

// Complete puts the defaults into a configuration made in code and checks it as Load does.
func (c *Config) Complete(lookup func(string) (string, bool)) error {
	return c.complete(&source{}, nil, lookup)
}

// complete fills in and checks what was read with faults, which stand before those that it finds.
// A key that could not be read is not judged again for having no value.
func (c *Config) complete(src *source, faults []record.Problem, lookup func(string) (string, bool)) error {
	c.src = src
	c.fill()
	return Join(faults, c.check(lookup))
}

// within reports whether one of two keys is the other or above it.
func within(a, b string) bool {
	if len(a) > len(b) {
		a, b = b, a
	}
	rest, ok := strings.CutPrefix(b, a)
	return ok && (rest == "" || rest[0] == '.' || rest[0] == '[')
}

// fill puts in the defaults and makes paths of the file absolute to its folder.
func (c *Config) fill() {
	c.Listen = cmp.Or(c.Listen, "127.0.0.1:8080")
	c.Data = cmp.Or(c.Data, "quire-data")
	c.Templates = cmp.Or(c.Templates, "templates")
	c.Log.Format = cmp.Or(c.Log.Format, "text")
	c.Log.Level = cmp.Or(c.Log.Level, "info")
	c.Limits.Body = cmp.Or(c.Limits.Body, defaultBody)
	if c.Convert.Browser != "" { // without one they would have no effect
		c.Convert.Parallel = cmp.Or(c.Convert.Parallel, 2)
		c.Convert.Waiting = cmp.Or(c.Convert.Waiting, 16)
		c.Convert.Bodies = cmp.Or(c.Convert.Bodies, 64<<20)
		c.Convert.Timeout = cmp.Or(c.Convert.Timeout, Duration(30*time.Second))
	}
	if c.OCR.Program != "" {
		c.OCR.Timeout = cmp.Or(c.OCR.Timeout, Duration(2*time.Minute))
	}
	for name, r := range c.Reports {
		r.Space = cmp.Or(r.Space, LocalSpace)
		r.Title = cmp.Or(r.Title, name)
		c.Reports[name] = r
	}
	for name, s := range c.Sources {
		s.Space = cmp.Or(s.Space, LocalSpace)
		s.Timeout = cmp.Or(s.Timeout, Duration(30*time.Second))
		s.Attempts = cmp.Or(s.Attempts, 3)
		s.MaxBytes = cmp.Or(s.MaxBytes, record.DataBytes)
		c.Sources[name] = s
	}
	for name, s := range c.Signers {
		s.Space = cmp.Or(s.Space, LocalSpace)
		if c.File != "" && s.Key != "" && !filepath.IsAbs(s.Key) {
			s.Key = filepath.Join(filepath.Dir(c.File), s.Key)
		}
		c.Signers[name] = s
	}
	if c.File != "" {
		dir := filepath.Dir(c.File)
		for _, p := range []*string{&c.Data, &c.Templates, &c.TLS.Cert, &c.TLS.Key} {
			if *p != "" && !filepath.IsAbs(*p) {
				*p = filepath.Join(dir, *p)
			}
		}
	}
	scheme := "http"
	if c.TLS.Cert != "" || c.TLS.Proxy {
		scheme = "https"
	}
	c.PublicURL = cmp.Or(c.PublicURL, scheme+"://"+strings.Replace(c.Listen, "%", "%25", 1)) // a zone: RFC 6874, section 2
}

// Loopback reports whether the server listens on a loopback address only.
func (c *Config) Loopback() bool {
	host, _, err := net.SplitHostPort(c.Listen)
	if err != nil {
		return false
	}
	if host == "localhost" {
		return true
	}
	a, err := netip.ParseAddr(host)
	return err == nil && a.IsLoopback()
}
