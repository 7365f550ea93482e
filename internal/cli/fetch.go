package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"example.com/quire/fetch"
	"example.com/quire/fetch/collapse"
	"example.com/quire/fetch/hedge"
	"example.com/quire/fetch/httpcache"
	"example.com/quire/fetch/limit"
)

func (p *program) fetch() *cobra.Command {
	var o fetchOptions
	c := &cobra.Command{
		Use:   "fetch URL",
		Short: "Request an address and show what each layer of the HTTP client did",
		Long: "Request an address with every layer of the HTTP client, and print one line for each layer:\n" +
			"cache, collapse, limit, retry, hedge, breaker, deadline. The body is not shown; --out writes it\n" +
			"to a file. With --repeat the same client sends the request again, which shows the cache.\n\n" +
			"The exit status is 1 if there was no answer, or if its status is 400 or more.",
		Example: "  quire fetch https://api.example/v1/rates\n  quire fetch --repeat 2 --out rates.json https://api.example/v1/rates",
		Args:    counted(1, 1, "URL"),
		RunE:    func(c *cobra.Command, a []string) error { return p.get(c.Context(), a[0], o) },
	}
	f := c.Flags()
	f.StringArrayVarP(&o.header, "header", "H", nil, "send the field `'NAME: VALUE'`; may be repeated")
	f.IntVar(&o.repeat, "repeat", 1, "send the request `N` times")
	f.DurationVar(&o.timeout, "timeout", 30*time.Second, "time limit of a whole request: `TIME`")
	f.StringVarP(&o.out, "out", "o", "", "write the last body to `FILE`")
	return c
}

type fetchOptions struct {
	header  []string
	repeat  int
	timeout time.Duration
	out     string
}

// fetched is what one request did, as JSON.
type fetched struct {
	URL      string         `json:"url,omitempty"` // without user and query, which may be secrets
	Status   int            `json:"status,omitempty"`
	Bytes    int64          `json:"bytes"`
	Took     float64        `json:"seconds"`
	Error    string         `json:"error,omitempty"`
	Attempts []fetchAttempt `json:"attempts"`
	Layers   []fetchLayer   `json:"layers"`
}

type fetchAttempt struct {
	Outcome string  `json:"outcome"`
	Status  int     `json:"status,omitempty"`
	Took    float64 `json:"seconds"`
	Waited  float64 `json:"waitedSeconds,omitempty"`
	Hedge   bool    `json:"hedge,omitempty"`
}

type fetchLayer struct {
	Layer string `json:"layer"`
	Did   string `json:"did"`
}

func (p *program) get(ctx context.Context, address string, o fetchOptions) error {
	if o.repeat < 1 {
		return usageError{fmt.Errorf("--repeat %d: want at least 1", o.repeat)}
	}
	if o.timeout <= 0 {
		return usageError{fmt.Errorf("--timeout %v: want more than 0", o.timeout)}
	}
	if u, err := url.Parse(address); err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return usageError{errors.New("URL: want an address that begins with https:// or http://, such as https://api.example/v1/rates")}
	}
	header := http.Header{}
	for _, line := range o.header {
		name, value, ok := strings.Cut(line, ":")
		if !ok {
			return usageError{fmt.Errorf("--header %q: want 'NAME: VALUE'", line)}
		}
		header.Add(strings.TrimSpace(name), strings.TrimSpace(value))
	}
	client, err := fetch.New(fetch.Config{
		UserAgent: "Quire/" + p.Version, Header: header, Total: o.timeout,
		Cache: &httpcache.Config{}, Collapse: &collapse.Config{}, Hedge: &hedge.Config{},
		Limit: &limit.KeyedConfig{Default: limit.Rule{Rate: limit.Rate{Events: 100, Per: time.Second}, Burst: 100}, MaxWait: o.timeout},
	})
	if err != nil {
		return usageError{err}
	}
	defer func() { _ = client.Close(context.WithoutCancel(ctx)) }() // nothing runs in it any more
	var failed error
	for range o.repeat {
		r, body, err := fetchOnce(ctx, client, address, o)
		if err := p.print(r, r.text()); err != nil {
			return err
		}
		switch {
		case err != nil:
			failed = err
		case r.Status >= http.StatusBadRequest:
			failed = fmt.Errorf("fetch %s: status %d %s", r.URL, r.Status, http.StatusText(r.Status))
		case o.out != "":
			if err := os.WriteFile(o.out, body, 0o600); err != nil {
				failed = err
			}
		}
		if ctx.Err() != nil {
			break
		}
	}
	return failed
}

