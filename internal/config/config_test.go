package config_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.com/quire/internal/config"
)

func env(kv map[string]string) func(string) (string, bool) {
	return func(k string) (string, bool) {
		v, ok := kv[k]
		return v, ok
	}
}

func load(t *testing.T, text string, vars map[string]string) (*config.Config, error) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "quire.yaml")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return config.Load(file, env(vars))
}

const full = `listen: 127.0.0.1:9000
data: state
templates: /srv/templates
tokens:
  - {space: finance, sha256: 6b3a55e0261b0304143f805a24924d0c1c44524821305f31d9277843b8a10f4e}
sources:
  status:
    url: https://status.example.com/v1/{service}?n={count}
    parameters: {service: string, count: integer}
    headers: {Authorization: {env: STATUS_TOKEN}, Accept: application/json}
    allow: [10.1.0.0/16]
    required: true
    timeout: 1m30s
    max-bytes: 512KiB
reports:
  uptime:
    template: service-report
    sources: {status: {source: status, with: {service: api, count: 3}}}
    public: true
limits: {body: 2MiB}
log: {format: json, level: debug}
`

func TestLoad(t *testing.T) {
	c, err := load(t, full, map[string]string{"STATUS_TOKEN": "canary", "QUIRE_LISTEN": "127.0.0.1:9001"})
	if err != nil {
		t.Fatal(err)
	}
	s := c.Sources["status"]
	if c.Listen != "127.0.0.1:9001" {
		t.Errorf("listen %q: the environment does not win", c.Listen)
	}
	if c.Data != filepath.Join(filepath.Dir(c.File), "state") {
		t.Errorf("data %q is not relative to the file", c.Data)
	}
	if time.Duration(s.Timeout) != 90*time.Second || s.MaxBytes != 512<<10 || s.Attempts != 3 || !s.Required || s.Space != config.LocalSpace {
		t.Errorf("source %+v", s)
	}
	if s.Headers["Accept"].Value != "application/json" || s.Headers["Authorization"].Env != "STATUS_TOKEN" {
		t.Error("headers were not read")
	}
	if r := c.Reports["uptime"]; r.Space != config.LocalSpace || r.Title != "uptime" || r.Sources["status"].With["count"] != "3" || !r.Public {
		t.Errorf("report %+v", r)
	}
	if c.Limits.Body != 2<<20 || c.Limits.Body.String() != "2MiB" {
		t.Errorf("body limit %s", c.Limits.Body)
	}
	if c.PublicURL != "http://127.0.0.1:9001" {
		t.Errorf("public URL %q", c.PublicURL)
	}
}

