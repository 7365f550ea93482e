//go:build !race

package ui_test

import (
	"bytes"
	"fmt"
	"html"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	browserdomain "github.com/chromedp/cdproto/browser"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"example.com/quire/internal/judgetest"
	"example.com/quire/internal/record"
	"example.com/quire/internal/ui"
	"example.com/quire/pdf"
	"example.com/quire/pdf/operation"
)

// TestToolsHaveAPageForEachOperation: of the one table, with a control for each parameter that the
// API takes.
func TestToolsHaveAPageForEachOperation(t *testing.T) {
	t.Parallel()
	h := open(t, func(o *ui.Options) { o.Signers = map[record.Space][]string{record.Local: {"office", "seal"}} })
	_, list := h.page(t, "/tools")
	wellFormed(t, list)
	for _, o := range operation.All() {
		hasAll(t, list, `href="/tools/`+o.Name+`"><strong>`+o.Summary+`</strong>`)
		res, text := h.page(t, "/tools/"+o.Name)
		if res.Status != http.StatusOK {
			t.Errorf("%s: %d", o.Name, res.Status)
		}
		wellFormed(t, text)
		hasAll(t, text, "<h1>"+html.EscapeString(o.Summary)+"</h1>", `action="/v1/pdf/`+o.Name+`"`, "/v1/pdf/"+o.Name+"</code>", "quire pdf "+o.Name+" in.pdf")
		for _, x := range o.Parameters {
			if here := strings.Contains(text, ` name="`+x.Name+`"`); here != (x.Name != "key-password") {
				t.Errorf("%s: a control for %s: %t", o.Name, x.Name, here)
			}
		}
	}
	_, text := h.page(t, "/tools/sign")
	hasAll(t, text, "<option>office</option><option>seal</option>")
	if res, text := h.page(t, "/tools/nosuch"); res.Status != http.StatusNotFound || !strings.Contains(text, "no tool with that name") {
		t.Errorf("%d %s", res.Status, text)
	}
}

// TestToolCommandsRun: the lines that people copy from the pages do what the pages say.
func TestToolCommandsRun(t *testing.T) {
	t.Parallel()
	for _, judge := range []string{"sh", "curl"} {
		judgetest.Program(t, judge, "apt-get install "+judge)
	}
	h := open(t)
	dir := t.TempDir()
	_, file := h.page(t, "/d/"+h.made(t, small).Content.String()+".pdf")
	for _, name := range []string{"in.pdf", "more.pdf"} {
		check(t, os.WriteFile(filepath.Join(dir, name), []byte(file), 0o600))
	}
	for name, want := range map[string]string{"info": "pages        3", "rotate": "", "number": "", "merge": "", "encrypt": "", "split": "", "text": "Small\n"} {
		_, text := h.page(t, "/tools/"+name)
		line := html.UnescapeString(regexp.MustCompile(`(?s)<pre><code>(curl .*?)</code></pre>`).FindStringSubmatch(text)[1])
		cmd := exec.CommandContext(t.Context(), "sh", "-c", line) //nolint:gosec // what the page shows is what is tested
		cmd.Dir = dir
		out, err := cmd.CombinedOutput()
		if err != nil || !strings.Contains(string(out), want) {
			t.Errorf("%s: %v\n%s\n%s", name, err, line, out)
		}
	}
}

// given drops files on the page: names, and the addresses that have their bytes.
func (b *tab) given(t *testing.T, files ...[2]string) {
	t.Helper()
	var list strings.Builder
	for _, f := range files {
		fmt.Fprintf(&list, "new File([await (await fetch('%s')).arrayBuffer()], '%s', { type: 'application/pdf' }),", f[1], f[0])
	}
	b.dropping(t, list.String())
}

// dropping drops what JavaScript makes.
func (b *tab) dropping(t *testing.T, files string) {
	t.Helper()
	ask[bool](t, b, `globalThis.held = true, (async () => {
		const data = new DataTransfer();
		for (const file of [`+files+`]) data.items.add(file);
		const event = (type) => document.querySelector('main').dispatchEvent(new DragEvent(type, { dataTransfer: data, bubbles: true, cancelable: true }));
		event('dragover');
		event('drop');
		globalThis.held = false;
	})(), true`)
	b.until(t, `!held`)
}

// tool opens the page of an operation.
func (b *tab) tool(t *testing.T, h *server, name string) {
	t.Helper()
	b.goTo(t, h.url+"/tools/"+name)
	b.until(t, `document.getElementById('tool')?.hidden === false`)
}

