import { announce, ask, element, enable, enableCopying, enabled, problem } from './page.js';
import { draw, open } from './pdf.js';

// Thumbnails are drawn when they come near the window, two at a time, so that a
// long list stays quick: those in view first, and none that was scrolled past.
const waiting = new Set();
let running = 0;

const near = new IntersectionObserver((entries) => {
  for (const entry of entries) {
    if (entry.isIntersecting) waiting.add(entry.target);
    else waiting.delete(entry.target);
  }
  next();
}, { rootMargin: '300px' });

// away is how far a thumbnail is from the window, in pixels.
function away(thumb) {
  const box = thumb.getBoundingClientRect();
  return Math.max(box.top - innerHeight, -box.bottom, 0);
}

function next() {
  while (running < 2 && waiting.size > 0) {
    const thumb = [...waiting].reduce((a, b) => (away(b) < away(a) ? b : a));
    waiting.delete(thumb);
    near.unobserve(thumb);
    if (!thumb.isConnected) continue;
    running++;
    thumbnail(thumb).catch((err) => {
      thumb.classList.add('broken');
      console.warn(`thumbnail of ${thumb.dataset.pdf}:`, err);
    }).finally(() => { running--; next(); });
  }
}

// A file up to this size is fetched whole by one request; of a larger one only the
// parts that the first page needs.
const whole = 4e6;

async function thumbnail(thumb) {
  const url = thumb.dataset.pdf;
  let source = { url };
  if (Number(thumb.dataset.size) <= whole) {
    const response = await fetch(url);
    if (!response.ok) throw await problem(response);
    source = { data: await response.arrayBuffer() };
  }
  const { pdf, close } = await open(source);
  try {
    const page = await pdf.getPage(1);
    await draw(page, thumb.querySelector('canvas'), thumb.clientWidth).promise;
    thumb.classList.add('drawn');
  } finally {
    await close();
  }
}

function watch(root) {
  for (const thumb of root.querySelectorAll('.thumb:not(.drawn)')) near.observe(thumb);
}

// A button of "New document" sends the request of the report to the API and puts the new
// document at the head of the list.
const outcome = document.getElementById('make-outcome');
const makers = document.querySelectorAll('.maker');

for (const button of makers) {
  button.disabled = false;
  button.addEventListener('click', () => make(button));
}

async function make(button) {
  if (!enabled(button)) return;
  button.setAttribute('aria-busy', 'true');
  for (const b of makers) enable(b, false);
  outcome.className = 'outcome';
  outcome.textContent = '';
  try {
    const request = await ask(button.dataset.request);
    if (!request.ok) throw await problem(request);
    const made = await ask('/v1/documents', {
      method: 'POST', headers: { 'Content-Type': 'application/json', Accept: 'application/json' }, body: await request.text(),
    });
    if (!made.ok) throw await problem(made);
    const { id, title, template } = await made.json();
    await refresh();
    // The list may be that of another report.
    const link = element('a', title?.trim() || template.name);
    link.href = `/documents/${id}`;
    outcome.replaceChildren(`${button.textContent} made: `, link);
  } catch (err) {
    outcome.classList.add('failed');
    outcome.textContent = `${button.textContent} was not made: ${err.message}`;
  } finally {
    button.removeAttribute('aria-busy');
    for (const b of makers) enable(b, true);
  }
}

// refresh takes the list of a fresh page, keeping the cards that are drawn.
async function refresh() {
  const url = new URL(location.href);
  url.searchParams.delete('after');
  const response = await ask(url);
  if (!response.ok) throw new Error(`the list of documents cannot be read (status ${response.status})`);
  const fresh = new DOMParser().parseFromString(await response.text(), 'text/html').getElementById('documents');
  const list = document.getElementById('documents');
  const held = list.contains(document.activeElement) ? document.activeElement : null;
  const drawn = new Map([...list.querySelectorAll('.card')].map((card) => [card.dataset.id, card]));
  for (const card of fresh.querySelectorAll('.card')) {
    const old = drawn.get(card.dataset.id);
    if (old) card.replaceWith(old);
    else card.classList.add('new');
  }
  list.replaceChildren(...fresh.childNodes);
  // What was moved lost the focus; what is gone leaves it to the list.
  if (held) (held.isConnected ? held : list.querySelector('a[href]:not([tabindex])'))?.focus({ preventScroll: true });
  enableCopying(list);
  watch(list);
  if (url.href !== location.href) history.replaceState(null, '', url);
}

watch(document);
globalThis.addEventListener('pageshow', (event) => {
  if (event.persisted) refresh().catch((err) => announce(err.message));
});
