//go:build !race

package httpcache

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"example.com/quire/internal/httpfield"
	"example.com/quire/internal/judgetest"
)

// A judgement is what a cache says of a response at its arrival.
type judgement struct {
	Storable bool `json:"storable"`
	Fresh    int  `json:"fresh"` // seconds
}

// sample is a request and its response, drawn at random.
type sample struct {
	Shared  bool `json:"shared"`
	Request struct {
		Method  string            `json:"method"`
		URL     string            `json:"url"`
		Headers map[string]string `json:"headers"`
	} `json:"request"`
	Response struct {
		Status  int               `json:"status"`
		Headers map[string]string `json:"headers"`
	} `json:"response"`
}

func draw(r *rand.Rand, now time.Time) sample {
	pick := func(list ...string) string { return list[r.IntN(len(list))] }
	date := func(spread int) string {
		return httpfield.FormatDate(now.Add(time.Duration(r.IntN(2*spread)-spread) * time.Second))
	}
	var s sample
	s.Shared = r.IntN(2) == 0
	s.Request.Method, s.Request.URL = "GET", "/"
	s.Request.Headers = map[string]string{"host": "a.example"}
	if r.IntN(4) == 0 {
		s.Request.Headers["authorization"] = "x"
	}
	if r.IntN(8) == 0 {
		s.Request.Headers["cache-control"] = pick("no-store", "no-cache", "max-age=5")
	}
	h := map[string]string{
		"date": httpfield.FormatDate(now), "etag": `"a"`,
	} // with a validator all that may be stored is of use
	s.Response.Status, _ = strconv.Atoi(pick("200", "200", "200", "203", "204", "300", "301", "302",
		"307", "308", "404", "405", "410", "414", "500", "501", "503"))
	var cc []string
	for range r.IntN(4) {
		cc = append(cc, pick("max-age=60", "max-age=0", "s-maxage=120", "s-maxage=0", "no-store",
			"no-cache", "private", "public", "must-revalidate", "proxy-revalidate", "immutable", "x=y",
			`max-age="30"`, "max-age=60s", "MAX-AGE=10", `x="max-age=5"`))
	}
	if len(cc) > 0 {
		h["cache-control"] = strings.Join(cc, pick(",", ", ", " , "))
	}
	if r.IntN(3) == 0 {
		h["expires"] = pick(date(1000), date(1000), "0", "never", httpfield.FormatDate(now))
	}
	if r.IntN(3) == 0 {
		h["last-modified"] = httpfield.FormatDate(now.Add(-time.Duration(r.IntN(100_000)) * time.Second))
	}
	if r.IntN(4) == 0 {
		h["age"] = pick("0", "5", "61", "100000", "abc")
	}
	if r.IntN(8) == 0 {
		h["vary"] = pick("*", "accept", "a, b")
	}
	s.Response.Headers = h
	return s
}

// ours is what this package says.
func (s *sample) ours(t *testing.T, now time.Time) judgement {
	t.Helper()
	c, err := New(Config{Shared: s.Shared})
	if err != nil {
		t.Fatal(err)
	}
	header := func(m map[string]string) http.Header {
		h := http.Header{}
		for name, v := range m {
			h.Set(name, v)
		}
		return h
	}
	req := &http.Request{Method: s.Request.Method, Header: header(s.Request.Headers)}
	x := &exchange{c: c, options: noOptions, demands: requestDemands(req.Header), asked: now}
	v := c.storable(req, &http.Response{
		StatusCode: s.Response.Status, Proto: "HTTP/1.1", Header: header(s.Response.Headers),
	}, x, now)
	if v == nil {
		return judgement{}
	}
	j := judgement{Storable: true, Fresh: int(max(v.life-v.age, 0) / time.Second)}
	if v.noCache {
		j.Fresh = 0
	}
	return j
}

// excused names the classes of differences, each with the section by which ours is right.
func excused(s *sample) string {
	h := s.Response.Headers
	cc := strings.ToLower(h["cache-control"])
	has := func(list ...string) bool {
		for _, v := range list {
			if strings.Contains(cc, v) {
				return true
			}
		}
		return false
	}
	switch {
	case h["age"] == "abc":
		return "an invalid Age is ignored (RFC 9111, 5.1)"
	case strings.Count(cc, "max-age") > 1 || strings.Count(cc, "s-maxage") > 1:
		return "of repeated directives the first counts (RFC 9111, 4.2.1)"
	case has("60s", `"`) || strings.Contains(h["cache-control"], "MAX-AGE"):
		return "names are case-insensitive, a quoted value counts, text in another's quotes does not, " +
			"what is no delta-seconds is stale (RFC 9111, 4.2.1 and 5.2)"
	case s.Shared && has("proxy-revalidate"):
		return "proxy-revalidate forbids what is stale, not what is fresh (RFC 9111, 5.2.2.8)"
	case s.Response.Status == 302 || s.Response.Status == 307 || s.Response.Status == 500 ||
		s.Response.Status == 503:
		return "explicit freshness lets any understood final status be stored (RFC 9111, 3)"
	case h["vary"] == "*":
		return "a response that never matches is not stored (RFC 9111, 4.1)"
	}
	return ""
}

