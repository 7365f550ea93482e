//go:build !race

package ui_test

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
)

// droppedFromDisk drops files and folders as a file manager does.
func (b *tab) droppedFromDisk(t *testing.T, names ...string) {
	t.Helper()
	data := &input.DragData{Items: []*input.DragDataItem{}, Files: names, DragOperationsMask: 1}
	for _, event := range []input.DispatchDragEventType{input.DispatchDragEventTypeDragEnter, input.DispatchDragEventTypeDragOver, input.DispatchDragEventTypeDrop} {
		_, err := chromedp.Call(b.ctx, input.DispatchDragEvent, input.DispatchDragEventParams{Type: event, X: 200, Y: 200, Data: data})
		check(t, err)
	}
}

// submitted presses the button and waits until the answer has the words.
func (b *tab) submitted(t *testing.T, words string) {
	t.Helper()
	check(t, chromedp.Do(b.ctx, chromedp.Click(chromedp.CSS(`#run`))))
	b.until(t, `document.getElementById('answer').innerText.includes('`+words+`') && document.getElementById('run').ariaDisabled !== 'true'`)
}

// TestBrowserToolTellsOfFilesThatItCannotTake: folders, too many files, files that are gone, and
// those that want a password, at the place where that is mended.
func TestBrowserToolTellsOfFilesThatItCannotTake(t *testing.T) {
	t.Parallel()
	h := open(t)
	b := browse(t)
	b.look(t, 1280, 900, 1, "light")
	dir := t.TempDir()
	_, content := h.page(t, "/d/"+h.made(t, small).Content.String()+".pdf")
	name := filepath.Join(dir, "some.pdf")
	check(t, os.WriteFile(name, []byte(content), 0o600))

	b.tool(t, h, "merge")
	b.droppedFromDisk(t, dir)
	b.until(t, `document.getElementById('answer').innerText.includes('A folder was not added')`)
	if n := ask[int](t, b, `document.querySelectorAll('#chosen > li').length`); n != 0 {
		t.Errorf("%d files of a folder", n)
	}
	b.usable(t)

	b.droppedFromDisk(t, name)
	b.until(t, `document.querySelectorAll('#chosen .sheet.drawn').length === 1`)
	if s := ask[string](t, b, `document.getElementById('answer').innerText`); s != "" {
		t.Errorf("it still says %q", s)
	}
	check(t, os.Remove(name))
	b.submitted(t, "some.pdf can no longer be read here. Choose it again.")

	// Without the file nothing is said of it.
	check(t, chromedp.Do(b.ctx, chromedp.Click(chromedp.CSS(`[aria-label="Remove some.pdf"]`))))
	if s := ask[string](t, b, `document.getElementById('answer').innerText`); s != "" {
		t.Errorf("it still says %q", s)
	}

	// A field of the form that is missing is named.
	b.tool(t, h, "rotate")
	b.given(t, [2]string{"a.pdf", "/d/" + h.made(t, small).Content.String() + ".pdf"}, [2]string{"b.pdf", "/tools"})
	b.until(t, `document.getElementById('answer').innerText.includes('At most one file is allowed. Added: a.pdf.')`)
	b.submitted(t, "Degrees\\nThis field is required.")

	// What is wrong with the file is told of the file.
	b.tool(t, h, "flatten")
	b.given(t, [2]string{"a.pdf", "/d/" + h.made(t, small).Content.String() + ".pdf"})
	b.submitted(t, "File\\nGot a file without form fields")
	if s := ask[string](t, b, focused); s != "add" {
		t.Errorf("the focus went to %q", s)
	}

	// What is wrong with a value or a step is told where it was written.
	b.tool(t, h, "pipe")
	b.given(t, [2]string{"a.pdf", "/d/" + h.made(t, small).Content.String() + ".pdf"})
	ask[bool](t, b, `(document.querySelector('[data-part=steps]').value = '[{"rotate": {"degree": 90}}]', true)`)
	b.submitted(t, "steps[0].rotate.degree\\nGot an unknown parameter")
	if s := ask[string](t, b, `document.activeElement.dataset.part + ' ' + document.activeElement.getAttribute('aria-invalid')`); s != "steps true" {
		t.Errorf("the focus went to %q", s)
	}

	// A password is missing: its field has the focus.
	b.tool(t, h, "rotate")
	b.dropping(t, `new File([await (await fetch('/v1/pdf/encrypt', { method: 'POST', body: await (async () => {
		const form = new FormData();
		form.append('file', await (await fetch('/d/`+h.made(t, small).Content.String()+`.pdf')).blob(), 'a.pdf');
		form.append('owner', 'boss');
		form.append('user', 'reader');
		return form;
	})() })).arrayBuffer()], 'locked.pdf', { type: 'application/pdf' })`)
	b.until(t, `document.getElementById('chosen').innerText.includes('The file is encrypted. Enter its password in the settings.')`)
	check(t, chromedp.Do(b.ctx, chromedp.SendKeys(chromedp.CSS(`[name=degrees]`), "90")))
	b.submitted(t, "locked.pdf: the file is encrypted and opens with a password only")
	if s := ask[string](t, b, `document.activeElement.name + ' ' + document.activeElement.getAttribute('aria-invalid')`); s != "password true" {
		t.Errorf("the focus went to %q", s)
	}
	b.usable(t)
	b.forgive()
}

