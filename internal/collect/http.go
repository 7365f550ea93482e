package collect

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"slices"
	"strconv"
	"time"

	"example.com/quire/fetch"
	"example.com/quire/fetch/retry"
	"example.com/quire/internal/record"
)

// HTTP is a kind: a JSON API.
type HTTP struct {
	// URL is a template: {parameter} is replaced by a value in a segment of the path or in a value
	// of the query. Every parameter that the source declares occurs in it.
	URL string
	// Header is sent with each request to the URL's origin and to no other.
	Header map[string]Secret
	// Timeout bounds the whole call with its retries: 0 = 30 s. Attempt bounds one
	// attempt until its headers: 0 = 10 s, or Timeout if that is less.
	Timeout, Attempt time.Duration
	// Attempts is how often a request is sent at most: 0 = 3.
	Attempts int
	// MaxBytes of the answer: 0 = 8 MiB.
	MaxBytes int64
	// Hosts may be redirected to, besides the URL's own.
	Hosts []string
	// Allow permits addresses that are otherwise denied: loopback, private,
	// link-local and their like.
	Allow []netip.Prefix
}

// httpOrigin has a client of its own: no two sources need have the same guard.
type httpOrigin struct {
	client   *fetch.Client
	address  *address
	maxBytes int64
	timeout  time.Duration
}

// Name implements Kind.
func (HTTP) Name() string { return "http" }

// Open implements Kind.
func (h HTTP) Open(parameters []Parameter) (Origin, error) {
	a, err := parseAddress(h.URL)
	if err != nil {
		return nil, err
	}
	declared := make([]string, len(parameters))
	for i, p := range parameters {
		declared[i] = p.Name
		if !slices.Contains(a.params, p.Name) {
			return nil, fmt.Errorf("parameter %s: it does not occur in the url", p.Name)
		}
	}
	for _, name := range a.params {
		if !slices.Contains(declared, name) {
			return nil, fmt.Errorf("url: {%s} is not a declared parameter", name)
		}
	}
	h.Timeout = cmp.Or(h.Timeout, 30*time.Second)
	h.MaxBytes = cmp.Or(h.MaxBytes, 8<<20)
	if h.MaxBytes < 0 || h.Attempts < 0 {
		return nil, errors.New("want no negative limits")
	}
	guard := &fetch.Guard{
		AllowPrefixes: h.Allow,
		AllowHosts:    append([]string{a.base.Hostname()}, h.Hosts...),
		AllowPorts:    []uint16{80, 443},
	}
	if text := a.base.Port(); text != "" {
		port, err := strconv.ParseUint(text, 10, 16)
		if err != nil {
			return nil, fmt.Errorf("url: port %s: %w", text, err)
		}
		guard.AllowPorts = append(guard.AllowPorts, uint16(port))
	}
	header := http.Header{"Accept": {"application/json"}}
	for name, value := range h.Header {
		header.Set(name, value.Reveal())
	}
	client, err := fetch.New(fetch.Config{
		BaseURL: a.base.String(), Header: header, UserAgent: "Quire", // with a base, Header goes to its origin alone
		Total: h.Timeout, Attempt: h.Attempt, MaxBody: h.MaxBytes, MaxRedirects: 3,
		Retry:     retry.Policy{MaxAttempts: h.Attempts},
		Transport: fetch.TransportConfig{Guard: guard},
	})
	if err != nil {
		return nil, err
	}
	return &httpOrigin{client: client, address: a, maxBytes: h.MaxBytes, timeout: h.Timeout}, nil
}

// Prepare implements Origin.
func (h *httpOrigin) Prepare(field string, values map[string]string) (Call, error) {
	target, err := h.address.expand(field, values)
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context) ([]byte, []record.AttemptRecord, string, error) {
		data, attempts, err := h.get(ctx, target)
		if err != nil {
			return nil, attempts, h.reason(err, attempts), err
		}
		return data, attempts, "", nil
	}, nil
}

// Close implements Origin.
func (h *httpOrigin) Close(ctx context.Context) error { return h.client.Close(ctx) }

// get sends one logical request.
func (h *httpOrigin) get(ctx context.Context, target string) (data []byte, attempts []record.AttemptRecord, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, target, nil)
	if err != nil {
		return nil, nil, err
	}
	resp, err := h.client.Do(req)
	if err != nil {
		if failed, ok := errors.AsType[*fetch.Error](err); ok {
			attempts = records(failed.Attempts)
		}
		return nil, attempts, err
	}
	attempts = records(fetch.InfoOf(resp).Attempts)
	if err := fetch.CheckStatus(resp); err != nil { // closes the body
		return nil, attempts, err
	}
	data, err = io.ReadAll(resp.Body)
	return data, attempts, errors.Join(err, resp.Body.Close())
}

func records(log []fetch.Attempt) []record.AttemptRecord {
	out := make([]record.AttemptRecord, len(log))
	for i, a := range log {
		out[i] = record.AttemptRecord{Number: i + 1, Micros: a.Took.Microseconds(), DelayMicros: a.Delay.Microseconds(), Status: a.Status, Reason: a.Reason}
		if a.Reason == "ok" {
			out[i].Reason = ""
		}
	}
	return out
}

// reason says in a phrase of a fixed set why a call failed.
func (h *httpOrigin) reason(err error, attempts []record.AttemptRecord) string {
	if status := fetch.StatusOf(err); status != 0 {
		return "status " + strconv.Itoa(status)
	}
	if errors.Is(err, fetch.ErrCircuitOpen) {
		for _, a := range slices.Backward(attempts) {
			if a.Status != 0 {
				return "status " + strconv.Itoa(a.Status) + ", then too many failures to ask again"
			}
			if why := connection(a.Reason); why != "" {
				return why + ", then too many failures to ask again"
			}
		}
		return "too many failures before: not asked"
	}
	for _, known := range []struct {
		is     error
		reason string
	}{
		{fetch.ErrBodyTooLarge, "the answer is larger than " + strconv.FormatInt(h.maxBytes, 10) + " bytes"},
		{fetch.ErrAddressDenied, "address denied"},
		{fetch.ErrRedirectDenied, "redirect denied"},
		{fetch.ErrTotalTimeout, "no answer within " + h.timeout.String()},
		{fetch.ErrBodyIdle, "the answer stopped in the middle"},
		{fetch.ErrAttemptTimeout, "no answer in time"},
		{context.Canceled, "cancelled"},
		{context.DeadlineExceeded, "no answer in time"},
	} {
		if errors.Is(err, known.is) {
			return known.reason
		}
	}
	last := ""
	if n := len(attempts); n > 0 {
		last = attempts[n-1].Reason
	}
	if why := connection(last); why != "" {
		return why
	}
	if last == "" {
		return "the answer broke off"
	}
	return "the connection broke"
}

// connection says what ended an attempt without an answer, by its word in the log of fetch;
// "" when that is none of these.
func connection(word string) string {
	switch word {
	case "timeout":
		return "no answer in time"
	case "certificate":
		return "its certificate is not trusted"
	case "dial":
		return "cannot connect"
	}
	return ""
}