// kept presses the link to what was made and returns the file that the browser wrote.
func (b *tab) kept(t *testing.T) (name string, content []byte) {
	t.Helper()
	dir := t.TempDir()
	done := make(chan string, 1)
	check(t, chromedp.ListenBrowser(b.ctx, func(event any) { // also of the downloads of other tabs
		e, ok := event.(*browserdomain.EventDownloadProgress)
		if ok && e.State == browserdomain.DownloadProgressStateCompleted && filepath.Dir(e.FilePath) == dir {
			done <- e.FilePath
		}
	}))
	events := true
	_, err := chromedp.CallBrowser(b.ctx, browserdomain.SetDownloadBehavior, browserdomain.SetDownloadBehaviorParams{
		Behavior: browserdomain.SetDownloadBehaviorBehaviorAllow, BrowserContextID: chromedp.FromContext(b.ctx).BrowserContextID,
		DownloadPath: dir, EventsEnabled: &events,
	})
	check(t, err)
	check(t, chromedp.Do(b.ctx, chromedp.Click(chromedp.CSS(`#made > a.button`))))
	select {
	case file := <-done:
		content, err = os.ReadFile(file)
		check(t, err)
		return filepath.Base(file), content
	case <-b.ctx.Done():
		t.Fatal("nothing was kept")
		return "", nil
	}
}

// pagesOf counts the pages of a file.
func pagesOf(t *testing.T, file []byte) int {
	t.Helper()
	e, err := pdf.New(pdf.Config{})
	check(t, err)
	d, err := e.Open(t.Context(), bytes.NewReader(file), int64(len(file)), pdf.OpenOptions{})
	check(t, err)
	return len(d.Info().Pages)
}

// TestBrowserToolMergesDroppedFiles: files are dropped, shown, put into another order, sent and
// kept.
func TestBrowserToolMergesDroppedFiles(t *testing.T) {
	t.Parallel()
	h := open(t)
	b := browse(t)
	one, two := "/d/"+h.made(t, small).Content.String()+".pdf", "/d/"+h.made(t, "price-list").Content.String()+".pdf"
	b.look(t, 1280, 900, 1, "light")
	b.tool(t, h, "merge")
	b.usable(t)

	// Without files nothing is sent.
	check(t, chromedp.Do(b.ctx, chromedp.Click(chromedp.CSS(`#run`))))
	b.until(t, `document.getElementById('answer').innerText.includes('Choose a PDF first.')`)
	if s := ask[string](t, b, focused); s != "add" {
		t.Errorf("the focus went to %q", s)
	}

	b.given(t, [2]string{"one.pdf", one}, [2]string{"two.pdf", two})
	b.until(t, `document.querySelectorAll('.sheet.drawn').length === 2`)
	for _, nth := range []string{"1", "2"} {
		if n := ask[int](t, b, inkOf("#chosen > li:nth-child("+nth+") canvas")); n < 40 {
			t.Errorf("the thumbnail of file %s has %d dark pixels", nth, n)
		}
	}
	if ask[bool](t, b, `document.getElementById('check').open`) {
		t.Error("the files are checked, too")
	}
	hasAll(t, ask[string](t, b, `document.getElementById('chosen').innerText`), "one.pdf", "3\u00a0pages", "two.pdf", "4\u00a0pages")
	b.usable(t)

	// Another order, by keyboard.
	ask[bool](t, b, `(document.querySelector('[aria-label="Move up two.pdf"]').focus(), true)`)
	b.press(t, kb.Enter)
	b.until(t, `document.getElementById('announce').textContent === 'two.pdf is number 1 of 2.'`)
	if s := ask[string](t, b, `document.activeElement.getAttribute('aria-label')`); s != "Move up two.pdf" {
		t.Errorf("the focus went to %q", s)
	}
	check(t, chromedp.Do(b.ctx, chromedp.Click(chromedp.CSS(`#run`))))
	b.until(t, `document.querySelectorAll('#made .sheet').length === 7 && document.querySelector('#made .sheet.drawn') !== null`)
	hasAll(t, ask[string](t, b, `document.getElementById('answer').innerText`), "Created", "two-merge.pdf")
	if s := ask[string](t, b, focused); s != "result-title" {
		t.Errorf("the focus went to %q", s)
	}
	name, file := b.kept(t)
	if name != "two-merge.pdf" || pagesOf(t, file) != 7 {
		t.Errorf("%s of %d pages", name, pagesOf(t, file))
	}
	b.usable(t)
	b.look(t, 320, 640, 1, "dark")
	b.usable(t)
	b.onlyHost(t, h.url)
}

