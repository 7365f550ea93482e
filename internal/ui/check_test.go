//go:build !race

package ui_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/dom"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// dropped drops a file on the page as a person does: the bytes of an address, changed by a
// JavaScript expression over them.
func (b *tab) dropped(t *testing.T, address, change string) {
	t.Helper()
	ask[bool](t, b, `globalThis.held = true, (async () => {
		const bytes = new Uint8Array(await (await fetch('`+address+`')).arrayBuffer());
		const file = new File([((bytes) => { `+change+`; return bytes; })(bytes)], 'from-a-mail.pdf', { type: 'application/pdf' });
		const data = new DataTransfer();
		data.items.add(file);
		const event = (type) => document.querySelector('main').dispatchEvent(new DragEvent(type, { dataTransfer: data, bubbles: true, cancelable: true }));
		event('dragover');
		globalThis.invited = !document.getElementById('drop').hidden;
		event('drop');
		globalThis.held = false;
	})(), true`)
	b.until(t, `!held`)
}

// told waits for the answer to a dropped file and returns it.
func (b *tab) told(t *testing.T, kind string) string {
	t.Helper()
	b.until(t, `document.querySelector('#check .answer').classList.contains('`+kind+`')`)
	return ask[string](t, b, `document.querySelector('#check .answer').innerText`)
}

// TestBrowserDroppedFile: a PDF that is dropped on a page is compared with the document that it
// names, and what became of it is said, shown and announced.
func TestBrowserDroppedFile(t *testing.T) {
	t.Parallel()
	h := open(t)
	b := browse(t)
	d := h.made(t, "price-list")
	pdf := "/d/" + d.Content.String() + ".pdf"
	b.look(t, 1280, 800, 1, "light")
	b.goTo(t, h.url+"/")
	b.until(t, `!document.querySelector('.choose').hidden`)

	b.dropped(t, pdf, ``)
	hasAll(t, b.told(t, "identical"), "Identical", d.Content.String(), "Document of record: "+d.Title)
	if !ask[bool](t, b, `invited && document.getElementById('drop').hidden`) {
		t.Error("while a file is held over the page, nothing says that it may be dropped")
	}
	b.until(t, `document.querySelector('#check .page.drawn') !== null`)
	if n := ask[int](t, b, inkOf("#check .page canvas")); n < 5000 {
		t.Errorf("the checked file has %d dark pixels", n)
	}
	if s := ask[string](t, b, `document.querySelector('#check .answer').getAttribute('aria-live')`); s != "polite" {
		t.Errorf("the answer is not announced: %q", s)
	}
	b.usable(t)

	// A file of another document, of which one stands on the page.
	b.goTo(t, h.url+"/documents/"+h.made(t, small).ID.String())
	b.until(t, `!document.querySelector('.choose').hidden`)
	b.dropped(t, pdf, ``)
	hasAll(t, b.told(t, "identical"), "Document of record: "+d.Title)
	b.press(t, kb.Escape)
	b.until(t, `!document.getElementById('check').open`)

	// What names no document of this server is not sent to it.
	b.dropped(t, pdf, `const text = new TextDecoder('latin1').decode(bytes);
		for (const m of text.matchAll(/`+d.ID.String()+`/g)) bytes[m.index] = bytes[m.index] === 48 ? 49 : 48`)
	hasAll(t, b.told(t, "unknown"), "Unknown here", "names no document that this server has")
	if n := ask[int](t, b, `performance.getEntriesByType('resource').filter((e) => e.name.endsWith('/verify')).length`); n != 1 {
		t.Errorf("%d files were sent, want that of the known document alone", n)
	}
	b.dropped(t, pdf, `return new Uint8Array([1, 2, 3])`)
	hasAll(t, b.told(t, "unknown"), "Unknown here")
	b.until(t, `document.querySelector('#check .pages').textContent.includes('cannot be shown: it is empty, damaged or no PDF file.')`)
	b.forgive() // the browser notes the 404 of the id that nobody knows
}

