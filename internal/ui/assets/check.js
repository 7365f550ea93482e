import { announce, ask, element, problem } from './page.js';
import { difference, open } from './pdf.js';
import { show } from './viewer.js';

// A PDF that is dropped anywhere on a page, or chosen by its button, is compared
// with the document of record that it claims to be, and shown at the first page
// that differs.

const dialog = document.getElementById('check');
const input = document.getElementById('check-file');
const answer = dialog.querySelector('.answer');
const blank = dialog.querySelector('.viewer').cloneNode(true);
let running = null; // ends the check before

for (const button of document.querySelectorAll('.choose')) {
  button.hidden = false;
  button.addEventListener('click', () => input.click());
}
input.addEventListener('change', () => {
  if (input.files.length > 0) check(input.files[0]);
  input.value = ''; // the same file may be chosen again
});
dialog.querySelector('.close').addEventListener('click', () => dialog.close());
dialog.addEventListener('close', () => {
  if (!dialog.open) running?.abort(); // it may be open again for the next file
});

const drop = document.getElementById('drop');
const withFiles = (event) => event.dataTransfer?.types.includes('Files');
document.addEventListener('dragover', (event) => {
  if (!withFiles(event)) return;
  event.preventDefault();
  drop.hidden = false;
});
document.addEventListener('dragleave', (event) => {
  if (event.relatedTarget === null) drop.hidden = true;
});
document.addEventListener('drop', (event) => {
  drop.hidden = true;
  if (!withFiles(event)) return;
  event.preventDefault();
  const { files, folders } = dropped(event.dataTransfer);
  if (files.length + folders.length === 0) return;
  // A page that works on files takes them, by preventing what is done with them else.
  const taken = !document.dispatchEvent(new CustomEvent('files', { detail: { files, folders }, cancelable: true }));
  if (taken) return;
  if (files.length > 0) check(files.find((f) => f.type === 'application/pdf') ?? files[0]);
  else refuse(folders[0]);
});

// dropped tells files from folders, whose content a page is not given.
function dropped(data) {
  const files = [];
  const folders = [];
  for (const item of data.items) {
    if (item.kind !== 'file') continue;
    const entry = item.webkitGetAsEntry?.();
    if (entry?.isDirectory) folders.push(entry.name);
    else files.push(item.getAsFile());
  }
  return { files, folders };
}

function refuse(folder) {
  running?.abort();
  dialog.querySelector('#check-name').textContent = folder;
  dialog.querySelector('.viewer').replaceWith(blank.cloneNode(true));
  if (!dialog.open) dialog.showModal();
  answer.className = 'answer failed';
  answer.replaceChildren(strong('A folder cannot be checked'), line('Drop the PDF from the folder instead.'));
}

async function check(file) {
  running?.abort();
  const stop = running = new AbortController();
  const say = (kind, ...parts) => {
    if (stop.signal.aborted) return;
    answer.className = `answer ${kind}`;
    answer.replaceChildren(...parts);
  };
  dialog.querySelector('#check-name').textContent = file.name;
  const viewer = blank.cloneNode(true);
  viewer.dataset.title = file.name;
  dialog.querySelector('.viewer').replaceWith(viewer);
  if (!dialog.open) dialog.showModal();
  say('', 'Comparing…');
  try {
    const bytes = new Uint8Array(await file.arrayBuffer());
    // pdf.js takes the bytes that it is given away.
    const shown = show(viewer, { data: bytes.slice() }, stop.signal);
    const document = await claimed(bytes, stop.signal);
    if (!document) {
      say('unknown', strong('Unknown here'), line('The file names no document that this server has.'));
      return;
    }
    const verdict = await verify(document, file, stop.signal);
    const of = line('Document of record: ', link(`/documents/${document.id}`, document.title?.trim() || document.template.name));
    switch (verdict.answer) {
      case 'identical':
        say('identical', strong('Identical'), line('The file matches the document rendered again, byte for byte. sha256 ', element('code', verdict.file)), of);
        break;
      case 'intact':
        say('intact', strong('Intact, made by another engine'), line(`Made by engine ${verdict.made_by}. The engine here is ${verdict.engine}.`), of);
        break;
      case 'differs': {
        const where = verdict.at >= 0 ? `Differs at byte ${verdict.at}` : `Differs from its receipt: ${verdict.field}`;
        say('differs', strong(where), of);
        const view = await shown;
        if (!view || stop.signal.aborted) return;
        const found = await place(view, document, verdict.page ?? 0, stop.signal);
        if (!found) {
          say('differs', strong(where), line('No page looks different.'), of);
          return;
        }
        view.mark(found.page, found.box);
        say('differs', strong(`${where}, on page ${found.page}`), of);
        break;
      }
      default:
        say('unknown', strong('Unknown here'), line(verdict.reason || 'Its template or data is missing.'));
    }
  } catch (err) {
    if (!stop.signal.aborted) say('failed', strong(err.title ?? 'No response'), err.message);
  }
}

// claimed is the first of the documents that a file names which is here. Like the
// server, it reads the ids in the file's XMP packets, which are not compressed and
// are found in damaged files too (ISO 16684-1, section 7.3.2).
async function claimed(bytes, signal) {
  const text = new TextDecoder('latin1').decode(bytes);
  const ids = new Set();
  for (const [packet] of text.matchAll(/<\?xpacket begin=[^]*?(?:<\?xpacket end=|$)/g)) {
    for (const [, id] of packet.matchAll(/[<\s]xmpMM:DocumentID(?:\s*>|\s*=\s*["'])\s*(?:[^<"':]*:)*([0-9a-f]{64})\s*[<"']/g)) ids.add(id);
  }
  for (const id of [...ids].slice(0, 16)) {
    const response = await ask(`/v1/documents/${id}`, { headers: { Accept: 'application/json' }, signal });
    if (response.ok) return response.json();
    if (response.status !== 404) throw await problem(response);
  }
  return null;
}

async function verify(document, file, signal) {
  const response = await ask(document.links.verify, {
    method: 'POST', body: file, signal, headers: { Accept: 'application/json', 'Content-Type': 'application/pdf' },
  });
  if (!response.ok) throw await problem(response);
  return response.json();
}

// place finds what looks different in a file: on the page that the server names,
// or else on the first page that does.
async function place(view, document, page, signal) {
  let kept;
  try {
    kept = await open({ url: document.links.content });
  } catch {
    return page > 0 ? { page, box: null } : null; // the stored file is damaged or gone
  }
  try {
    const last = Math.min(Math.max(view.pdf.numPages, kept.pdf.numPages), 200);
    for (let n = page || 1; n <= (page || last); n++) {
      if (signal.aborted) return null;
      const box = await difference(view.pdf, kept.pdf, n);
      if (box) return { page: Math.min(n, view.pdf.numPages), box };
    }
    return page > 0 ? { page, box: null } : null;
  } finally {
    await kept.close();
  }
}

const strong = (text) => element('strong', text);
const line = (...parts) => element('div', ...parts);
function link(href, text) {
  const a = element('a', text);
  a.href = href;
  return a;
}