// TestBrowserToolPicksPages: pages that are pressed stand in the field, in their order.
func TestBrowserToolPicksPages(t *testing.T) {
	t.Parallel()
	h := open(t)
	b := browse(t)
	b.look(t, 1280, 900, 1, "dark")
	b.tool(t, h, "reorder")
	b.given(t, [2]string{`a "b"; 1.PDF`, "/d/" + h.made(t, small).Content.String() + ".pdf"})
	b.until(t, `document.querySelectorAll(".sheet").length === 3`)
	for _, n := range []string{"3", "1", "2"} {
		ask[bool](t, b, `(document.querySelector('[aria-label="Page `+n+`"]').focus(), true)`)
		b.press(t, " ")
	}
	if s := ask[string](t, b, `document.querySelector('[name=pages]').value`); s != "3,1-2" {
		t.Errorf("the pages are %q", s)
	}
	if s := ask[string](t, b, `[...document.querySelectorAll('.sheet')].map((s) => s.dataset.place).join()`); s != "2,3,1" {
		t.Errorf("the pages have the places %q", s)
	}
	b.press(t, " ")
	if s := ask[string](t, b, `[...document.querySelectorAll('.sheet')].map((s) => s.dataset.place ?? '').join()`); s != "2,,1" {
		t.Errorf("without the second the pages have the places %q", s)
	}
	b.usable(t)
	check(t, chromedp.Do(b.ctx, chromedp.Click(chromedp.CSS(`#run`))))
	b.until(t, `document.querySelectorAll('#made .sheet').length === 2`)
	if s := ask[string](t, b, `document.querySelector('#made a').download`); s != `a "b"; 1-reorder.pdf` {
		t.Errorf("the file is called %q", s)
	}
	if name, file := b.kept(t); name != "a _b_; 1-reorder.pdf" || pagesOf(t, file) != 2 {
		t.Errorf("%s of %d pages", name, pagesOf(t, file))
	}
}

// TestBrowserToolTellsWhatIsWrong: in words, at the field, and with the remedy.
func TestBrowserToolTellsWhatIsWrong(t *testing.T) {
	t.Parallel()
	h := open(t, func(o *ui.Options) { o.MostFileBytes = 5_000_000 })
	b := browse(t)
	b.look(t, 1280, 900, 1, "light")
	file := [2]string{"some.pdf", "/d/" + h.made(t, small).Content.String() + ".pdf"}
	press := func(want ...string) {
		t.Helper()
		check(t, chromedp.Do(b.ctx, chromedp.Click(chromedp.CSS(`#run`))))
		b.until(t, `document.getElementById('answer').classList.contains('failed') && document.getElementById('run').ariaDisabled !== 'true'`)
		text := ask[string](t, b, `document.getElementById('answer').innerText`)
		hasAll(t, text, want...)
	}
	at := func(field, text string) {
		t.Helper()
		got := ask[string](t, b, `document.activeElement.name + ' ' + document.activeElement.getAttribute('aria-invalid') + ' ' + document.getElementById('`+field+`-wrong').innerText`)
		if !strings.HasPrefix(got, field+" true ") || !strings.Contains(got, text) {
			t.Errorf("at the field %s stands %q", field, got)
		}
	}
	b.tool(t, h, "rotate")
	b.given(t, file)
	press("Not sent")
	at("degrees", "This field is required.")
	check(t, chromedp.Do(b.ctx, chromedp.SendKeys(chromedp.CSS(`[name=degrees]`), "30")))
	press("The request is not valid", "Degrees", "expected a multiple of 90")
	at("degrees", "expected a multiple of 90")
	b.usable(t)

	// A field that is folded away is opened.
	b.tool(t, h, "check")
	b.given(t, file)
	ask[bool](t, b, `(document.querySelector('[name=standard]').value = 'pdf/a-2bb', true)`)
	press("Did you mean pdf/a-2b?")
	at("standard", "Did you mean pdf/a-2b?")

	b.tool(t, h, "info")
	b.dropping(t, `new File(['no PDF at all'], 'letter.pdf')`)
	b.until(t, `document.getElementById('chosen').innerText.includes('cannot be shown')`)
	press("The file cannot be processed", "letter.pdf", "this is no PDF file", "give a PDF file")
	b.dropping(t, `new File([new Uint8Array(6e6)], 'large.pdf')`)
	b.until(t, `document.getElementById('chosen').innerText.includes('large.pdf')`)
	press("6.0\u00a0MB; this server accepts 5.0\u00a0MB")
	b.usable(t)

	// What is right is told as text, and there is no answer of before.
	b.given(t, file)
	check(t, chromedp.Do(b.ctx, chromedp.Click(chromedp.CSS(`#run`))))
	b.until(t, `document.querySelector('#made pre')?.innerText.includes('pages        3')`)
	if ask[bool](t, b, `document.getElementById('answer').classList.contains('failed')`) {
		t.Error("it is still told as failed")
	}
	b.forgive() // the browser notes the requests that failed
}

