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

// open returns the library and the document behind a URL, in given bytes or in a
// file, of which only the parts that are wanted are read. Documents carry their
// fonts, so nothing else is fetched for them.
export async function open({ file, ...source }) {
  const pdfjs = await load();
  if (file) {
    const range = source.range = new pdfjs.PDFDataRangeTransport(file.size, null);
    range.requestDataRange = async (begin, end) => {
      const bytes = await file.slice(begin, end).arrayBuffer().catch(() => new ArrayBuffer(0));
      range.onDataRange(begin, new Uint8Array(bytes));
    };
  }
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

// difference compares how a page looks in two files. It returns the box around all
// that differs, in shares of the page, or null when nothing does. A page that only
// one of them has differs as a whole.
export async function difference(one, other, n) {
  if (n > one.numPages || n > other.numPages) return { left: 0, top: 0, width: 1, height: 1 };
  const [a, b] = await Promise.all([one, other].map((pdf) => pixels(pdf, n)));
  if (a.width !== b.width || a.height !== b.height) return { left: 0, top: 0, width: 1, height: 1 };
  let [left, top, right, bottom] = [a.width, a.height, -1, -1];
  for (let i = 0; i < a.data.length; i += 4) {
    if (a.data[i] === b.data[i] && a.data[i + 1] === b.data[i + 1] && a.data[i + 2] === b.data[i + 2]) continue;
    const x = i / 4 % a.width;
    const y = Math.floor(i / 4 / a.width);
    left = Math.min(left, x);
    right = Math.max(right, x);
    top = Math.min(top, y);
    bottom = Math.max(bottom, y);
  }
  if (right < 0) return null;
  // A margin of a few pixels: a box around a comma is seen.
  const near = 6;
  [left, top, right, bottom] = [Math.max(left - near, 0), Math.max(top - near, 0), Math.min(right + near, a.width), Math.min(bottom + near, a.height)];
  return { left: left / a.width, top: top / a.height, width: (right - left) / a.width, height: (bottom - top) / a.height };
}

async function pixels(pdf, n) {
  const page = await pdf.getPage(n);
  const viewport = page.getViewport({ scale: 1.5 });
  const canvas = document.createElement('canvas');
  canvas.width = Math.round(viewport.width);
  canvas.height = Math.round(viewport.height);
  await page.render({ canvas, viewport }).promise;
  return canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
}
