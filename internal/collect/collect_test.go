package collect_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"example.com/quire/internal/collect"
	"example.com/quire/internal/record"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var loopback = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("::1/128")}

// api is a server whose routes a test needs.
func api(t *testing.T, routes map[string]http.HandlerFunc) *httptest.Server {
	t.Helper()
	mux := http.NewServeMux()
	for pattern, h := range routes {
		mux.HandleFunc(pattern, h)
	}
	s := httptest.NewServer(mux)
	t.Cleanup(s.Close)
	return s
}

func collector(t *testing.T, c collect.Config) *collect.Collector {
	t.Helper()
	col, err := collect.New(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := col.Close(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	})
	return col
}

func source(name string, h collect.HTTP, params ...collect.Parameter) collect.Source {
	if h.Allow == nil {
		h.Allow = loopback
	}
	return collect.Source{Space: record.Local, Name: name, Kind: h, Parameters: params}
}

func one(t *testing.T, col *collect.Collector, name string, params record.Parameters) record.Collected {
	t.Helper()
	got, err := col.Collect(t.Context(), record.Local, []record.SourceCall{{Key: "k", Source: name, Parameters: params}})
	if err != nil {
		t.Fatalf("collect: %v", err)
	}
	return got[0]
}

func TestInline(t *testing.T) {
	col := collector(t, collect.Config{Sources: []collect.Source{
		{Space: record.Local, Name: "rates", Kind: collect.Inline(` {"b":1,"a":2} `), Required: true},
	}})
	got := one(t, col, "rates", nil)
	if got.Outcome != record.OK || string(got.Data) != `{"a":2,"b":1}` || got.Key != "k" || got.Source != "rates" || got.Kind != "inline" || !got.Required || len(got.Attempts) != 1 {
		t.Errorf("%+v", got)
	}
}

func TestHTTPSendsWhatIsConfigured(t *testing.T) {
	var seen atomic.Pointer[http.Request]
	s := api(t, map[string]http.HandlerFunc{"/": func(w http.ResponseWriter, r *http.Request) {
		seen.Store(r)
		_, _ = w.Write([]byte(`{"ok":true}`))
	}})
	secret := collect.NewSecret("Bearer canary-4711")
	col := collector(t, collect.Config{Sources: []collect.Source{
		source("status", collect.HTTP{URL: s.URL + "/v1/{host}/status?since={day}&fixed=a%20b", Header: map[string]collect.Secret{"Authorization": secret}},
			collect.Parameter{Name: "host", Type: collect.String}, collect.Parameter{Name: "day", Type: collect.Date}),
	}})
	got := one(t, col, "status", record.Parameters{"host": json.RawMessage(`"a b/c?d#e%f&g=é"`), "day": json.RawMessage(`"2026-01-31"`)})
	if got.Outcome != record.OK || string(got.Data) != `{"ok":true}` || got.Reason != "" || got.Micros <= 0 {
		t.Fatalf("%+v", got)
	}
	if len(got.Attempts) != 1 || got.Attempts[0].Number != 1 || got.Attempts[0].Status != 200 || got.Attempts[0].Reason != "" || got.Attempts[0].Micros <= 0 {
		t.Errorf("attempts %+v", got.Attempts)
	}
	r := seen.Load()
	if want := "/v1/a%20b%2Fc%3Fd%23e%25f&g=%C3%A9/status?since=2026-01-31&fixed=a%20b"; r.RequestURI != want {
		t.Errorf("asked for %s, want %s", r.RequestURI, want)
	}
	if r.Method != http.MethodGet || r.Header.Get("Authorization") != "Bearer canary-4711" || r.Header.Get("Accept") != "application/json" || r.UserAgent() != "Quire" {
		t.Errorf("header %v", r.Header)
	}
}