// maxClasses of differences there may be.
const maxClasses = 8

func TestJudgesTheSameAsOthers(t *testing.T) {
	tools := filepath.Dir(filepath.Dir(judgetest.Tool(t, "http-cache-semantics", "cachetests/node_modules/http-cache-semantics")))
	const n = 100_000
	r := rand.New(rand.NewPCG(9111, 1)) //nolint:gosec // repeatable on purpose
	now := time.Now().Truncate(time.Second)
	samples := make([]sample, n)
	var in bytes.Buffer
	e := json.NewEncoder(&in)
	for i := range samples {
		samples[i] = draw(r, now)
		if err := e.Encode(&samples[i]); err != nil {
			t.Fatal(err)
		}
	}
	questions := in.Bytes()
	moment := strconv.FormatInt(now.Unix(), 10)
	lines := ask(t, questions, n, "node", filepath.Join("conformance", "semantics.mjs"), tools, moment)
	equal, classes := 0, map[string]int{}
	reused := make([]bool, n) // by http-cache-semantics
	for i, line := range lines {
		var theirs judgement
		if err := json.Unmarshal([]byte(line), &theirs); err != nil {
			t.Fatal(err)
		}
		ours := samples[i].ours(t, now)
		reused[i] = theirs.Storable && theirs.Fresh > 0
		rounding := ours.Fresh-theirs.Fresh <= 1 && theirs.Fresh-ours.Fresh <= 1 // they round, we cut off
		if ours.Storable == theirs.Storable && (rounding || !ours.Storable) {
			equal++
			continue
		}
		class := excused(&samples[i])
		if classes[class]++; class == "" && classes[class] <= 10 {
			t.Errorf("shared %t, %v, %d %v: ours %+v, theirs %+v", samples[i].Shared,
				samples[i].Request.Headers, samples[i].Response.Status, samples[i].Response.Headers, ours,
				theirs)
		}
	}
	_, _ = fmt.Fprintf(os.Stdout,
		"differential %d of %d equal to http-cache-semantics, %d classes of differences\n", equal, n,
		len(classes))
	for class, n := range classes {
		t.Logf("%6d %s", n, class)
	}
	if len(classes) > maxClasses || equal < n/2 {
		t.Errorf("%d classes of differences, %d equal", len(classes), equal)
	}
	againstLibraries(t, samples, questions, reused, now)
}

// ask gives a program n lines and returns its n answers.
func ask(t *testing.T, in []byte, n int, name string, args ...string) []string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), name, args...) //nolint:gosec // our own arguments
	cmd.Stdin, cmd.Stderr = bytes.NewReader(in), os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	if len(lines) != n {
		t.Fatalf("%d answers to %d questions", len(lines), n)
	}
	return lines
}

// againstLibraries asks hishel and CacheControl too. Each errs in its own way: where they and
// http-cache-semantics agree with each other and not with us, we are wrong, but for the documented
// classes.
func againstLibraries(t *testing.T, samples []sample, questions []byte, reused []bool,
	now time.Time,
) {
	t.Helper()
	python := judgetest.Tool(t, "hishel and CacheControl", "httpcaches/bin/python")
	n := len(samples)
	if os.Getenv("SLOW_JUDGES") != "1" {
		n = 5000
	}
	questions = bytes.Join(bytes.SplitAfterN(questions, []byte("\n"), n+1)[:n], nil)
	lines := ask(t, questions, n, python, filepath.Join("conformance", "libraries.py"),
		strconv.FormatInt(now.Unix(), 10))
	equal, private, equalPrivate := 0, 0, 0
	for i, line := range lines {
		var theirs struct {
			Hishel       bool
			CacheControl *bool
		}
		if err := json.Unmarshal([]byte(line), &theirs); err != nil {
			t.Fatal(err)
		}
		judged := samples[i].ours(t, now)
		ours := judged.Storable && judged.Fresh > 0
		if ours == theirs.Hishel {
			equal++
		}
		agreed := theirs.Hishel == reused[i]
		if theirs.CacheControl != nil {
			private++
			if ours == *theirs.CacheControl {
				equalPrivate++
			}
			agreed = agreed && *theirs.CacheControl == reused[i]
		}
		if agreed && ours != reused[i] && excused(&samples[i]) == "" {
			t.Errorf("shared %t, %v, %d %v: reused %t, say we alone", samples[i].Shared,
				samples[i].Request.Headers, samples[i].Response.Status, samples[i].Response.Headers, ours)
		}
	}
	_, _ = fmt.Fprintf(os.Stdout, "differential %d of %d equal to hishel, %d of %d to CacheControl\n",
		equal, n, equalPrivate, private)
	if equal < n/2 || equalPrivate < private/2 {
		t.Error("they hardly agree: are these judges?")
	}
}