func TestLoadWithoutFile(t *testing.T) {
	t.Chdir(t.TempDir())
	c, err := config.Load("", env(nil))
	if err != nil {
		t.Fatal(err)
	}
	if c.Listen != "127.0.0.1:8080" || !c.Loopback() || c.Limits.Body != 10<<20 || c.File != "" {
		t.Errorf("defaults %+v", c)
	}
	if _, err := config.Load("nowhere.yaml", env(nil)); !errors.Is(err, config.ErrNoFile) {
		t.Errorf("a named file that is absent: %v", err)
	}
	if err := os.WriteFile(config.DefaultFile, []byte("listen: '[::1]:80'\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if c, err = config.Load("", env(nil)); err != nil || c.Listen != "[::1]:80" || !c.Loopback() {
		t.Errorf("quire.yaml of the working directory: %+v, %v", c, err)
	}
}

// TestFaults checks that each fault names its place and its remedy.
func TestFaults(t *testing.T) {
	sum := strings.Repeat("ab", 32)
	for _, tt := range []struct{ name, text, want string }{
		{"unknown key", "listen: 127.0.0.1:1\nreprots: {}\n", `:2:1: reprots: unknown key; did you mean "reports"?`},
		{"unknown nested key", "reports:\n  r:\n    templat: x\n", `:3:5: reports.r.templat: unknown key; did you mean "template"?`},
		{"far key", "zzzzzzzz: 1\n", `:1:1: zzzzzzzz: unknown key`},
		{"syntax", "a: [1\n", `:1:4:`},
		{"scalar for mapping", "reports: 3\n", "reports: want a mapping"},
		{"scalar for list", "tokens: x\n", "tokens: want a list"},
		{"list for scalar", "listen: [a]\n", "listen: want a single value"},
		{"duration", "sources: {s: {url: 'https://a.example/', timeout: fast}}\n", `want a duration such as 20s or 1m30s, got "fast"`},
		{"size", "limits: {body: big}\n", `want a size such as 10MiB, got "big"`},
		{"body beyond what is taken", "limits: {body: 17MiB}\n", "limits.body: want 1KiB to 16MiB, got 17MiB"},
		{"converting without a browser", "convert: {hosts: [assets.example]}\n", "convert.browser: want a Chromium, which the other keys of convert need, got nothing"},
		{"time of conversions without a browser", "convert: {timeout: 10s}\n", ":1:1: convert.browser: want a Chromium, which the other keys of convert need, got nothing"},
		{"number of conversions without a browser", "convert: {parallel: 2}\n", "convert.browser: want a Chromium"},
		{"waiting conversions without a browser", "convert: {waiting: 2}\n", "convert.browser: want a Chromium"},
		{"bodies of conversions without a browser", "convert: {bodies: 64MiB}\n", "convert.browser: want a Chromium"},
		{"prefixes of no host", "convert: {browser: chromium, allow: [10.1.0.0/16]}\n", ":1:30: convert.allow: want hosts too, because pages read only from those, got none; add hosts: [...]"},
		{"waiting pages", "convert: {browser: chromium, waiting: 257}\n", "convert.waiting: want 1 to 256, got 257"},
		{"bodies of pages", "convert: {browser: chromium, bodies: 1MiB}\n", "convert.bodies: want 16MiB to 1GiB, got 1MiB"},
		{"prefix of conversions", "convert: {browser: chromium, allow: [10.1]}\n", `convert.allow[0]: want an address prefix such as 10.1.0.0/16, got "10.1"`},
		{"pages at once", "convert: {browser: chromium, parallel: 17}\n", "convert.parallel: want 1 to 16, got 17"},
		{"OCR without a program", "ocr: {timeout: 10s}\n", "ocr.program: want tesseract, which the other keys of ocr need, got nothing"},
		{"time of OCR", "ocr: {program: tesseract, timeout: 1h}\n", "ocr.timeout: want 1s to 15m0s, got 1h0m0s"},
		{"time of a conversion", "convert: {browser: chromium, timeout: 10m}\n", "convert.timeout: want 1s to 5m0s, got 10m0s"},
		{"two swapped letters", "listen: 127.0.0.1:1\nerports: {}\n", `erports: unknown key; did you mean "reports"?`},
		{"two documents", "listen: a\n---\nlisten: b\n", `:2:1: second document`},
		{"alias", "data: &d x\ntemplates: *d\n", ":2:12: aliases are not part of the language"},
		{"key twice", "data: x\ndata: y\n", `:2:1: key "data" is repeated`},
		{"text for a number", "sources: {s: {url: 'https://a.example/', attempts: '3x'}}\n", `sources.s.attempts: want a whole number, got "3x"`},
		{"text for true", "reports: {r: {template: t, public: yes}}\n", `reports.r.public: want true or false, got "yes"`},
		{"listen", "listen: nine\n", `:1:1: listen: want host:port, an IPv6 address in brackets, got "nine"`},
		{"port", "listen: 127.0.0.1:99999\n", "listen: want a port from 0 to 65535, got \"99999\""},
		{"public address without token", "listen: 0.0.0.0:80\n", "listen: want tokens, because 0.0.0.0:80 is not a loopback address, got none; add tokens:"},
		{"public address without TLS", "listen: 0.0.0.0:80\n", "set tls: {cert, key}"},
		{"proxy without token", "listen: 127.0.0.1:80\ntls: {proxy: true}\n", ":2:7: tls.proxy: want tokens, because behind a proxy every request comes from this machine, got none"},
		{"half of TLS", "tls: {cert: a.pem}\n", "tls: want both cert and key, got one of them"},
		{"token", "tokens: [{space: Bad Name, sha256: 12}]\n", "tokens[0].sha256: want the 64 hex digits"},
		{"token twice", fmt.Sprintf("tokens: [{space: a, sha256: %s}, {space: b, sha256: %s}]\n", sum, sum), ":1:"},
		{"source without URL", "sources: {s: {}}\n", "sources.s.url: want http(s)://host/path, got nothing"},
		{"source with credentials", "sources: {s: {url: 'https://u:p@a.example/'}}\n", "sources.s.url: want no credentials, got"},
		{"parameter in host", "sources: {s: {url: 'https://{h}.example/', parameters: {h: string}}}\n", "got one in the host, which is fixed"},
		{"undeclared parameter", "sources: {s: {url: 'https://a.example/{p}'}}\n", "want a parameter that is declared, got {p}"},
		{"unused parameter", "sources: {s: {url: 'https://a.example/', parameters: {p: string}}}\n", "want {p} in the url, got a url without it"},
		{"parameter kind", "sources: {s: {url: 'https://a.example/{p}', parameters: {p: date}}}\n", "want string or integer"},
		{"signer without a key", "signers: {office: {space: local}}\n", "signers.office.key"},
		{"signer's password not set", "signers: {office: {key: k.p12, password: {env: NOPE}}}\n", "want a value in the environment variable NOPE, got none"},
		{"secret not set", "sources: {s: {url: 'https://a.example/', headers: {A: {env: NOPE}}}}\n", "want a value in the environment variable NOPE, got none"},
		{"prefix", "sources: {s: {url: 'https://a.example/', allow: [ten]}}\n", "want an address prefix such as 10.1.0.0/16"},
		{"attempts", "sources: {s: {url: 'https://a.example/', attempts: 50}}\n", "want 1 to 10, got 50"},
		{"report without template", "reports: {r: {}}\n", "reports.r.template: want the name of a template, got nothing"},
		{"report of an unknown source", "sources: {status: {url: 'https://a.example/'}}\nreports:\n  r:\n    template: t\n    sources: {x: {source: statu}}\n", `:5:19: reports.r.sources.x.source: want a source of sources, got "statu"; did you mean "status"?`},
		{"source of another space", "sources: {s: {space: a, url: 'https://a.example/'}}\nreports: {r: {template: t, sources: {x: {source: s}}}}\n", "want a source of the report's space local, got s, which is of space a"},
		{"missing parameter", "sources: {s: {url: 'https://a.example/{p}', parameters: {p: string}}}\nreports: {r: {template: t, sources: {x: {source: s}}}}\n", "want the parameter p of source s, got none; add with: {p: ...}"},
		{"unknown parameter", "sources: {s: {url: 'https://a.example/'}}\nreports: {r: {template: t, sources: {x: {source: s, with: {q: 1}}}}}\n", `reports.r.sources.x.with.q: want a parameter of source s, got "q"`},
		{"parameter of the wrong kind", "sources: {s: {url: 'https://a.example/{p}', parameters: {p: integer}}}\nreports: {r: {template: t, sources: {x: {source: s, with: {p: abc}}}}}\n", `want integer, got "abc"`},
		{"log", "log: {format: xml, level: loud}\n", `log.format: want text or json, got "xml"`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := load(t, tt.text, nil)
			if _, ok := errors.AsType[*config.Error](err); !ok {
				t.Fatalf("error %v, want *config.Error", err)
			}
			if !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error\n%v\nwant %q in it", err, tt.want)
			}
		})
	}
}

