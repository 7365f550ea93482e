package htmlpdf

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"

	"github.com/chromedp/cdproto/browser"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/fetch"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"
)

// errRefused is why a request of a page got no answer.
var errRefused = errors.New("refused: no resources are allowed")

// answers stand between a page and the network: each of its requests stops here.
type answers struct {
	resources http.RoundTripper
	limits    Limits
	html      []byte
	missed    func(address string, reason error) // may be nil
	tab       context.Context                    // of the page: ends with it
	stop      func()

	at sync.WaitGroup // requests being answered

	mu      sync.Mutex
	ended   bool
	frame   cdp.FrameID // the page's own; "" before its first request
	count   int64       // requests so far
	bytes   int64       // of the answers so far
	limit   error       // the limit that ended the page
	refused error       // why the page itself was not to be had
}

// listen stops all requests from now on.
func (a *answers) listen() error {
	if err := chromedp.Listen(a.tab, a.event); err != nil {
		return err
	}
	if _, err := chromedp.Call(a.tab, fetch.Enable, fetch.EnableParams{}); err != nil {
		return err
	}
	_, err := chromedp.CallBrowser(a.tab, browser.SetDownloadBehavior, browser.SetDownloadBehaviorParams{
		Behavior: browser.SetDownloadBehaviorBehaviorDeny, BrowserContextID: chromedp.FromContext(a.tab).BrowserContextID,
	})
	return err
}

// event must not wait: the browser's messages are read by its goroutine.
func (a *answers) event(event any) {
	e, ok := event.(*fetch.EventRequestPaused)
	if !ok {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.ended {
		return
	}
	a.count++
	if a.count > a.limits.Resources+1 { // the page is none of its resources
		a.exceed(&LimitError{Name: "Resources", Value: a.count - 1, Limit: a.limits.Resources})
		return
	}
	document := e.ResourceType == network.ResourceTypeDocument
	first := a.frame == "" && document
	if first {
		a.frame = e.FrameID
	}
	// A document that is not the page, or where its address leads to, is a frame or a further page.
	further := document && !first && (a.html != nil || e.FrameID != a.frame || e.RedirectedRequestID == "")
	a.at.Go(func() { a.answer(e, first && a.html != nil, further) })
}

// exceed ends the page. The caller holds the lock.
func (a *answers) exceed(err error) {
	if a.limit == nil {
		a.limit = err
	}
	go a.stop()
}

// wait ends when no request is being answered any more; those that come later are not.
func (a *answers) wait() {
	a.mu.Lock()
	a.ended = true
	a.mu.Unlock()
	a.at.Wait()
}

func (a *answers) fault() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.limit
}

// refusal says why the page itself had no answer; nil when it had one.
func (a *answers) refusal() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.refused
}

// answer gives the browser what it asked for, or refuses. Errors of these calls mean that the tab
// has ended, which the conversion sees by itself.
func (a *answers) answer(e *fetch.EventRequestPaused, own, further bool) {
	if own {
		_, _ = chromedp.Call(a.tab, fetch.FulfillRequest, fetch.FulfillRequestParams{
			RequestID: e.RequestID, ResponseCode: http.StatusOK, Body: a.html,
			ResponseHeaders: []*fetch.HeaderEntry{{Name: "Content-Type", Value: "text/html; charset=utf-8"}},
		})
		return
	}
	if further { // no content: what is shown stays, where a refusal would put a page of its own in its place
		_, _ = chromedp.Call(a.tab, fetch.FulfillRequest, fetch.FulfillRequestParams{RequestID: e.RequestID, ResponseCode: http.StatusNoContent})
		return
	}
	f, err := a.ask(e)
	if err != nil {
		if a.missed != nil {
			a.missed(e.Request.URL, err)
		}
		if e.ResourceType == network.ResourceTypeDocument {
			a.mu.Lock()
			a.refused = err
			a.mu.Unlock()
		}
		_, _ = chromedp.Call(a.tab, fetch.FailRequest, fetch.FailRequestParams{
			RequestID: e.RequestID, ErrorReason: network.ErrorReasonBlockedByClient,
		})
		return
	}
	_, _ = chromedp.Call(a.tab, fetch.FulfillRequest, f)
}

// ask has the policy answer a request.
func (a *answers) ask(e *fetch.EventRequestPaused) (none fetch.FulfillRequestParams, _ error) {
	at := e.Request.URL
	web := (strings.HasPrefix(at, "https://") || strings.HasPrefix(at, "http://")) && !strings.HasPrefix(at, blank)
	if a.resources == nil || !web || e.Request.Method != http.MethodGet {
		return none, errRefused
	}
	r, err := http.NewRequestWithContext(a.tab, http.MethodGet, at, nil)
	if err != nil {
		return none, fmt.Errorf("address of a resource: %w", err)
	}
	if accept, ok := e.Request.Headers["Accept"].(string); ok {
		r.Header.Set("Accept", accept)
	}
	answer, err := a.resources.RoundTrip(r)
	if err != nil {
		return none, err
	}
	defer func() { _ = answer.Body.Close() }()
	body, err := a.read(answer.Body)
	if err != nil {
		return none, err
	}
	f := fetch.FulfillRequestParams{
		RequestID: e.RequestID, ResponseCode: int64(answer.StatusCode), Body: body,
		// Fonts are asked for across origins. What may be read is for the policy to say, not for
		// them.
		ResponseHeaders: []*fetch.HeaderEntry{{Name: "Access-Control-Allow-Origin", Value: "*"}},
	}
	for _, name := range []string{"Content-Type", "Location", "X-Content-Type-Options"} {
		if v := answer.Header.Get(name); v != "" {
			f.ResponseHeaders = append(f.ResponseHeaders, &fetch.HeaderEntry{Name: name, Value: v})
		}
	}
	return f, nil
}

// read reads a body within what is left for all of them.
func (a *answers) read(from io.Reader) ([]byte, error) {
	a.mu.Lock()
	left := a.limits.ResourceBytes - a.bytes
	a.mu.Unlock()
	body, err := io.ReadAll(io.LimitReader(from, left+1))
	a.mu.Lock()
	defer a.mu.Unlock()
	a.bytes += int64(len(body))
	if a.bytes > a.limits.ResourceBytes {
		err := &LimitError{Name: "ResourceBytes", Value: a.bytes, Limit: a.limits.ResourceBytes}
		a.exceed(err)
		return nil, err
	}
	return body, err
}