// Every way in which a server can fail is an outcome with a reason that says
// nothing of addresses or of what the server wrote, within the time allowed.
func TestHTTPFailuresAreData(t *testing.T) {
	hang := make(chan struct{})
	var flaky atomic.Int32
	s := api(t, map[string]http.HandlerFunc{
		"/503": func(w http.ResponseWriter, _ *http.Request) {
			http.Error(w, "secret-of-the-server", http.StatusServiceUnavailable)
		},
		"/404": func(w http.ResponseWriter, _ *http.Request) {
			http.Error(w, "secret-of-the-server", http.StatusNotFound)
		},
		"/hang": func(_ http.ResponseWriter, r *http.Request) { wait(r, hang) },
		"/drip": func(w http.ResponseWriter, r *http.Request) {
			_, _ = w.Write([]byte(`{"half":`))
			_ = http.NewResponseController(w).Flush()
			wait(r, hang)
		},
		"/broken": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "100")
			_, _ = w.Write([]byte(`{"half":`))
		},
		"/reset": func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
		"/big":   func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(bytes.Repeat([]byte(" "), 2000)) },
		"/away": func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "http://metadata.internal/", http.StatusFound)
		},
		"/loop": func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/loop", http.StatusFound) },
		"/flaky": func(w http.ResponseWriter, _ *http.Request) {
			if flaky.Add(1) < 3 {
				w.WriteHeader(http.StatusBadGateway)
				return
			}
			_, _ = w.Write([]byte("1"))
		},
	})
	t.Cleanup(func() { close(hang) })
	for _, c := range []struct {
		path, reason string
		attempts     int
	}{
		{"/503", "status 503", 3},
		{"/404", "status 404", 1},
		{"/hang", "no answer within 500ms", 1},
		{"/drip", "no answer within 500ms", 1},
		{"/broken", "the answer broke off", 1},
		{"/reset", "the connection broke", 3},
		{"/big", "the answer is larger than 1000 bytes", 1},
		{"/away", "address denied", 0},
		{"/loop", "redirect denied", 0},
		{"/flaky", "", 3},
	} {
		t.Run(c.path, func(t *testing.T) {
			t.Parallel() // some wait
			var logged bytes.Buffer
			h := collect.HTTP{URL: s.URL + c.path, MaxBytes: 1000}
			if strings.Contains(c.reason, "500ms") {
				h.Timeout = 500 * time.Millisecond
			}
			col := collector(t, collect.Config{Sources: []collect.Source{source("s", h)}, Log: slog.New(slog.NewTextHandler(&logged, nil))})
			got := one(t, col, "s", nil)
			outcome := record.Failed
			if c.reason == "" {
				outcome = record.OK
			}
			if got.Outcome != outcome || got.Reason != c.reason || (outcome == record.Failed) != (got.Data == nil) {
				t.Errorf("%s %q %q, want %s %q", got.Outcome, got.Reason, got.Data, outcome, c.reason)
			}
			if c.attempts > 0 && len(got.Attempts) != c.attempts {
				t.Errorf("attempts %+v, want %d", got.Attempts, c.attempts)
			}
			if took := time.Duration(got.Micros) * time.Microsecond; took > 5*time.Second {
				t.Errorf("took %s", took)
			}
			if log := logged.String(); (log == "") != (c.reason == "") || strings.Contains(log, "secret-of-the-server") {
				t.Errorf("log %q", log)
			}
		})
	}
}

func wait(r *http.Request, hang <-chan struct{}) {
	select {
	case <-r.Context().Done():
	case <-hang:
	}
}

func TestConnectionAndGuardFailures(t *testing.T) {
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	var asked atomic.Bool
	s := api(t, map[string]http.HandlerFunc{"/": func(http.ResponseWriter, *http.Request) { asked.Store(true) }})
	tls := httptest.NewTLSServer(http.NotFoundHandler())
	t.Cleanup(tls.Close)
	for name, c := range map[string]struct {
		h      collect.HTTP
		reason string
	}{
		"nobody listens": {collect.HTTP{URL: gone.URL, Attempts: 1}, "cannot connect"},
		"loopback":       {collect.HTTP{URL: s.URL, Allow: []netip.Prefix{}}, "address denied"},
		"a name for it":  {collect.HTTP{URL: strings.Replace(s.URL, "127.0.0.1", "localhost", 1), Allow: []netip.Prefix{}}, "address denied"},
		"certificate":    {collect.HTTP{URL: tls.URL}, "its certificate is not trusted"},
	} {
		col := collector(t, collect.Config{Sources: []collect.Source{source("s", c.h)}})
		if got := one(t, col, "s", nil); got.Outcome != record.Failed || got.Reason != c.reason {
			t.Errorf("%s: %s %q, want %q", name, got.Outcome, got.Reason, c.reason)
		}
	}
	if asked.Load() {
		t.Error("a denied address was asked")
	}
}

