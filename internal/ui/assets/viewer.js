import { announce, enable, enabled, problem } from './page.js';
import { draw, open } from './pdf.js';

// show draws a document page by page: that of a URL, or of bytes. Pages are drawn
// when they come near the window and dropped when they are far from it, so that a
// document of thousands of pages costs no more memory than one of a few. It returns
// null when the document cannot be shown. When signal aborts, what is held is freed.
export async function show(viewer, source, signal) {
  const stage = viewer.querySelector('.pages');
  stage.replaceChildren(note('Opening the document…'));
  let opened;
  try {
    opened = await open(source);
  } catch (err) {
    stage.replaceChildren(note(`The document cannot be shown: ${await reason(source, err)}`));
    return null;
  }
  const { pdfjs, pdf } = opened;
  if (signal?.aborted) {
    opened.close();
    return null;
  }
  signal?.addEventListener('abort', () => opened.close());

  const first = (await pdf.getPage(1)).getViewport({ scale: 1 });
  const sheets = [];
  stage.replaceChildren();
  for (let n = 1; n <= pdf.numPages; n++) {
    const sheet = document.createElement('div');
    sheet.className = 'page';
    sheet.dataset.n = n;
    stage.append(sheet);
    sheets.push({ n, sheet, width: first.width, height: first.height, task: null, drawn: 0, marks: [] });
  }

  const tool = (name) => viewer.querySelector(`[data-do=${name}]`);
  const zoomText = viewer.querySelector('[data-zoom]');
  let fit = true;
  let scale = 1;
  let current = 1;
  let led = true; // to the current page by a control, rather than by scrolling

  function fitScale() {
    const style = getComputedStyle(stage);
    const room = stage.clientWidth - parseFloat(style.paddingLeft) - parseFloat(style.paddingRight);
    return Math.min(Math.max(room, 120) / first.width, 2.5);
  }

  function size(s) {
    s.sheet.style.setProperty('--w', Math.round(s.width * scale));
    s.sheet.style.setProperty('--h', Math.round(s.height * scale));
    s.sheet.style.setProperty('--total-scale-factor', scale);
    s.sheet.style.setProperty('--scale-round-x', '1px');
    s.sheet.style.setProperty('--scale-round-y', '1px');
  }

  function layout() {
    const at = current;
    if (fit) scale = fitScale();
    for (const s of sheets) size(s);
    zoomText.textContent = `${Math.round(scale * 100 * 72 / 96)}\u00a0%`;
    enable(tool('out'), scale > 0.4);
    enable(tool('in'), scale < 4);
    go(at, false);
    for (const s of sheets) if (s.near) render(s);
  }

  async function render(s) {
    if (s.drawn === scale) return;
    s.task?.cancel();
    const wanted = scale;
    s.drawn = wanted;
    try {
      const page = await pdf.getPage(s.n);
      const viewport = page.getViewport({ scale: wanted });
      const natural = page.getViewport({ scale: 1 });
      if (natural.width !== s.width || natural.height !== s.height) {
        s.width = natural.width;
        s.height = natural.height;
        size(s);
      }
      const canvas = document.createElement('canvas');
      canvas.setAttribute('role', 'img');
      canvas.setAttribute('aria-label', `Page ${s.n} of ${viewer.dataset.title}${s.marks.length > 0 ? ', which differs' : ''}`);
      s.task = draw(page, canvas, viewport.width);
      await s.task.promise;
      const text = document.createElement('div');
      text.className = 'textLayer';
      await new pdfjs.TextLayer({ textContentSource: page.streamTextContent(), container: text, viewport }).render();
      const links = await spots(page, viewport);
      if (s.drawn === wanted) {
        const held = [...s.sheet.querySelectorAll('.spot')].indexOf(document.activeElement);
        s.sheet.replaceChildren(canvas, text, ...links, ...s.marks);
        links[held]?.focus({ preventScroll: true });
        s.sheet.classList.add('drawn');
      }
    } catch (err) {
      if (err?.name === 'RenderingCancelledException') return;
      s.drawn = 0;
      s.sheet.replaceChildren(note(`Page ${s.n} cannot be drawn: ${err.message}`));
    }
  }

  // spots are the links of a page, over its picture.
  async function spots(page, viewport) {
    const out = [];
    for (const a of await page.getAnnotations({ intent: 'display' })) {
      if (a.subtype !== 'Link' || !(a.url || a.dest)) continue;
      const [x1, y1] = viewport.convertToViewportPoint(a.rect[0], a.rect[1]);
      const [x2, y2] = viewport.convertToViewportPoint(a.rect[2], a.rect[3]);
      const link = document.createElement('a');
      link.className = 'spot';
      link.ariaLabel = a.contentsObj?.str || a.url || 'Link in this document';
      link.style.left = `${Math.min(x1, x2) / viewport.width * 100}%`;
      link.style.top = `${Math.min(y1, y2) / viewport.height * 100}%`;
      link.style.width = `${Math.abs(x2 - x1) / viewport.width * 100}%`;
      link.style.height = `${Math.abs(y2 - y1) / viewport.height * 100}%`;
      if (a.url) {
        link.href = a.url;
        link.target = '_blank';
        link.rel = 'noopener noreferrer';
      } else {
        link.href = '#';
        link.addEventListener('click', async (event) => {
          event.preventDefault();
          const dest = typeof a.dest === 'string' ? await pdf.getDestination(a.dest) : a.dest;
          if (!dest?.[0]) return;
          const n = await pdf.getPageIndex(dest[0]) + 1;
          stage.focus({ preventScroll: true });
          turn(n);
        });
      }
      out.push(link);
    }
    return out;
  }

  function drop(s) {
    if (s.sheet.contains(document.activeElement)) return; // it would lose the focus
    s.task?.cancel();
    s.task = null;
    s.drawn = 0;
    s.sheet.replaceChildren(...s.marks);
    s.sheet.classList.remove('drawn');
  }

  const near = new IntersectionObserver((entries) => {
    for (const entry of entries) {
      const s = sheets[entry.target.dataset.n - 1];
      s.near = entry.isIntersecting;
      if (s.near) render(s);
      else if (s.drawn) drop(s);
    }
  }, { root: stage, rootMargin: '150% 0px' });

  function go(n, smooth = true) {
    const target = sheets[Math.min(Math.max(n, 1), sheets.length) - 1];
    const calm = !smooth || matchMedia('(prefers-reduced-motion: reduce)').matches;
    stage.scrollTo({ top: target.sheet.offsetTop - sheets[0].sheet.offsetTop, behavior: calm ? 'instant' : 'smooth' });
    here(target.n);
  }

  function here(n) {
    current = n;
    tool('page').value = n;
    enable(tool('prev'), n > 1);
    enable(tool('next'), n < sheets.length);
  }

  // turn goes to a page that somebody asked for, and says where that is.
  function turn(n) {
    if (n < 1) return announce('This is the first page.');
    if (n > sheets.length) return announce('This is the last page.');
    led = true;
    go(n);
    return announce(`Page ${n} of ${sheets.length}`);
  }

  // Where several pages are in sight, or the last is short, the place of the
  // scroll does not tell which of them was asked for.
  for (const type of ['wheel', 'touchmove', 'pointerdown', 'keydown', 'focusin']) {
    stage.addEventListener(type, () => { led = false; }, { passive: true });
  }

  stage.addEventListener('scroll', () => {
    if (led) return;
    const middle = stage.scrollTop + stage.clientHeight / 3;
    let n = 1;
    for (const s of sheets) {
      if (s.sheet.offsetTop - sheets[0].sheet.offsetTop <= middle) n = s.n;
      else break;
    }
    if (n !== current) here(n);
  }, { passive: true });

  function zoom(by) {
    if (by > 1 && !enabled(tool('in'))) return announce('It cannot be larger.');
    if (by > 0 && by < 1 && !enabled(tool('out'))) return announce('It cannot be smaller.');
    fit = by === 0;
    if (!fit) scale = Math.min(Math.max(scale * by, 0.4), 4);
    led = true;
    return layout();
  }

  tool('prev').addEventListener('click', () => turn(current - 1));
  tool('next').addEventListener('click', () => turn(current + 1));
  tool('out').addEventListener('click', () => zoom(1 / 1.25));
  tool('in').addEventListener('click', () => zoom(1.25));
  tool('fit').addEventListener('click', () => zoom(0));
  tool('page').addEventListener('change', () => {
    const n = Number.parseInt(tool('page').value, 10) || current;
    turn(Math.min(Math.max(n, 1), sheets.length));
  });
  stage.addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const act = { ArrowLeft: () => turn(current - 1), ArrowRight: () => turn(current + 1), Home: () => turn(1), End: () => turn(sheets.length),
      '+': () => zoom(1.25), '-': () => zoom(1 / 1.25), 0: () => zoom(0) }[event.key];
    if (!act) return;
    event.preventDefault();
    act();
  });

  // mark shows the page that differs, and within it the box that does, in shares
  // of the page.
  function mark(n, box) {
    const s = sheets[n - 1];
    s.sheet.classList.add('differs');
    const spot = document.createElement('div');
    spot.className = 'difference';
    spot.setAttribute('aria-hidden', 'true'); // the answer says it
    for (const [side, share] of Object.entries(box ?? { left: 0, top: 0, width: 1, height: 1 })) spot.style[side] = `${share * 100}%`;
    s.marks = [spot];
    s.sheet.append(spot);
    s.sheet.querySelector('canvas')?.setAttribute('aria-label', `Page ${n} of ${viewer.dataset.title}, which differs`);
    led = true;
    go(n, false);
    // What differs may stand at the foot of the page.
    stage.scrollBy({ top: Math.max(spot.offsetTop - stage.clientHeight / 3, 0), behavior: 'instant' });
  }

  viewer.querySelector('[data-pages]').textContent = pdf.numPages;
  viewer.querySelector('.tools').hidden = false;
  layout();
  here(1);
  for (const s of sheets) near.observe(s.sheet);
  let width = stage.clientWidth;
  new ResizeObserver(() => {
    if (fit && Math.abs(stage.clientWidth - width) > 1) {
      width = stage.clientWidth;
      layout();
    }
  }).observe(stage);
  return { pdf, mark };
}

// reason tells why a file cannot be shown. Why one did not come the server is asked, for pdf.js
// knows no more than the status.
async function reason({ url }, err) {
  if (err?.name === 'PasswordException') return 'it is encrypted, and opens with a password only.';
  if (err?.name === 'InvalidPDFException') return 'it is empty, damaged or no PDF file.';
  if (!url) return err.message;
  try {
    const response = await fetch(url);
    return response.ok ? err.message : (await problem(response)).message;
  } catch {
    return err.message;
  }
}

function note(text) {
  const p = document.createElement('p');
  p.className = 'waiting';
  p.textContent = text;
  return p;
}
