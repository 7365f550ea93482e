//go:build !race

package ui_test

import (
	"encoding/json"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"example.com/quire/internal/demo"
	"example.com/quire/internal/record"
)

// inkOf counts the pixels of the first canvas that a selector finds which are
// neither transparent nor white.
func inkOf(selector string) string {
	return `(() => {
		const c = document.querySelector(` + "`" + selector + "`" + `);
		if (!c || c.width < 50) return 0;
		const d = c.getContext('2d').getImageData(0, 0, c.width, c.height).data;
		let n = 0;
		for (let i = 0; i < d.length; i += 4) if (d[i + 3] > 0 && d[i] + d[i + 1] + d[i + 2] < 700) n++;
		return n;
	})()`
}

// faults looks for what shuts people out: pictures, buttons, fields and links
// without a name, targets too small to hit, text that leaves the window, what scrolls by the mouse
// alone.
const faults = `(() => {
	const out = [];
	const hidden = (e) => e.closest('[aria-hidden=true],[hidden]') !== null;
	const name = (e) => (e.getAttribute('aria-label') || e.alt || e.textContent || '').trim() ||
		(e.getAttribute('aria-labelledby') || '').split(/\s+/).map((id) => document.getElementById(id)?.textContent ?? '').join('').trim();
	const say = (what, e) => out.push(what + ': ' + e.outerHTML.slice(0, 120));
	for (const e of document.querySelectorAll('img,canvas')) if (getComputedStyle(e).display !== 'none' && !e.getAttribute('aria-label') && !e.alt) say('picture without a name', e);
	for (const e of document.querySelectorAll('button,a[href],[role=button]')) {
		if (hidden(e)) continue;
		if (!name(e)) say('control without a name', e);
		const box = e.getBoundingClientRect();
		// Links in running text and over the text of a document are as large as the text.
		if (e.matches('.page .spot, .thumb, .card h3 a, .skip, p:not(.crumb, .actions, .links) > a:not(.button), .answer a')) continue;
		if (box.width > 0 && (box.width < 43.5 || box.height < 43.5)) say('target below 44 px: ' + box.width + ' x ' + box.height, e);
	}
	for (const e of document.querySelectorAll('input,select,textarea')) if (!name(e) && !e.labels?.length) say('field without a label', e);
	for (const e of document.querySelectorAll('[type=checkbox]')) {
		const box = e.getBoundingClientRect();
		if (box.width > 0 && Math.abs(box.width - box.height) > 1) say('squeezed: ' + box.width + ' x ' + box.height, e);
	}
	for (const e of document.querySelectorAll('body *')) {
		if (!/auto|scroll/.test(getComputedStyle(e).overflowY) || !e.checkVisibility() || e.scrollHeight <= e.clientHeight + 1) continue;
		if (e.tabIndex < 0 && !e.querySelector('a[href],button,input,select,textarea,[tabindex="0"]')) say('the keyboard cannot scroll it', e);
	}
	for (const e of document.querySelectorAll('section,nav,[role=region]')) {
		if (e.matches('section:not([aria-label]):not([aria-labelledby])')) continue;
		if (!name(e)) say('landmark without a name', e);
	}
	if (document.querySelectorAll('h1').length !== 1) out.push('not one h1');
	if (document.querySelectorAll('main').length !== 1) out.push('not one main');
	if (document.documentElement.scrollWidth > innerWidth) out.push('the page is wider than the window: ' + document.documentElement.scrollWidth);
	return out.join('\n');
})()`

func (b *tab) usable(t *testing.T) {
	t.Helper()
	if found := ask[string](t, b, faults); found != "" {
		t.Error(found)
	}
}

// onlyHost fails when the tab asked anybody but the server.
func (b *tab) onlyHost(t *testing.T, address string) {
	t.Helper()
	u, err := url.Parse(address)
	check(t, err)
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.hosts[u.Host] {
		t.Error("no request was seen")
	}
	for host := range b.hosts {
		if host != u.Host {
			t.Errorf("a request went to %s", host)
		}
	}
}

// press activates the focused control as a keyboard does.
func (b *tab) press(t *testing.T, keys string) {
	t.Helper()
	check(t, chromedp.Do(b.ctx, chromedp.KeyEvent(keys)))
}

