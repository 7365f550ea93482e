//go:build !race

package ui_test

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"example.com/quire/internal/judgetest"
)

// TestMain closes the browser that the tests share.
func TestMain(m *testing.M) {
	code := m.Run()
	if err := shared.close(); err != nil {
		fmt.Fprintln(os.Stderr, "close the browser:", err)
		code = 1
	}
	os.Exit(code)
}

// browser is one process for all tests; each has a tab of its own in it.
type browser struct {
	start sync.Once
	ctx   context.Context // of the process; nil before it runs
	stop  func()
	err   error
}

var shared browser

func (b *browser) launch(path string) (context.Context, error) {
	b.start.Do(func() {
		o := []chromedp.ExecAllocatorOption{
			chromedp.ExecPath(path), // its profile is a new directory, which ends with it
			chromedp.Flag("headless", "new"), chromedp.NoSandbox, chromedp.DisableGPU, chromedp.NoFirstRun,
			chromedp.Flag("disable-quic", true), chromedp.Flag("disable-background-networking", true),
			chromedp.Flag("disable-component-update", true), chromedp.Flag("disable-sync", true),
			chromedp.Flag("hide-scrollbars", true),
			// Tabs beside each other all count as seen.
			chromedp.Flag("disable-backgrounding-occluded-windows", true), chromedp.Flag("disable-renderer-backgrounding", true),
			chromedp.Flag("disable-background-timer-throttling", true),
		}
		allocator, stop := chromedp.NewExecAllocator(context.Background(), o...)
		ctx, end := context.WithTimeout(allocator, 15*time.Minute)
		ctx, shut := chromedp.NewContext(ctx)
		b.ctx, b.stop = ctx, func() { shut(); end(); stop() }
		b.err = chromedp.Do(ctx)
	})
	return b.ctx, b.err
}

func (b *browser) close() error {
	if b.ctx == nil {
		return nil
	}
	defer b.stop()
	return chromedp.Cancel(b.ctx)
}

// tab is a window of its own, with its own storage, that notes what must not
// happen: words on the console, violations of the policy, requests to other hosts.
type tab struct {
	ctx context.Context

	mu    sync.Mutex
	wrong []string
	hosts map[string]bool
}

// browse opens a tab; at the end of the test it fails for what went wrong in it.
func browse(t *testing.T) *tab {
	t.Helper()
	process, err := shared.launch(judgetest.Chromium(t))
	check(t, err)
	ctx, shut := chromedp.NewContext(process, chromedp.WithNewBrowserContext())
	b := &tab{ctx: ctx, hosts: map[string]bool{}}
	t.Cleanup(func() {
		shut()
		b.mu.Lock()
		defer b.mu.Unlock()
		for _, w := range b.wrong {
			t.Error(w)
		}
	})
	check(t, chromedp.Do(ctx))
	check(t, chromedp.Listen(ctx, b.note))
	_, err = chromedp.Call(ctx, log.Enable, cdp.Empty{})
	check(t, err)
	_, err = chromedp.Call(ctx, network.Enable, network.EnableParams{})
	check(t, err)
	return b
}

// note takes the events of the tab.
func (b *tab) note(event any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch e := event.(type) {
	case *runtime.EventConsoleAPICalled:
		var words []string
		for _, a := range e.Args {
			words = append(words, string(a.Value)+a.Description)
		}
		b.wrong = append(b.wrong, "console: "+string(e.Type)+": "+strings.Join(words, " "))
	case *runtime.EventExceptionThrown:
		text := e.ExceptionDetails.Text
		if x := e.ExceptionDetails.Exception; x != nil {
			text += " " + x.Description
		}
		b.wrong = append(b.wrong, "exception: "+text)
	case *log.EventEntryAdded: // where the browser reports violations of the policy and failed requests
		if e.Entry.Level == log.EntryLevelVerbose {
			return // a hint, such as that a form with a password has no name of a user
		}
		b.wrong = append(b.wrong, "log: "+e.Entry.Text+" "+e.Entry.URL)
	case *network.EventRequestWillBeSent:
		if u, err := url.Parse(e.Request.URL); err == nil && u.Scheme != "data" && u.Scheme != "blob" {
			b.hosts[u.Host] = true
		}
	}
}

// forgive drops what was noted: a page that was to fail has said so on the console.
func (b *tab) forgive() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.wrong = nil
}

func (b *tab) goTo(t *testing.T, address string) {
	t.Helper()
	check(t, chromedp.Do(b.ctx, chromedp.Navigate(address)))
}

// until waits until a JavaScript expression is true.
func (b *tab) until(t *testing.T, expression string) {
	t.Helper()
	if _, err := chromedp.Run(b.ctx, chromedp.Poll[bool](expression, chromedp.WithPollingTimeout(time.Minute))); err != nil {
		t.Fatalf("wait for %s: %v", expression, err)
	}
}

// ask evaluates a JavaScript expression.
func ask[T any](t *testing.T, b *tab, expression string) T {
	t.Helper()
	v, err := chromedp.Run(b.ctx, chromedp.Evaluate[T](expression))
	if err != nil {
		t.Fatalf("%s: %v", expression, err)
	}
	return v
}

// look sets the window and the colour scheme.
func (b *tab) look(t *testing.T, width, height int64, scale float64, scheme string) {
	t.Helper()
	_, err := chromedp.Call(b.ctx, emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{
		Width: width, Height: height, DeviceScaleFactor: scale, Mobile: width < 500,
	})
	check(t, err)
	_, err = chromedp.Call(b.ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
		Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}, {Name: "prefers-reduced-motion", Value: "reduce"}},
	})
	check(t, err)
}

// withoutScripts is a browser whose user has turned JavaScript off.
func (b *tab) withoutScripts(t *testing.T) {
	t.Helper()
	_, err := chromedp.Call(b.ctx, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true})
	check(t, err)
}