// TestBrowserDroppedFileDiffers: of a file that was changed the answer names byte and page, and
// the page is shown with what differs marked on it.
func TestBrowserDroppedFileDiffers(t *testing.T) {
	t.Parallel()
	h := open(t)
	b := browse(t)
	d := h.made(t, small)
	pdf := "/d/" + d.Content.String() + ".pdf"
	b.look(t, 1280, 800, 1, "dark")
	b.goTo(t, h.url+"/")
	b.until(t, `!document.querySelector('.choose').hidden`)

	// Another title within the metadata changes no page.
	b.dropped(t, pdf, `const at = new TextDecoder('latin1').decode(bytes).indexOf('Small</rdf:li>'); bytes[at] = 84; globalThis.at = at`)
	text := b.told(t, "differs")
	b.until(t, `document.querySelector('#check .answer').innerText.includes('No page looks different.')`)
	hasAll(t, text, "Differs at byte "+ask[string](t, b, `String(at)`))

	// The operators of the third page draw its text a little lower; the length of the file stays.
	_, moved := h.page(t, pdf)
	lines := regexp.MustCompile(`BT\n/F\d 10 Tf\n[\d.]+ ([2-9])\d(?:\.\d+)? Td`).FindStringSubmatchIndex(moved)
	if lines == nil {
		t.Fatal("no line of text at the foot of the third page")
	}
	at := lines[2]
	moved = moved[:at] + string(moved[at]-1) + moved[at+1:]
	file := filepath.Join(t.TempDir(), "moved.pdf")
	check(t, os.WriteFile(file, []byte(moved), 0o600))
	// This time by the button, as the keyboard does it.
	nodes, err := chromedp.Run(b.ctx, chromedp.Nodes(chromedp.CSS(`#check-file`)))
	check(t, err)
	b.press(t, kb.Escape)
	b.until(t, `!document.getElementById('check').open`)
	_, err = chromedp.Call(b.ctx, dom.SetFileInputFiles, dom.SetFileInputFilesParams{Files: []string{file}, NodeID: nodes[0].NodeID})
	check(t, err)
	b.until(t, `document.querySelector('#check .answer').innerText.includes(', on page 3')`)
	hasAll(t, b.told(t, "differs"), fmt.Sprintf("Differs at byte %d, on page 3", at), "Document of record: Small")
	b.until(t, `document.querySelector('#check .page.differs.drawn') !== null`)
	if n := ask[string](t, b, `document.querySelector('#check .page.differs').dataset.n`); n != "3" {
		t.Errorf("page %s is marked", n)
	}
	if n := ask[string](t, b, `document.querySelector('#check [data-do=page]').value`); n != "3" {
		t.Errorf("page %s is shown", n)
	}
	if s := ask[string](t, b, `document.querySelector('#check .page.differs canvas').ariaLabel`); !strings.HasSuffix(s, ", which differs") {
		t.Errorf("the page is called %q", s)
	}
	if !ask[bool](t, b, `(() => {
		const mark = document.querySelector('.difference').getBoundingClientRect(), view = document.querySelector('#check .pages').getBoundingClientRect();
		return mark.top >= view.top && mark.bottom <= view.bottom;
	})()`) {
		t.Error("what differs is not in view")
	}
	// The mark is around the line of text: neither nothing nor the whole page.
	if share := ask[float64](t, b, `(() => {
		const mark = document.querySelector('.difference').getBoundingClientRect(), page = document.querySelector('.page.differs').getBoundingClientRect();
		return mark.height / page.height;
	})()`); share < 0.01 || share > 0.3 {
		t.Errorf("the mark takes %.3f of the page's height", share)
	}
	b.usable(t)
	b.look(t, 320, 640, 1, "light")
	b.usable(t)
	b.onlyHost(t, h.url)
}