// A source that fails again and again is not asked for a while, and says so.
func TestBreakerIsAReason(t *testing.T) {
	var asked atomic.Int32
	s := api(t, map[string]http.HandlerFunc{"/": func(w http.ResponseWriter, _ *http.Request) {
		asked.Add(1)
		w.WriteHeader(http.StatusInternalServerError)
	}})
	col := collector(t, collect.Config{Sources: []collect.Source{source("s", collect.HTTP{URL: s.URL, Attempts: 1})}})
	for range 50 {
		got := one(t, col, "s", nil)
		if got.Reason == "too many failures before: not asked" {
			before := asked.Load()
			one(t, col, "s", nil)
			if asked.Load() != before {
				t.Error("it was asked all the same")
			}
			return
		}
		if got.Reason != "status 500" {
			t.Fatalf("reason %q", got.Reason)
		}
	}
	t.Error("50 failures did not open the breaker")
}

// The breaker may open between two attempts of one call: the source was asked, and what it
// said is the reason.
func TestBreakerWithinACall(t *testing.T) {
	s := api(t, map[string]http.HandlerFunc{"/": func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusServiceUnavailable)
	}})
	col := collector(t, collect.Config{Sources: []collect.Source{source("s", collect.HTTP{URL: s.URL, Attempts: 3})}})
	for range 20 {
		got := one(t, col, "s", nil)
		asked := slices.ContainsFunc(got.Attempts, func(a record.AttemptRecord) bool { return a.Status != 0 })
		want := "status 503"
		switch last := got.Attempts[len(got.Attempts)-1]; {
		case !asked:
			want = "too many failures before: not asked"
		case last.Status == 0:
			want += ", then too many failures to ask again"
		}
		if got.Reason != want {
			t.Fatalf("reason %q after %+v, want %q", got.Reason, got.Attempts, want)
		}
		if !asked {
			return
		}
	}
	t.Error("the breaker did not open")
}

// The configured header does not follow a redirect to another origin.
func TestSecretsStayWithTheirOrigin(t *testing.T) {
	var elsewhere atomic.Pointer[http.Header]
	other := api(t, map[string]http.HandlerFunc{"/": func(w http.ResponseWriter, r *http.Request) {
		elsewhere.Store(&r.Header)
		_, _ = w.Write([]byte("1"))
	}})
	s := api(t, map[string]http.HandlerFunc{"/": func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, strings.Replace(other.URL, "127.0.0.1", "localhost", 1), http.StatusFound)
	}})
	port := other.URL[strings.LastIndex(other.URL, ":")+1:]
	col := collector(t, collect.Config{Sources: []collect.Source{
		source("s", collect.HTTP{URL: s.URL, Hosts: []string{"localhost"}, Header: map[string]collect.Secret{"X-Api-Key": collect.NewSecret("canary-4711")}}),
	}})
	got := one(t, col, "s", nil)
	if got.Outcome == record.OK {
		t.Errorf("port %s is not allowed, but was asked", port)
	}
	if h := elsewhere.Load(); h != nil && strings.Contains(fmt.Sprint(*h), "canary-4711") {
		t.Errorf("the key was sent elsewhere: %v", *h)
	}
}

func TestCallsRunAtTheSameTimeButNotAllOfThem(t *testing.T) {
	var mu sync.Mutex
	now, most := 0, 0
	full := make(chan struct{})
	s := api(t, map[string]http.HandlerFunc{"/": func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		now++
		most = max(most, now)
		if now == 3 && most == 3 {
			select {
			case <-full:
			default:
				close(full)
			}
		}
		mu.Unlock()
		wait(r, full)
		mu.Lock()
		now--
		mu.Unlock()
		if err := json.NewEncoder(w).Encode(r.URL.Path); err != nil {
			t.Error(err)
		}
	}})
	col := collector(t, collect.Config{Parallel: 3, Sources: []collect.Source{
		source("s", collect.HTTP{URL: s.URL + "/{n}"}, collect.Parameter{Name: "n", Type: collect.Integer}),
	}})
	var calls []record.SourceCall
	for i := range 12 {
		calls = append(calls, record.SourceCall{Key: fmt.Sprintf("k%d", i), Source: "s", Parameters: record.Parameters{"n": json.RawMessage(fmt.Sprint(i))}})
	}
	got, err := col.Collect(t.Context(), record.Local, calls)
	if err != nil {
		t.Fatal(err)
	}
	for i, c := range got {
		if want := fmt.Sprintf(`"/%d"`, i); c.Key != calls[i].Key || strings.TrimSpace(string(c.Data)) != want {
			t.Errorf("answer %d: %s %s, want %s", i, c.Key, c.Data, want)
		}
	}
	if most != 3 {
		t.Errorf("%d at the same time, want 3", most)
	}
}

