package fetch

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strings"

	"example.com/quire/fetch/internal/call"
	"example.com/quire/fetch/internal/origin"
)

// What is wrong with a body that should be one JSON value; found in a *DecodeError by errors.Is.
var (
	ErrMediaType    = call.Final("media type is not JSON")
	ErrTrailingData = call.Final("data after the JSON value")
	ErrEmptyBody    = call.Final("empty body")
)

const (
	maxJSON       = 32 << 20
	maxProblem    = 64 << 10
	maxStatusBody = 4 << 10
)

// DecodeOptions shape DecodeJSON. The zero value is the default.
type DecodeOptions struct {
	MaxBytes  int64 // 0 = 32 MiB
	Strict    bool  // members that the target has no field for are errors
	UseNumber bool  // numbers in an any keep their text, as json.Number
}

// DecodeError is a response that is not the JSON that was expected.
type DecodeError struct {
	URL       string // redacted
	Status    int
	MediaType string
	Err       error
}

func (e *DecodeError) Error() string {
	return fmt.Sprintf("decode %s, status %d, %q: %s", e.URL, e.Status, origin.Cut(e.MediaType), origin.Cut(fmt.Sprint(e.Err)))
}

// Unwrap returns the reason: ErrMediaType, ErrTrailingData, ErrEmptyBody, ErrBodyTooLarge, an error
// of encoding/json or of the body.
func (e *DecodeError) Unwrap() error { return e.Err }

// Retryable is false: what a body holds, it holds again. A timeout while reading is one all the
// same.
func (e *DecodeError) Retryable() bool { return false }

// StatusError is a response with a status other than 2xx.
type StatusError struct {
	Method string
	URL    string // redacted
	Status int
	Header http.Header
	Body   []byte // its first 4 KiB
}

// Error names status and address. The body is not in it: it is data, and may be a page of HTML.
func (e *StatusError) Error() string {
	return fmt.Sprintf("%s %s: status %s", e.Method, e.URL, statusText(e.Status))
}

// ProblemError is an application/problem+json response (RFC 9457) with a status other than 2xx.
type ProblemError struct {
	Type     string // "about:blank" when the response names none
	Title    string
	Detail   string
	Instance string
	// Status is the response's. A member of that name does not override it.
	Status int
	// Extensions are the members that the RFC does not name.
	Extensions map[string]json.RawMessage
	Header     http.Header
	Method     string
	URL        string // redacted
}

func (e *ProblemError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s: status %s", e.Method, e.URL, statusText(e.Status))
	if e.Title != "" {
		fmt.Fprintf(&b, ": %q", origin.Cut(e.Title)) // quoted: what a server says is data, line ends included
	}
	if e.Detail != "" {
		fmt.Fprintf(&b, ": %q", origin.Cut(e.Detail))
	}
	return b.String()
}

func statusText(code int) string {
	if t := http.StatusText(code); t != "" {
		return fmt.Sprintf("%d %s", code, t)
	}
	return fmt.Sprint(code)
}

// GetJSON gets url and decodes the answer.
func GetJSON[T any](ctx context.Context, c *Client, url string) (T, error) {
	return JSON[T](ctx, c, http.MethodGet, url, nil)
}

// JSON sends in as JSON, or no body when it is nil, and decodes the answer. A status other than 2xx
// is a *ProblemError or a
// *StatusError; 204, 205 and the answer to HEAD give the zero value.
func JSON[T any](ctx context.Context, c *Client, method, url string, in any) (T, error) {
	var out T
	resp, err := c.doJSON(ctx, method, url, in)
	if err != nil {
		return out, err
	}
	if resp.StatusCode == http.StatusNoContent || resp.StatusCode == http.StatusResetContent || method == http.MethodHead {
		return out, resp.Body.Close()
	}
	err = DecodeJSON(resp, &out, DecodeOptions{})
	if err != nil {
		var zero T
		return zero, err
	}
	return out, nil
}