func TestBrowserLanding(t *testing.T) {
	t.Parallel()
	h := open(t)
	b := browse(t)
	for _, report := range []string{demo.DownReport, "price-list", "contract-note"} {
		h.made(t, report)
	}
	b.look(t, 1280, 800, 1, "light")
	b.goTo(t, h.url+"/")
	b.until(t, `document.querySelectorAll('.thumb.drawn').length === 3`)
	for _, nth := range []string{"1", "2", "3"} {
		if n := ask[int](t, b, inkOf(".card:nth-child("+nth+") canvas")); n < 200 {
			t.Errorf("thumbnail %s has %d dark pixels", nth, n)
		}
	}
	if family := ask[bool](t, b, `document.fonts.check('500 20px "Plex Serif"') && document.fonts.check('16px "Plex Sans"')`); !family {
		t.Error("the fonts are not there")
	}
	b.usable(t)

	// The first stop of the keyboard leads past the head of the page.
	b.press(t, "\t")
	if s := ask[string](t, b, `document.activeElement.textContent`); s != "Skip to content" {
		t.Errorf("the first stop is %q", s)
	}

	// A button makes another one, which comes first and is drawn.
	check(t, chromedp.Do(b.ctx, chromedp.Click(chromedp.CSS(`[data-report=invoice]`))))
	b.until(t, `document.getElementById('make-outcome').textContent === 'Invoice made: Facture 2026-0147'`)
	b.until(t, `document.querySelectorAll('.thumb.drawn').length === 4`)
	if s := ask[string](t, b, `document.querySelector('.card h3').textContent`); s != "Facture 2026-0147" {
		t.Errorf("the first is %q", s)
	}
	if s := ask[string](t, b, `document.activeElement.dataset.report`); s != "invoice" {
		t.Errorf("the focus is lost: %q", s)
	}
	if s := ask[string](t, b, `document.getElementById('make-outcome').getAttribute('aria-live')`); s != "polite" {
		t.Errorf("the outcome is not announced: %q", s)
	}

	if href := ask[string](t, b, `document.querySelector('#make-outcome a').getAttribute('href')`); href != ask[string](t, b, `document.querySelector('.card h3 a').getAttribute('href')`) {
		t.Errorf("the outcome leads to %s", href)
	}

	b.look(t, 390, 844, 1, "dark")
	b.usable(t)

	// In the list of another report it leads to the new one, and when no answer comes that is said.
	b.goTo(t, h.url+"/?report=price-list")
	b.until(t, `!document.querySelector('.maker').disabled`)
	check(t, chromedp.Do(b.ctx, chromedp.Click(chromedp.CSS(`[data-report=invoice]`))))
	b.until(t, `document.querySelector('#make-outcome a')?.textContent === 'Facture 2026-0147'`)
	b.onlyHost(t, h.url)
	ask[bool](t, b, `((real) => { window.fetch = (url, ...more) => (String(url).startsWith('/reports/') ? Promise.reject(new TypeError('Failed to fetch')) : real(url, ...more)); return true; })(fetch)`)
	check(t, chromedp.Do(b.ctx, chromedp.Click(chromedp.CSS(`[data-report=invoice]`))))
	b.until(t, `document.getElementById('make-outcome').textContent === 'Invoice was not made: The server did not answer. Try again.'`)
}

// TestBrowserManyDocuments: thumbnails below the window wait until they are
// scrolled to.
func TestBrowserManyDocuments(t *testing.T) {
	t.Parallel()
	h := open(t)
	b := browse(t)
	for range 20 {
		h.made(t, small)
	}
	b.look(t, 1280, 800, 1, "light")
	b.goTo(t, h.url+"/")
	b.until(t, `document.querySelectorAll('.thumb.drawn').length >= 4`)
	if n := ask[int](t, b, `performance.getEntriesByType('resource').filter((e) => e.name.endsWith('.pdf')).length`); n > 12 {
		t.Errorf("%d files were fetched for the first window", n)
	}
	ask[bool](t, b, `(scrollTo(0, document.body.scrollHeight), true)`)
	b.until(t, `document.querySelector('.card:last-child .thumb').classList.contains('drawn')`)
	// Those that were scrolled past are not waited for.
	if n := ask[int](t, b, `document.querySelectorAll('.thumb.drawn').length`); n > 18 {
		t.Errorf("%d thumbnails were drawn before the last", n)
	}
	b.onlyHost(t, h.url)
}