// A source that does not answer holds up those who ask it, in its own space, and nobody else.
func TestASlowSourceTakesFromNobodyElse(t *testing.T) {
	let := make(chan struct{})
	var mu sync.Mutex // of running and most
	var running, most int
	count := func(n int) {
		mu.Lock()
		defer mu.Unlock()
		running += n
		most = max(most, running)
	}
	arrived := make(chan struct{}, 100)
	s := api(t, map[string]http.HandlerFunc{
		"/slow": func(w http.ResponseWriter, r *http.Request) {
			count(1)
			arrived <- struct{}{}
			wait(r, let)
			count(-1)
			_, _ = w.Write([]byte("1"))
		},
		"/quick": func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("2")) },
	})
	theirs := source("quick", collect.HTTP{URL: s.URL + "/quick"})
	theirs.Space = "other"
	col := collector(t, collect.Config{PerSpace: 6, PerSource: 2, Sources: []collect.Source{
		source("slow", collect.HTTP{URL: s.URL + "/slow"}), source("quick", collect.HTTP{URL: s.URL + "/quick"}), theirs,
	}})
	ask := func(space record.Space, name string) error {
		got, err := col.Collect(t.Context(), space, []record.SourceCall{{Key: "k", Source: name}})
		if err == nil && got[0].Outcome != record.OK {
			err = errors.New(got[0].Reason)
		}
		return err
	}
	errs := make(chan error, 30)
	for range 5 {
		go func() { errs <- ask(record.Local, "slow") }()
	}
	<-arrived
	<-arrived
	// The sixth place of the space is free, and another space has its own.
	for space, name := range map[record.Space]string{record.Local: "quick", "other": "quick"} {
		if err := ask(space, name); err != nil {
			t.Errorf("space %s: %v", space, err)
		}
	}
	// 6 are collected for and 24 wait; more are refused at once.
	for range 30 {
		go func() { errs <- ask(record.Local, "slow") }()
	}
	var refused int
	for range 5 {
		if err := <-errs; errors.Is(err, record.ErrOverload) {
			refused++
		}
	}
	if err := ask("other", "quick"); err != nil {
		t.Errorf("another space: %v", err)
	}
	close(let)
	for range 30 {
		if err := <-errs; err != nil {
			t.Error(err)
		}
	}
	mu.Lock()
	defer mu.Unlock()
	if refused != 5 || most != 2 {
		t.Errorf("%d refused, %d calls at once, want 5 and 2", refused, most)
	}
}

func TestCollectRefusesWrongCalls(t *testing.T) {
	var asked atomic.Bool
	s := api(t, map[string]http.HandlerFunc{"/": func(http.ResponseWriter, *http.Request) { asked.Store(true) }})
	theirs := source("their-secret", collect.HTTP{URL: s.URL})
	theirs.Space = "other"
	col := collector(t, collect.Config{Sources: []collect.Source{
		theirs,
		source("status", collect.HTTP{URL: s.URL + "/a/.{x}/b"}, collect.Parameter{Name: "x", Type: collect.String}),
		source("plain", collect.HTTP{URL: s.URL}),
	}})
	x := func(text string) record.Parameters { return record.Parameters{"x": json.RawMessage(text)} }
	for name, c := range map[string]struct {
		call record.SourceCall
		want string
	}{
		"unknown":            {record.SourceCall{Key: "k", Source: "stauts"}, `request sources.k.source: want a configured source, got "stauts"; did you mean "status"?`},
		"another space's":    {record.SourceCall{Key: "k", Source: "their-secret"}, `request sources.k.source: want a configured source, got "their-secret"`},
		"no parameter":       {record.SourceCall{Key: "k", Source: "status"}, "request sources.k.parameters.x: want a string"},
		"unknown parameter":  {record.SourceCall{Key: "k", Source: "plain", Parameters: x(`"a"`)}, "an unknown parameter"},
		"empty":              {record.SourceCall{Key: "k", Source: "status", Parameters: x(`""`)}, "want a part of a path"},
		"dots":               {record.SourceCall{Key: "k", Source: "status", Parameters: x(`".."`)}, "want no . or .. in a path"},
		"dots with slashes":  {record.SourceCall{Key: "k", Source: "status", Parameters: x(`"a/../../b"`)}, "want no . or .. in a path"},
		"dots, the other \\": {record.SourceCall{Key: "k", Source: "status", Parameters: x(`"a\\..\\b"`)}, "want no . or .. in a path"},
		"one dot":            {record.SourceCall{Key: "k", Source: "status", Parameters: x(`"."`)}, "want no . or .. in a path"},
	} {
		_, err := col.Collect(t.Context(), record.Local, []record.SourceCall{{Key: "a", Source: "plain"}, c.call})
		var wrong *record.RequestError
		if !errors.As(err, &wrong) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", name, err, c.want)
		}
	}
	if asked.Load() {
		t.Error("a source was asked in spite of a wrong call beside it")
	}
}