// fetchOnce sends one request and says what came of it.
func fetchOnce(ctx context.Context, client *fetch.Client, address string, o fetchOptions) (r fetched, body []byte, err error) {
	begin := time.Now()
	resp, err := client.Get(ctx, address)
	var info fetch.Info
	if err == nil {
		info = fetch.InfoOf(resp)
		body, err = io.ReadAll(resp.Body)
		err = errors.Join(err, resp.Body.Close())
		r.Status, r.Bytes = resp.StatusCode, int64(len(body))
		at := url.URL{Scheme: resp.Request.URL.Scheme, Host: resp.Request.URL.Host, Path: resp.Request.URL.Path}
		r.URL = at.String()
	} else if e, ok := errors.AsType[*fetch.Error](err); ok {
		info.Attempts, r.URL = e.Attempts, e.URL
	}
	took := time.Since(begin)
	r.Took = took.Seconds()
	state := client.State()
	if err != nil {
		r.Error = err.Error()
	}
	r.Attempts = make([]fetchAttempt, 0, len(info.Attempts))
	for _, a := range info.Attempts {
		r.Attempts = append(r.Attempts, fetchAttempt{a.Reason, a.Status, a.Took.Seconds(), a.Delay.Seconds(), a.Hedge})
	}
	r.Layers = whatLayersDid(info, breakerOf(state, r.URL), took, o.timeout)
	return r, body, err
}

// breakerOf returns the state of the breaker of an address, which after redirects is the one that
// answered or failed.
func breakerOf(state fetch.State, address string) string {
	for _, o := range state.Origins {
		if rest, ok := strings.CutPrefix(address, o.Origin); ok && (rest == "" || strings.HasPrefix(rest, "/") || strings.HasPrefix(rest, "?")) {
			return o.Breaker
		}
	}
	return "closed"
}

func whatLayersDid(info fetch.Info, breaker string, took, total time.Duration) []fetchLayer {
	round := func(d time.Duration) time.Duration { return d.Round(time.Millisecond) }
	cache := info.Cache.Result
	switch {
	case cache == "":
		cache = "no answer"
	case info.Cache.Stored:
		cache += ", stored"
	case info.Cache.Age >= time.Second:
		cache += fmt.Sprintf(", %v old", info.Cache.Age.Truncate(time.Second))
	}
	collapsed := "alone"
	if info.Collapsed {
		collapsed = "another request's answer"
	}
	hedge := "no extra request"
	var hops [][]string // what the attempts of each request came to: a redirect is followed by another
	var tried []int
	for _, a := range info.Attempts {
		switch last := len(hops) - 1; {
		case a.Hedge:
			hedge = fmt.Sprintf("an extra request after %v: %s", round(a.Delay), a.Reason)
		case last < 0 || a.N <= tried[last]:
			hops, tried = append(hops, []string{a.Reason}), append(tried, a.N)
		default:
			hops[last], tried[last] = append(hops[last], fmt.Sprintf("waited %v", round(a.Delay)), a.Reason), a.N
		}
	}
	retry := "no request sent"
	for i, hop := range hops {
		if text := fmt.Sprintf("attempt %d: %s", tried[i], strings.Join(hop, ", ")); i == 0 {
			retry = text
		} else {
			retry += "; redirected, " + text
		}
	}
	if info.Stop != "" {
		retry += "; ended: " + info.Stop
	}
	return []fetchLayer{
		{"cache", cache},
		{"collapse", collapsed},
		{"limit", fmt.Sprintf("waited %v", round(info.LimiterWait))},
		{"retry", retry},
		{"hedge", hedge},
		{"breaker", breaker},
		{"deadline", fmt.Sprintf("%v of %v", round(took), total)},
	}
}

// text is the form for people.
func (r *fetched) text() string {
	var b strings.Builder
	for _, l := range r.Layers {
		fmt.Fprintf(&b, "%-9s %s\n", l.Layer, l.Did)
	}
	if r.Status != 0 {
		fmt.Fprintf(&b, "%-9s %d %s, %d bytes\n", "answer", r.Status, http.StatusText(r.Status), r.Bytes)
	}
	return b.String()
}
