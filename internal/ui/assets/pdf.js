// Opens PDF files with pdf.js. The library is fetched when the first file is
// wanted, and one worker serves all files of a page.

let library;
let worker;

async function load() {
  const pdfjs = await (library ??= import('./pdfjs/pdf.min.mjs'));
  pdfjs.GlobalWorkerOptions.workerSrc = new URL('./pdfjs/pdf.worker.min.mjs', import.meta.url).href;
  worker ??= new pdfjs.PDFWorker({ name: 'quire' });
  return pdfjs;
}

// open returns the library and the document behind a URL or in given bytes.
// Documents carry their fonts, so nothing else is fetched for them.
export async function open(source) {
  const pdfjs = await load();
  const task = pdfjs.getDocument({
    ...source, worker, useWasm: false, useSystemFonts: false, enableXfa: false, disableAutoFetch: true, verbosity: pdfjs.VerbosityLevel.ERRORS,
  });
  return { pdfjs, pdf: await task.promise, close: () => task.destroy() };
}

// draw renders a page into a canvas that is cssWidth wide; it returns a task with
// promise and cancel.
export function draw(page, canvas, cssWidth) {
  const density = Math.min(globalThis.devicePixelRatio || 1, 3);
  const natural = page.getViewport({ scale: 1 });
  // 16 megapixels are enough for any screen and little enough for a phone.
  const most = Math.sqrt(16e6 / (natural.width * natural.height));
  const viewport = page.getViewport({ scale: Math.min(cssWidth * density / natural.width, most) });
  canvas.width = Math.round(viewport.width);
  canvas.height = Math.round(viewport.height);
  return page.render({ canvas, viewport });
}

// duration keeps the number and its unit on one line.
export function duration(ms) {
  if (ms < 1) return `${Math.max(1, Math.round(ms * 1000))}\u00a0µs`;
  if (ms < 10) return `${ms.toFixed(1)}\u00a0ms`;
  if (ms < 1000) return `${Math.round(ms)}\u00a0ms`;
  return `${(ms / 1000).toFixed(2)}\u00a0s`;
}

// serve notes in a pipeline strip how long the file took to come.
export function serve(strip, ms, cached) {
  const stage = strip?.querySelector('[data-stage=serve]');
  if (!stage) return;
  stage.classList.replace('later', 'done');
  const took = stage.querySelector('.took');
  took.textContent = cached ? 'cached' : duration(ms);
  if (cached) took.title = 'This browser had the file already.';
}

// fetched tells how long the request for a URL took, from the browser's own
// measurements.
export function fetched(url) {
  const entry = performance.getEntriesByName(new URL(url, location.href).href).at(-1);
  if (!entry?.responseEnd) return null;
  return { ms: entry.responseEnd - entry.requestStart, cached: entry.transferSize === 0 };
}