func TestCollectEndsWithItsContext(t *testing.T) {
	asked := make(chan struct{})
	s := api(t, map[string]http.HandlerFunc{"/": func(_ http.ResponseWriter, r *http.Request) {
		close(asked)
		<-r.Context().Done()
	}})
	col := collector(t, collect.Config{Sources: []collect.Source{source("s", collect.HTTP{URL: s.URL})}})
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		<-asked
		cancel()
	}()
	if _, err := col.Collect(ctx, record.Local, []record.SourceCall{{Key: "k", Source: "s"}}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want cancelled", err)
	}
}

func TestNewRefuses(t *testing.T) {
	inline := func(change func(s *collect.Source)) collect.Source {
		s := collect.Source{Space: record.Local, Name: "s", Kind: collect.Inline("1")}
		change(&s)
		return s
	}
	http := func(url string, params ...collect.Parameter) collect.Source {
		return source("s", collect.HTTP{URL: url}, params...)
	}
	x := collect.Parameter{Name: "x", Type: collect.String}
	for name, c := range map[string]struct {
		s    collect.Source
		want string
	}{
		"space":            {inline(func(s *collect.Source) { s.Space = "" }), "request space"},
		"name":             {inline(func(s *collect.Source) { s.Name = "A" }), "request name"},
		"kind":             {inline(func(s *collect.Source) { s.Kind = nil }), "it has no kind"},
		"inline":           {inline(func(s *collect.Source) { s.Kind = collect.Inline("{") }), "offset 1: want a member name"},
		"inline, called":   {inline(func(s *collect.Source) { s.Parameters = []collect.Parameter{x} }), "takes no parameters"},
		"scheme":           {http("ftp://a/b"), "want http:// or https://"},
		"no scheme":        {http("/b"), "want http:// or https://"},
		"no host":          {http("http:///b"), "want a host"},
		"host of choice":   {http("http://{x}/b", x), "want a host without parameters"},
		"credentials":      {http("http://user:pw@a/b"), "want a host without parameters and credentials"},
		"bad host":         {http("http://a b/"), "invalid character"},
		"bad port":         {http("http://a:99999/"), "port 99999"},
		"fragment":         {http("http://a/b#c"), "want no fragment"},
		"name of choice":   {http("http://a/b?{x}=1", x), "want the names in the query without parameters"},
		"open brace":       {http("http://a/{x", x), "{ without }"},
		"closed brace":     {http("http://a/x}", x), "} without {"},
		"brace in query":   {http("http://a/?q={x", x), "{ without }"},
		"bad escape":       {http("http://a/%zz"), "invalid URL escape"},
		"bad query escape": {http("http://a/?q=%zz"), "invalid URL escape"},
		"not declared":     {http("http://a/{y}", x), "parameter x: it does not occur"},
		"not used":         {http("http://a/", x), "parameter x: it does not occur"},
		"unknown":          {http("http://a/{y}"), "{y} is not a declared parameter"},
		"two parameters":   {http("http://a/{x}", x, x), "there are two of this name"},
		"parameter name":   {http("http://a/{x-y}", collect.Parameter{Name: "x-y", Type: collect.String}), "want an identifier"},
		"parameter type":   {http("http://a/{x}", collect.Parameter{Name: "x", Type: "float"}), `type "float"`},
		"enum":             {http("http://a/{x}", collect.Parameter{Name: "x", Type: collect.Enum}), "an enum without values"},
		"negative":         {source("s", collect.HTTP{URL: "http://a", MaxBytes: -1}), "want no negative limits"},
		"times":            {source("s", collect.HTTP{URL: "http://a", Timeout: time.Second, Attempt: time.Minute}), "Attempt"},
	} {
		if _, err := collect.New(collect.Config{Sources: []collect.Source{c.s}}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", name, err, c.want)
		}
	}
	good := inline(func(*collect.Source) {})
	if _, err := collect.New(collect.Config{Sources: []collect.Source{good, good}}); err == nil || !strings.Contains(err.Error(), "source s: there are two") {
		t.Errorf("twice: %v", err)
	}
	if _, err := collect.New(collect.Config{Parallel: -1}); err == nil {
		t.Error("parallel -1: no error")
	}
	theirs := good
	theirs.Space = "other"
	if _, err := collect.New(collect.Config{Sources: []collect.Source{good, theirs}}); err != nil {
		t.Errorf("the same name in two spaces: %v", err)
	}
}