func TestBrowserDocument(t *testing.T) {
	t.Parallel()
	h := open(t)
	b := browse(t)
	d := h.made(t, "price-list")
	b.look(t, 1280, 800, 1, "light")
	b.goTo(t, h.url+"/documents/"+d.ID.String())
	b.until(t, `document.querySelector('.page.drawn') !== null`)
	if n := ask[int](t, b, inkOf(".page canvas")); n < 5000 {
		t.Errorf("page 1 has %d dark pixels", n)
	}
	// The text over the picture is that of the document, at its place.
	b.until(t, `document.querySelector('.page .textLayer').textContent.includes('Silver Needle')`)
	off := ask[float64](t, b, `(() => {
		const span = [...document.querySelectorAll('.textLayer span')].find((s) => s.textContent.includes('Trade prices'));
		const page = document.querySelector('.page').getBoundingClientRect(), box = span.getBoundingClientRect();
		return Math.abs((box.left - page.left) / page.width - 18 / 210);
	})()`)
	if off > 0.01 {
		t.Errorf("the text stands %.3f of a page beside its picture", off)
	}
	if href := ask[string](t, b, `document.querySelector('.page .spot').href`); !strings.HasPrefix(href, "mailto:") && !strings.HasPrefix(href, "https:") {
		t.Errorf("the first link goes to %q", href)
	}
	b.usable(t)

	// Pages by button and keyboard, zoom, and back to the width of the window.
	check(t, chromedp.Do(b.ctx, chromedp.Click(chromedp.CSS(`[data-do=next]`))))
	b.until(t, `document.querySelector('[data-do=page]').value === '2'`)
	b.until(t, `document.querySelectorAll('.page')[1].classList.contains('drawn')`)
	check(t, chromedp.Do(b.ctx, chromedp.Focus(chromedp.CSS(`.pages`))))
	b.press(t, kb.End)
	b.until(t, `document.querySelector('[data-do=page]').value === '4' && document.querySelector('[data-do=next]').ariaDisabled === 'true'`)
	width := ask[float64](t, b, `document.querySelector('.page').getBoundingClientRect().width`)
	check(t, chromedp.Do(b.ctx, chromedp.Click(chromedp.CSS(`[data-do=in]`))))
	if w := ask[float64](t, b, `document.querySelector('.page').getBoundingClientRect().width`); w < 1.2*width {
		t.Errorf("zoomed in from %.0f to %.0f px", width, w)
	}
	check(t, chromedp.Do(b.ctx, chromedp.Click(chromedp.CSS(`[data-do=fit]`))))
	b.until(t, `document.querySelectorAll('.page')[3].classList.contains('drawn')`)
	if w := ask[float64](t, b, `document.querySelector('.page').getBoundingClientRect().width`); w != width {
		t.Errorf("fits at %.0f px, was %.0f", w, width)
	}

	// The answer to "Verify" is announced.
	check(t, chromedp.Do(b.ctx, chromedp.Click(chromedp.CSS(`#remake`))))
	b.until(t, `document.getElementById('answer').classList.contains('identical')`)
	answer := ask[string](t, b, `document.getElementById('answer').textContent`)
	hasAll(t, answer, "Identical, sha256", d.Content.String(), "Rendered again and compared in ")
	if s := ask[string](t, b, `document.getElementById('answer').getAttribute('aria-live')`); s != "polite" {
		t.Errorf("the answer is not announced: %q", s)
	}

	b.look(t, 390, 844, 1, "dark")
	b.until(t, `document.querySelector('.page.drawn') !== null`)
	b.usable(t)
	b.onlyHost(t, h.url)
}

// TestBrowserCopies: the copy button puts the hash on the clipboard and says so.
func TestBrowserCopies(t *testing.T) {
	t.Parallel()
	h := open(t)
	b := browse(t)
	d := h.made(t, "invoice")
	b.goTo(t, h.url+"/documents/"+d.ID.String())
	b.until(t, `!document.querySelector('.copy').hidden`)
	ask[bool](t, b, `(navigator.clipboard.writeText = (s) => { globalThis.copied = s; return Promise.resolve(); }, true)`)
	check(t, chromedp.Do(b.ctx, chromedp.Click(chromedp.CSS(`[aria-label="Copy the content hash"]`))))
	b.until(t, `document.getElementById('announce').textContent === 'Copied.'`)
	if s := ask[string](t, b, `copied`); s != d.Content.String() {
		t.Errorf("copied %q", s)
	}
}