// One run tells everything: unknown keys, values of the wrong kind and what only the whole shows,
// in the order of the file, and nothing twice.
func TestAllFaultsAtOnce(t *testing.T) {
	_, err := load(t, `log: {format: xml, levle: loud}
reports:
  empty: {}
  none:
limits: {body: much}
tokens: [{space: a, sha256: 12}]
sources: {s: {url: [], timeout: soon}}
`, nil)
	all, ok := errors.AsType[*config.Error](err)
	if !ok {
		t.Fatal(err)
	}
	var got []string
	for _, f := range all.Faults {
		got = append(got, fmt.Sprintf("%d:%d %s|%s|%s|%s", f.Line, f.Column, f.Path, f.Got, f.Want, f.Message))
	}
	want := []string{
		`1:7 log.format|"xml"|text or json|`,
		`1:20 log.levle|||unknown key`,
		`3:3 reports.empty.template|nothing|the name of a template|`,
		`4:3 reports.none.template|nothing|the name of a template|`,
		`5:16 limits.body|"much"|a size such as 10MiB|`,
		`6:21 tokens[0].sha256|other text|the 64 hex digits of SHA-256(token)|`,
		`7:20 sources.s.url||a single value|`,
		`7:33 sources.s.timeout|"soon"|a duration such as 20s or 1m30s|`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestIPv6Literals(t *testing.T) {
	c, err := load(t, `listen: "[::1]:8080"
sources: {s: {url: "http://[2001:db8::1]:9000/x/{n}", parameters: {n: string}, allow: ["2001:db8::/32"]}}
`, nil)
	if err != nil {
		t.Fatal(err)
	}
	if !c.Loopback() || c.PublicURL != "http://[::1]:8080" {
		t.Errorf("loopback %v, %s", c.Loopback(), c.PublicURL)
	}
	if c, err := load(t, "listen: '[fe80::1%eth0]:8080'\ntokens: [{space: a, sha256: "+strings.Repeat("0", 64)+"}]\ntls: {proxy: true}\n", nil); err != nil || c.PublicURL != "https://[fe80::1%25eth0]:8080" {
		t.Errorf("with a zone: %v", err)
	}
	if _, err := load(t, "listen: ::1:8080\n", nil); err == nil || strings.Count(err.Error(), "want") != 1 {
		t.Errorf("without brackets: %v", err)
	}
}

// TestEnvironmentFaults: what the environment sets wrongly is no fault of the file.
func TestEnvironmentFaults(t *testing.T) {
	for key, vars := range map[string]map[string]string{
		"listen":    {"QUIRE_LISTEN": "9001"},
		"log.level": {"QUIRE_LOG_LEVEL": "loud"},
	} {
		vars["STATUS_TOKEN"] = "canary"
		_, err := load(t, full, vars)
		wrong, ok := errors.AsType[*config.Error](err)
		if !ok || len(wrong.Faults) != 1 || wrong.Faults[0].File != "" || !strings.HasPrefix(wrong.Error(), key+": want ") {
			t.Errorf("%s: %v", key, err)
		}
	}
}

// TestEnvironmentPaths: a path of the file is relative to the file's folder, one of the
// environment to the working directory.
func TestEnvironmentPaths(t *testing.T) {
	t.Chdir(t.TempDir())
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	c, err := load(t, "data: state\ntemplates: forms\n", map[string]string{"QUIRE_DATA": "mine"})
	if err != nil {
		t.Fatal(err)
	}
	if want := filepath.Join(here, "mine"); c.Data != want {
		t.Errorf("data %s, want %s", c.Data, want)
	}
	if want := filepath.Join(filepath.Dir(c.File), "forms"); c.Templates != want {
		t.Errorf("templates %s, want %s", c.Templates, want)
	}
}

func TestComplete(t *testing.T) {
	c := &config.Config{Reports: map[string]config.Report{"r": {Template: "t"}}}
	if err := c.Complete(env(nil)); err != nil || c.Listen != "127.0.0.1:8080" || c.Reports["r"].Space != config.LocalSpace {
		t.Errorf("%+v, %v", c, err)
	}
	if err := (&config.Config{Listen: "0.0.0.0:80"}).Complete(env(nil)); err == nil || !strings.HasPrefix(err.Error(), "listen: ") {
		t.Errorf("an open server without token: %v", err)
	}
}

func TestHeadersAreSecret(t *testing.T) {
	h := config.Secret{Value: "canary", Env: "CANARY"}
	b, err := json.Marshal(h)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range []string{fmt.Sprint(h), fmt.Sprintf("%+v", h), fmt.Sprintf("%#v", h), string(b)} {
		if strings.Contains(strings.ToLower(s), "canary") {
			t.Errorf("the header's value shows in %q", s)
		}
	}
}

func FuzzLoad(f *testing.F) {
	f.Add([]byte(full))
	f.Add([]byte("a: {b: [c, {d: e}]}\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		if len(b) > 4096 {
			return
		}
		file := filepath.Join(t.TempDir(), "quire.yaml")
		if err := os.WriteFile(file, b, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := config.Load(file, env(nil)); err != nil {
			var all *config.Error
			if !errors.As(err, &all) || len(all.Faults) == 0 {
				t.Fatalf("untyped error %v", err)
			}
		}
	})
}