// TestBrowserToolShowsProgress: how much was sent is shown while it is, and it can be stopped.
func TestBrowserToolShowsProgress(t *testing.T) {
	t.Parallel()
	h := open(t)
	// A server that reads a part of what it is sent, and then nothing.
	release := make(chan struct{})
	held := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPost {
			h.app.ServeHTTP(w, r)
			return
		}
		_, _ = io.CopyN(io.Discard, r.Body, 1<<20) // what comes is not the point
		<-release
	}))
	t.Cleanup(func() { close(release); held.Close() })
	b := browse(t)
	b.goTo(t, held.URL+"/tools/info")
	b.until(t, `document.getElementById('tool')?.hidden === false`)
	b.dropping(t, `new File([new Uint8Array(48e6)], 'large.pdf')`)
	ask[bool](t, b, `(document.getElementById('run').focus(), true)`)
	b.press(t, kb.Enter)
	b.until(t, `(() => {
		const p = document.getElementById('progress'), text = document.getElementById('amount').textContent;
		return p.value > 0 && p.value < 1 && / of 48\.0.MB/.test(text) && document.getElementById('phase').textContent === 'Sending';
	})()`)
	b.usable(t)
	check(t, chromedp.Do(b.ctx, chromedp.Click(chromedp.CSS(`#stop`))))
	b.until(t, `document.getElementById('answer').innerText.includes('Stopped') && document.getElementById('going').hidden`)
	if s := ask[string](t, b, focused); s != "run" {
		t.Errorf("the focus went to %q", s)
	}
	b.forgive()
}

// TestBrowserToolsFitEveryWindow: in both schemes, at 320 px and with text of twice the size.
func TestBrowserToolsFitEveryWindow(t *testing.T) {
	t.Parallel()
	h := open(t)
	b := browse(t)
	for _, path := range []string{"/tools", "/tools/stamp", "/tools/fill", "/tools/sign"} {
		b.look(t, 1280, 800, 1, "light")
		b.goTo(t, h.url+path)
		ask[bool](t, b, `(document.querySelectorAll('details').forEach((d) => { d.open = true; }), true)`)
		for _, width := range []int64{1280, 768, 320} {
			b.look(t, width, 800, 1, "dark")
			b.usable(t)
			if small := ask[string](t, b, `[...document.querySelectorAll('.field :is(input:not([type=checkbox]), select, textarea), .field.switch label, summary')]
				.filter((e) => e.checkVisibility() && e.getBoundingClientRect().height < 43.5).map((e) => e.outerHTML).join('\n')`); small != "" {
				t.Errorf("%s at %d px: lower than 44 px:\n%s", path, width, small)
			}
		}
		b.look(t, 1280, 800, 1, "light")
		ask[bool](t, b, `(document.documentElement.style.fontSize = '200%', true)`)
		b.usable(t)
	}
	b.onlyHost(t, h.url)
}

// TestBrowserToolsWithoutScripts: they say what to do.
func TestBrowserToolsWithoutScripts(t *testing.T) {
	t.Parallel()
	h := open(t)
	b := browse(t)
	b.withoutScripts(t)
	b.look(t, 320, 800, 1, "light")
	b.goTo(t, h.url+"/tools/rotate")
	hasAll(t, ask[string](t, b, `document.body.innerText`), "needs JavaScript", h.url+"/v1/pdf/rotate", "quire pdf rotate in.pdf")
	if n := ask[int](t, b, `[...document.querySelectorAll('button')].filter((e) => e.checkVisibility()).length`); n != 0 {
		t.Errorf("%d buttons do nothing", n)
	}
	b.usable(t)
}