// TestBrowserDamagedFile: bytes that are not those of their hash are never shown;
// the page says so, and so does the proof.
func TestBrowserDamagedFile(t *testing.T) {
	t.Parallel()
	h := open(t)
	b := browse(t)
	d := h.made(t, "invoice")
	var file string
	check(t, filepath.WalkDir(h.blobs, func(path string, _ os.DirEntry, err error) error {
		if err == nil && strings.Contains(strings.ReplaceAll(path, string(filepath.Separator), ""), d.Content.String()[4:]) {
			file = path
		}
		return err
	}))
	bytes, err := os.ReadFile(file)
	check(t, err)
	bytes[len(bytes)/2] ^= 1
	check(t, os.Chmod(file, 0o600))
	check(t, os.WriteFile(file, bytes, 0o600)) //nolint:gosec // a file of the test
	b.goTo(t, h.url+"/documents/"+d.ID.String())
	b.until(t, `document.querySelector('.pages').textContent.includes('cannot be shown')`)
	check(t, chromedp.Do(b.ctx, chromedp.Click(chromedp.CSS(`#remake`))))
	b.until(t, `document.getElementById('restore') !== null`)
	if s := ask[string](t, b, `document.querySelector('#answer strong').textContent`); s != "The stored bytes are damaged" {
		t.Errorf("headed %q", s)
	}
	if good := ask[bool](t, b, `document.getElementById('answer').classList.contains('identical')`); good {
		t.Error("a damaged file is called identical")
	}
	// The page says of the file what the server says.
	_, told := h.send(t, http.MethodGet, "/d/"+d.Content.String()+".pdf", "", "Accept: application/problem+json")
	var problem struct{ Detail string }
	check(t, json.Unmarshal([]byte(told), &problem))
	hasAll(t, ask[string](t, b, `document.querySelector('.pages').textContent`), problem.Detail)
	b.forgive() // the browser notes the failed requests

	// Restored, the file is that of the receipt again.
	check(t, chromedp.Do(b.ctx, chromedp.Click(chromedp.CSS(`#restore`))))
	b.until(t, `document.getElementById('answer').classList.contains('identical')`)
	hasAll(t, ask[string](t, b, `document.getElementById('answer').textContent`), "restored")
	if s := ask[string](t, b, focused); s != "remake" {
		t.Errorf("the focus went to %q", s)
	}
	if _, pdf := h.page(t, "/d/"+d.Content.String()+".pdf"); record.Sum([]byte(pdf)) != d.Content {
		t.Error("the restored file is another")
	}
}

// focused is the control that has the focus, by what it does.
const focused = `(() => { const e = document.activeElement; return e.dataset.do || e.dataset.report || e.id || e.localName; })()`