func (c *Client) doJSON(ctx context.Context, method, url string, in any) (*http.Response, error) {
	var body io.Reader
	if in != nil {
		b, err := json.Marshal(in)
		if err != nil {
			return nil, &Error{Op: method, Err: fmt.Errorf("encode request body: %w", err)}
		}
		body = bytes.NewReader(b)
	}
	req, err := newRequest(ctx, method, url, body)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Accept", "application/json, application/problem+json, */*;q=0.1")
	if in != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	resp, err := c.Do(req)
	if err != nil {
		return nil, err
	}
	if err := CheckStatus(resp); err != nil {
		return nil, err
	}
	return resp, nil
}

// CheckStatus returns nil for a 2xx response and leaves it as it is. Of any other it reads and
// closes the body and returns a *ProblemError or a *StatusError.
func CheckStatus(resp *http.Response) error {
	if resp.StatusCode >= 200 && resp.StatusCode <= 299 {
		return nil
	}
	defer resp.Body.Close() //nolint:errcheck // the error to report is the status
	method, address := whence(resp)
	mt, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	limit := int64(maxStatusBody)
	if mt == "application/problem+json" {
		limit = maxProblem
	}
	// A body that breaks off does not hide the status; what came of it is kept.
	b, _ := io.ReadAll(io.LimitReader(resp.Body, limit))
	if mt == "application/problem+json" {
		if p, ok := parseProblem(b); ok {
			p.Status, p.Header, p.Method, p.URL = resp.StatusCode, resp.Header, method, address
			return p
		}
	}
	return &StatusError{Method: method, URL: address, Status: resp.StatusCode, Header: resp.Header, Body: b[:min(len(b), maxStatusBody)]}
}

// parseProblem reads a problem document (RFC 9457, section 3), which is an object. Members of a
// wrong type are ignored (section 3.1), unknown ones kept.
func parseProblem(b []byte) (*ProblemError, bool) {
	var members map[string]json.RawMessage
	_ = json.Unmarshal(b, &members) // what is no object leaves it nil, or is broken off and then not valid
	if members == nil || !json.Valid(b) {
		return nil, false
	}
	p := &ProblemError{Type: "about:blank"}
	for name, raw := range members {
		var to *string
		switch name {
		case "type":
			to = &p.Type
		case "title":
			to = &p.Title
		case "detail":
			to = &p.Detail
		case "instance":
			to = &p.Instance
		case "status":
			continue
		default:
			if p.Extensions == nil {
				p.Extensions = make(map[string]json.RawMessage)
			}
			p.Extensions[name] = raw
			continue
		}
		if s := ""; json.Unmarshal(raw, &s) == nil && string(raw) != "null" {
			*to = s
		}
	}
	return p, true
}

// DecodeJSON decodes the one JSON value in resp's body into v and closes the body. The media type
// must be application/json, text/json or end in +json. Every error is a *DecodeError. The status is
// not looked at: see CheckStatus.
func DecodeJSON(resp *http.Response, v any, o DecodeOptions) error {
	defer resp.Body.Close() //nolint:errcheck // read to its end or given up: nothing left to learn from it
	_, address := whence(resp)
	fail := func(err error) error {
		return &DecodeError{URL: address, Status: resp.StatusCode, MediaType: resp.Header.Get("Content-Type"), Err: err}
	}
	// Without a type that can be read it returns "", and with bad parameters still the type.
	mt, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	if !jsonType(mt) {
		return fail(ErrMediaType)
	}
	limit := o.MaxBytes
	if limit <= 0 {
		limit = maxJSON
	}
	body := &capped{r: resp.Body, left: limit}
	dec := json.NewDecoder(body)
	if o.Strict {
		dec.DisallowUnknownFields()
	}
	if o.UseNumber {
		dec.UseNumber()
	}
	if err := dec.Decode(v); err != nil {
		if errors.Is(err, io.EOF) {
			err = ErrEmptyBody
		}
		return fail(err)
	}
	if atEnd(dec) {
		return nil
	}
	if body.err != nil && !errors.Is(body.err, io.EOF) {
		return fail(body.err)
	}
	return fail(ErrTrailingData)
}

// atEnd tells whether nothing but white space follows what was decoded.
func atEnd(dec *json.Decoder) bool {
	_, err := dec.Token()
	return errors.Is(err, io.EOF)
}

func jsonType(mt string) bool {
	return mt == "application/json" || mt == "text/json" || strings.HasSuffix(mt, "+json")
}

// capped ends in ErrBodyTooLarge.
type capped struct {
	r    io.Reader
	left int64
	err  error
}

func (c *capped) Read(p []byte) (int, error) {
	if int64(len(p))-1 > c.left {
		p = p[:c.left+1]
	}
	n, err := c.r.Read(p)
	if int64(n) > c.left {
		n, err = int(c.left), ErrBodyTooLarge
	}
	c.left -= int64(n)
	c.err = err
	return n, err
}

func whence(resp *http.Response) (method, address string) {
	if resp.Request == nil {
		return http.MethodGet, ""
	}
	method = cmp.Or(resp.Request.Method, http.MethodGet)
	return method, origin.Redact(resp.Request.URL)
}