// A secret shows itself in no form (a planted canary).
func TestSecret(t *testing.T) {
	const canary = "canary-4711"
	s := collect.NewSecret(canary)
	if s.Reveal() != canary {
		t.Fatal("it does not reveal")
	}
	type holder struct {
		S collect.Secret
		P *collect.Secret
		M map[string]collect.Secret
	}
	h := holder{s, &s, map[string]collect.Secret{"a": s}}
	var out strings.Builder
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d", "%T", "%10s", "%-20v", "%o"} {
		_, _ = fmt.Fprintf(&out, verb+verb+verb+"\n", s, &s, h)
	}
	out.WriteString(fmt.Sprint(s, &s, h) + s.String() + s.GoString())
	for _, v := range []any{s, &s, h, map[string]any{"x": s}} {
		b, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		out.Write(b)
	}
	for _, handler := range []slog.Handler{slog.NewTextHandler(&out, nil), slog.NewJSONHandler(&out, nil)} {
		slog.New(handler).Info("x", "secret", s, "pointer", &s, "holder", h, slog.Group("g", "secret", s))
	}
	out.WriteString(fmt.Errorf("wrapped: %v", s).Error())
	for _, form := range []string{canary, fmt.Sprintf("%x", canary), fmt.Sprintf("%X", canary), "99 97 110 97 114 121"} {
		if strings.Contains(out.String(), form) {
			t.Errorf("the secret shows: %s", out.String())
		}
	}
	if !strings.Contains(out.String(), "[redacted]") {
		t.Error("nothing says that it was redacted")
	}
}

func FuzzAddressStaysAtItsOrigin(f *testing.F) {
	for _, s := range []string{"a", "..", "a/../b", "?x=1", "#", "@evil", "//evil", "%2e%2e", "\\..\\", "é", "a&b=c", "."} {
		f.Add(s)
	}
	var asked atomic.Pointer[http.Request]
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Store(r)
		_, _ = w.Write([]byte("1"))
	}))
	f.Cleanup(server.Close)
	col, err := collect.New(collect.Config{Sources: []collect.Source{
		source("s", collect.HTTP{URL: server.URL + "/v1/{x}/end?q={x}&last=1"}, collect.Parameter{Name: "x", Type: collect.String}),
	}})
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() {
		if err := col.Close(context.Background()); err != nil {
			f.Error(err)
		}
	})
	f.Fuzz(func(t *testing.T, value string) {
		raw, err := json.Marshal(value) // which makes any string a valid one
		if err != nil {
			t.Fatal(err)
		}
		asked.Store(nil)
		_, err = col.Collect(t.Context(), record.Local, []record.SourceCall{{Key: "k", Source: "s", Parameters: record.Parameters{"x": raw}}})
		r := asked.Load()
		if err != nil || r == nil {
			if r != nil {
				t.Fatalf("%q: asked in spite of %v", value, err)
			}
			return
		}
		var sent string
		if err := json.Unmarshal(raw, &sent); err != nil {
			t.Fatal(err)
		}
		segments := strings.Split(r.URL.EscapedPath(), "/")
		if len(segments) != 4 || segments[1] != "v1" || segments[3] != "end" {
			t.Fatalf("%q: asked for %s", value, r.RequestURI)
		}
		q := r.URL.Query()
		if len(q) != 2 || q.Get("q") != sent || q.Get("last") != "1" {
			t.Fatalf("%q: query %v", value, q)
		}
	})
}