// TestBrowserFocusStays: a control that has nothing more to do keeps the focus of
// the keyboard (WCAG 2.2, 2.4.3 and 3.2.2), and what it did is said.
func TestBrowserFocusStays(t *testing.T) {
	t.Parallel()
	h := open(t)
	b := browse(t)
	d := h.made(t, small)
	b.goTo(t, h.url+"/documents/"+d.ID.String())
	b.until(t, `document.querySelector('.page.drawn') !== null`)
	stays := func(selector string) {
		t.Helper()
		if now := ask[string](t, b, focused); !ask[bool](t, b, `document.activeElement === document.querySelector('`+selector+`')`) {
			t.Errorf("the focus went from %s to %s", selector, now)
		}
	}
	said := func(text string) {
		t.Helper()
		b.until(t, `document.getElementById('announce').textContent === '`+text+`'`)
	}
	ask[bool](t, b, `(document.querySelector('[data-do=next]').focus(), true)`)
	for _, page := range []string{"2", "3"} {
		b.press(t, kb.Enter)
		said("Page " + page + " of 3")
		stays("[data-do=next]")
	}
	b.press(t, kb.Enter)
	said("This is the last page.")
	stays("[data-do=next]")
	ask[bool](t, b, `(document.querySelector('[data-do=prev]').focus(), true)`)
	for _, page := range []string{"2", "1"} {
		b.press(t, kb.Enter)
		said("Page " + page + " of 3")
	}
	stays("[data-do=prev]")
	b.press(t, kb.Enter)
	said("This is the first page.")
	for _, way := range []struct{ button, limit, words string }{
		{"in", "300\u00a0%", "It cannot be larger."}, {"out", "30\u00a0%", "It cannot be smaller."},
	} {
		ask[bool](t, b, `(document.querySelector('[data-do=`+way.button+`]').focus(), true)`)
		for range 12 {
			b.press(t, kb.Enter)
		}
		said(way.words)
		stays("[data-do=" + way.button + "]")
		if s := ask[string](t, b, `document.querySelector('[data-zoom]').textContent`); s != way.limit {
			t.Errorf("zoomed to %q, want %q", s, way.limit)
		}
	}
	// The number of the page follows the buttons where several pages are in sight.
	ask[bool](t, b, `(document.querySelector('[data-do=next]').focus(), true)`)
	for _, page := range []string{"2", "3"} {
		b.press(t, kb.Enter)
		said("Page " + page + " of 3")
	}
	ask[bool](t, b, `(document.getElementById('remake').focus(), true)`)
	b.press(t, kb.Enter)
	b.until(t, `document.getElementById('answer').classList.contains('identical')`)
	stays("#remake")

	// The same where documents are made, while it is going on and after.
	b.goTo(t, h.url+"/")
	b.until(t, `!document.querySelector('.maker').disabled`)
	ask[bool](t, b, `(document.querySelector('[data-report=contract-note]').focus(), true)`)
	b.press(t, kb.Enter)
	b.press(t, kb.Enter) // what is busy makes no second one
	stays("[data-report=contract-note]")
	b.until(t, `document.getElementById('make-outcome').textContent.startsWith('Contract note made: ')`)
	stays("[data-report=contract-note]")
	if n := ask[int](t, b, `document.querySelectorAll('.card').length`); n != 2 {
		t.Errorf("%d documents", n)
	}
	// Who has gone on in the meantime is left where he is.
	b.press(t, kb.Enter)
	ask[bool](t, b, `(document.querySelector('.card:last-child h3 a').focus(), true)`)
	b.until(t, `document.querySelectorAll('.card').length === 3 && document.getElementById('make-outcome').textContent !== ''`)
	stays(".card:last-child h3 a")
}

// crowded tells of words of the pipeline that are cut in two, overlap or nearly
// touch.
const crowded = `(() => {
	const out = [];
	const room = 6;
	for (const strip of document.querySelectorAll('.strip')) {
		const boxes = [...strip.querySelectorAll('.name,.took')].map((e) => {
			const range = document.createRange();
			range.selectNodeContents(e);
			if (e.querySelector('.quiet')) range.setEndBefore(e.querySelector('.quiet'));
			if (range.getClientRects().length > 1) out.push(e.textContent + ' is broken');
			return { text: e.textContent, r: range.getBoundingClientRect() };
		});
		for (const [i, a] of boxes.entries()) {
			if (a.r.right > strip.closest('.card,.title-row').getBoundingClientRect().right) out.push(a.text + ' leaves its card');
			for (const b of boxes.slice(i + 1)) {
				if (a.r.left < b.r.right + room && b.r.left < a.r.right + room && a.r.top < b.r.bottom - 2 && b.r.top < a.r.bottom - 2) out.push(a.text + ' touches ' + b.text);
			}
		}
	}
	return out.join('\n');
})()`

// TestBrowserNarrow: the pipeline is legible in a window of 320 px (WCAG 2.2,
// 1.4.10), with text of twice the size as well (1.4.4), and no value is parted
// from its unit.
func TestBrowserNarrow(t *testing.T) {
	t.Parallel()
	h := open(t)
	b := browse(t)
	d := h.made(t, demo.DownReport)
	// A title may be one word, and longer than a line.
	long, err := record.NewTemplate("long", "long.yaml", map[string][]byte{"long.yaml": []byte(
		"quire: 1\nname: long\nlang: de\ntitle: " + strings.Repeat("Donaudampfschifffahrt", 5) + "_2026\nbody: [{heading: Lang, level: 1}]\n",
	)})
	check(t, err)
	wide, err := h.maker.Make(t.Context(), record.Request{Space: record.Local, Inline: long, Data: []byte("{}"), Time: h.later()})
	check(t, err)
	for _, path := range []string{"/documents/" + d.ID.String(), "/documents/" + wide.Document.ID.String(), "/"} {
		b.look(t, 1280, 800, 1, "light")
		b.goTo(t, h.url+path)
		b.until(t, `document.querySelector('.drawn') !== null`)
		ask[bool](t, b, `(document.querySelectorAll('.card').forEach((c) => { c.style.contentVisibility = 'visible'; }), true)`)
		for _, width := range []int64{1280, 768, 640, 414, 375, 320} {
			b.look(t, width, 800, 1, "light")
			for _, text := range []string{"100%", "200%"} {
				if width < 640 && text == "200%" { // as wide as half of it
					continue
				}
				ask[bool](t, b, `(document.documentElement.style.fontSize = '`+text+`', true)`)
				if found := ask[string](t, b, crowded); found != "" {
					t.Errorf("%s at %d px, text %s:\n%s", path, width, text, found)
				}
				b.usable(t)
				ask[bool](t, b, `(document.documentElement.style.fontSize = '', true)`)
			}
		}
	}
	if loose := ask[string](t, b, `(document.body.innerText.match(/\d (kB|ms|µs|s|pages?|bytes)\b/) ?? [''])[0]`); loose != "" {
		t.Errorf("%q may be broken", loose)
	}
}

