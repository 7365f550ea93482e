import { draw } from './pdf.js';
import { announce, element, enable, enabled } from './page.js';

// A dialog in which areas are drawn on a page, instead of typing their coordinates: left, bottom, right and top in
// points of the page's coordinates, before it is rotated.

const dialog = document.getElementById('area');
const part = (name) => dialog.querySelector(`[data-area="${name}"]`);
const [paper, canvas, number, before, after, undo, use] = ['paper', 'canvas', 'number', 'before', 'after', 'undo', 'use'].map(part);

let pdf;
let several; // areas may be drawn
let areas = []; // each of four numbers
let shown = 0; // the page, from 1
let viewport;
let painting;
let done; // what the areas are given to

// pick shows a page of a file and gives take the areas, as they are written, and the page on which they were drawn.
export async function pick({ file, page, value, many }, take) {
  [pdf, several, done] = [file, many, take];
  areas = value.split(';').map((a) => a.split(',').map(Number)).filter((a) => a.length === 4 && a.every(Number.isFinite));
  dialog.showModal();
  await turn(Math.min(Math.max(page, 1), pdf.numPages));
}

async function turn(n) {
  painting?.cancel();
  shown = n;
  number.textContent = `Page ${n} of ${pdf.numPages}`;
  enable(before, n > 1);
  enable(after, n < pdf.numPages);
  const page = await pdf.getPage(n);
  if (shown !== n || !dialog.open) return;
  const natural = page.getViewport({ scale: 1 });
  const room = paper.parentElement;
  let width = Math.min(room.clientWidth - 24, 900, natural.width * 2);
  // Under a finger a page does not scroll: it draws.
  if (matchMedia('(pointer: coarse)').matches) width = Math.min(width, Math.max(innerHeight - 260, 200) * natural.width / natural.height);
  viewport = page.getViewport({ scale: width / natural.width });
  paper.style.width = `${viewport.width}px`;
  paper.style.height = `${viewport.height}px`;
  canvas.setAttribute('aria-label', `Page ${n}`);
  outline();
  painting = draw(page, canvas, width);
  await painting.promise.catch(() => {}); // another page was asked for
}

// outline draws the areas over the page.
function outline() {
  for (const e of paper.querySelectorAll('.area')) e.remove();
  for (const [x1, y1, x2, y2] of areas) paper.append(frame([...viewport.convertToViewportPoint(x1, y1), ...viewport.convertToViewportPoint(x2, y2)]));
  enable(undo, areas.length > 0);
  enable(use, areas.length > 0);
}

function frame([x1, y1, x2, y2]) {
  const e = element('div');
  e.className = 'area';
  Object.assign(e.style, { left: `${Math.min(x1, x2)}px`, top: `${Math.min(y1, y2)}px`, width: `${Math.abs(x2 - x1)}px`, height: `${Math.abs(y2 - y1)}px` });
  return e;
}

// within is where a pointer is on the page.
function within(event) {
  const box = paper.getBoundingClientRect();
  return [Math.min(Math.max(event.clientX - box.left, 0), box.width), Math.min(Math.max(event.clientY - box.top, 0), box.height)];
}

paper.addEventListener('pointerdown', (event) => {
  if (event.button !== 0 || !viewport) return;
  event.preventDefault();
  paper.setPointerCapture(event.pointerId);
  const from = within(event);
  let drawn = null;
  const move = (e) => {
    drawn?.remove();
    drawn = frame([...from, ...within(e)]);
    paper.append(drawn);
  };
  const end = (e) => {
    paper.removeEventListener('pointermove', move);
    for (const type of ['pointerup', 'pointercancel']) paper.removeEventListener(type, end);
    drawn?.remove();
    const to = within(e);
    if (e.type === 'pointercancel' || Math.abs(to[0] - from[0]) < 3 || Math.abs(to[1] - from[1]) < 3) return; // a click
    const corners = [viewport.convertToPdfPoint(...from), viewport.convertToPdfPoint(...to)];
    const [x, y] = [0, 1].map((i) => corners.map((c) => Math.round(c[i] * 10) / 10).sort((a, b) => a - b));
    areas = [...(several ? areas : []), [x[0], y[0], x[1], y[1]]];
    outline();
    announce(`Area ${areas.at(-1).join(', ')}.`);
  };
  paper.addEventListener('pointermove', move);
  for (const type of ['pointerup', 'pointercancel']) paper.addEventListener(type, end);
});

before.addEventListener('click', () => { if (enabled(before)) turn(shown - 1); });
after.addEventListener('click', () => { if (enabled(after)) turn(shown + 1); });
undo.addEventListener('click', () => {
  if (!enabled(undo)) return;
  areas.pop();
  outline();
});
use.addEventListener('click', () => {
  if (!enabled(use)) return;
  dialog.close();
  done(areas.map((a) => a.join(',')).join(';'), shown);
});
dialog.querySelector('.close').addEventListener('click', () => dialog.close());
dialog.addEventListener('close', () => painting?.cancel());