// TestBrowserCheckTellsOfFolders: a folder that is dropped on another page is no broken file.
func TestBrowserCheckTellsOfFolders(t *testing.T) {
	t.Parallel()
	h := open(t)
	b := browse(t)
	b.look(t, 1280, 900, 1, "light")
	b.goTo(t, h.url+"/")
	b.droppedFromDisk(t, t.TempDir())
	b.until(t, `document.getElementById('check').open && document.querySelector('#check .answer').innerText.includes('A folder cannot be checked')`)
	b.usable(t)
}

// TestBrowserToolShowsWhatBecameOfTheFile: signatures that are void and what was repaired are told
// beside the file, and a file that was made of something else does not stay there.
func TestBrowserToolShowsWhatBecameOfTheFile(t *testing.T) {
	t.Parallel()
	h := open(t)
	made := h.made(t, small).Content.String()
	_, content := h.page(t, "/d/"+made+".pdf")
	var fails atomic.Bool
	told := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.Method != http.MethodPost:
			h.app.ServeHTTP(w, r)
		case fails.Load():
			w.Header().Set("Content-Type", "application/problem+json")
			w.WriteHeader(http.StatusBadRequest)
			_, _ = w.Write([]byte(`{"title": "The request is not valid", "detail": "no"}`)) // the browser is there
		default:
			w.Header().Set("Quire-Summary", `{"pages":3,"void_signatures":["Boss"],"warnings":["repaired: some.pdf: no header"]}`)
			w.Header().Set("Content-Type", "application/pdf")
			_, _ = w.Write([]byte(content)) // the browser is there
		}
	}))
	t.Cleanup(told.Close)
	b := browse(t)
	b.look(t, 1280, 900, 1, "light")
	b.goTo(t, told.URL+"/tools/optimise")
	b.until(t, `document.getElementById('tool')?.hidden === false`)
	b.given(t, [2]string{"some.pdf", "/d/" + made + ".pdf"})
	b.submitted(t, "Created")
	hasAll(t, ask[string](t, b, `document.getElementById('made').innerText`), "The signature Boss is not valid for the new file", "repaired: some.pdf: no header")
	b.usable(t)
	if s := ask[string](t, b, `[...document.querySelectorAll('.sheets')].filter((e) => e.tabIndex !== 0 || /undefined/.test(e.ariaLabel + e.innerHTML)).map((e) => e.ariaLabel).join()`); s != "" {
		t.Errorf("lists of pages that do not scroll by keyboard, or have no name: %s", s)
	}
	fails.Store(true)
	b.submitted(t, "The request is not valid")
	if !ask[bool](t, b, `document.getElementById('result').hidden && document.querySelector('#made a') === null`) {
		t.Error("the file of before still stands there")
	}
	b.forgive()
}

// TestBrowserToolListsFilesInNarrowWindows: names have the width of the window beside no thumbnail.
func TestBrowserToolListsFilesInNarrowWindows(t *testing.T) {
	t.Parallel()
	h := open(t)
	b := browse(t)
	b.look(t, 320, 800, 1, "dark")
	b.tool(t, h, "merge")
	b.given(t, [2]string{"a-name-that-is-as-long-as-names-of-files-are.pdf", "/d/" + h.made(t, small).Content.String() + ".pdf"}, [2]string{"no.pdf", "/tools"})
	b.until(t, `document.querySelectorAll('#chosen .sheet.drawn').length === 1 && document.getElementById('chosen').innerText.includes('The file cannot be shown here.')`)
	if narrow := ask[string](t, b, `[...document.querySelectorAll('.file-name, #chosen > li > .fine')].filter((e) => e.getBoundingClientRect().width < 200).map((e) => e.outerHTML).join('\n')`); narrow != "" {
		t.Errorf("narrower than 200 px:\n%s", narrow)
	}
	b.usable(t)
	b.look(t, 1280, 800, 1, "light")
	b.usable(t)
	b.forgive()
}