// TestBrowserFillsTheWindow: the footer stands at the foot of a window that is not full, and the
// viewer is as high as the window and stays in it while the receipt is read.
func TestBrowserFillsTheWindow(t *testing.T) {
	t.Parallel()
	h := open(t)
	b := browse(t)
	b.look(t, 1280, 1200, 1, "light")
	b.goTo(t, h.url+"/")
	if gap := ask[float64](t, b, `innerHeight - document.querySelector('.foot').getBoundingClientRect().bottom`); gap < -1 || gap > 1 {
		t.Errorf("the footer ends %.0f px above the foot of the window", gap)
	}
	d := h.made(t, "service-report")
	b.look(t, 1280, 700, 1, "light")
	b.goTo(t, h.url+"/documents/"+d.ID.String())
	b.until(t, `document.querySelector('.page.drawn') !== null`)
	ask[bool](t, b, `(scrollTo(0, document.body.scrollHeight - innerHeight - 200), true)`)
	box := ask[[2]float64](t, b, `(({ top, height }) => [top, height])(document.querySelector('.viewer').getBoundingClientRect())`)
	if box[0] < 0 || box[0] > 20 || box[1] < 660 || box[1] > 700 {
		t.Errorf("the viewer stands at %.0f px, %.0f px high, in a window of 700", box[0], box[1])
	}
}

// TestBrowserWithoutScripts: what pages say without JavaScript is true, and leads on.
func TestBrowserWithoutScripts(t *testing.T) {
	t.Parallel()
	h := open(t)
	b := browse(t)
	d := h.made(t, "invoice")
	b.withoutScripts(t)
	for _, width := range []int64{320, 1280} {
		b.look(t, width, 800, 1, "light")
		b.goTo(t, h.url+"/")
		text := ask[string](t, b, `document.body.innerText`)
		if n := ask[int](t, b, `[...document.querySelectorAll('.thumb')].filter((e) => e.checkVisibility()).length`); n != 0 {
			t.Errorf("%d pictures stay empty", n)
		}
		hasAll(t, text, "These buttons need JavaScript", "curl --fail-with-body -sS "+h.url+"/reports/contract-note/request.json |")
		b.usable(t)
		b.goTo(t, h.url+"/documents/"+d.ID.String())
		text = ask[string](t, b, `document.body.innerText`)
		hasAll(t, text, "Open the PDF", "The command below", h.url+"/v1/documents/"+d.ID.String()+"/verify")
		if strings.Contains(text, "Opening") {
			t.Errorf("something is promised that never comes:\n%s", text)
		}
		if href := ask[string](t, b, `document.querySelector('.pages a').getAttribute('href')`); href != "/d/"+d.Content.String()+".pdf" {
			t.Errorf("the PDF is at %s", href)
		}
		if n := ask[int](t, b, `[...document.querySelectorAll('button')].filter((e) => e.checkVisibility()).length`); n != 0 {
			t.Errorf("%d buttons do nothing", n)
		}
		if gap := ask[float64](t, b, `(() => {
			const range = document.createRange();
			range.selectNodeContents(document.querySelector('.pages'));
			return range.getBoundingClientRect().left - document.querySelector('.viewer').getBoundingClientRect().left;
		})()`); gap < 8 {
			t.Errorf("the text is %.0f px from the edge", gap)
		}
		b.usable(t)
	}
}
