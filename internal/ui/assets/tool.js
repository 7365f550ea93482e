import { FormFields } from './fields.js';
import { announce, element, enable, enabled, size } from './page.js';
import { draw, open } from './pdf.js';

// The form of an operation on PDF files. Files are shown as they are chosen, sent
// with their progress, and what comes back is shown before it is kept.

const form = document.getElementById('tool');
const part = (id) => document.getElementById(id);
const { name } = form.dataset;
const [least, most, mostBytes] = ['least', 'most', 'mostBytes'].map((key) => Number(form.dataset[key]));
const report = 'report' in form.dataset;
const chosen = part('chosen');
const answer = part('answer');
const run = part('run');
const stop = part('stop');
const pagesField = form.querySelector('input[name=pages]');
const fields = part('form-fields') ? new FormFields(part('form-fields'), part('form-values')) : null; // where a form is filled in
form.hidden = false;

// Files

let entries = []; // in their order: { file, item, close }

part('add').addEventListener('click', () => part('files').click());
part('files').addEventListener('change', (event) => {
  add([...event.target.files]);
  event.target.value = ''; // the same file may be chosen again
});
part('drop').textContent = most === 1 ? 'Drop the PDF to choose it' : 'Drop the files to add them';
document.addEventListener('files', (event) => {
  event.preventDefault();
  add(event.detail.files, event.detail.folders);
});

function add(files, folders = []) {
  if (most === 1 && files.length > 0) for (const entry of [...entries]) remove(entry);
  const room = most - entries.length;
  for (const file of files.slice(0, room)) {
    const entry = { file, item: element('li'), close: () => {} };
    entries.push(entry);
    show(entry);
  }
  arrange();
  const told = files.slice(0, room).map((f) => f.name).join(', ');
  if (!running) clear();
  if (files.length > room) fail('Not all files were added', `At most ${most === 1 ? 'one file is' : `${most} files are`} allowed. ${told ? `Added: ${told}` : 'No file was added'}.`);
  else if (folders.length > 0) fail('A folder was not added', `Drop the files that are in ${folders[0]}.`);
  else announce(`${told} added.`);
}

function remove(entry) {
  entries = entries.filter((e) => e !== entry);
  entry.close();
  fields?.clear();
  arm(null);
  if (most === 1 && picked.size > 0) {
    picked.clear();
    pagesField.value = '';
  }
}

function move(entry, by) {
  const from = entries.indexOf(entry);
  entries.splice(from, 1);
  entries.splice(from + by, 0, entry);
  arrange();
  announce(`${entry.file.name} is number ${from + by + 1} of ${entries.length}.`);
}

// arrange puts the list into the order of the files. What was pressed keeps the focus.
function arrange() {
  const held = document.activeElement;
  chosen.replaceChildren(...entries.map((e) => e.item));
  for (const [i, { item }] of entries.entries()) {
    const [up, down] = item.querySelectorAll('[data-by]');
    if (!up) continue;
    enable(up, i > 0);
    enable(down, i < entries.length - 1);
  }
  if (held?.isConnected) held.focus({ preventScroll: true });
}

// show makes the item of a file: its name, what can be done with it, and its pages.
function show(entry) {
  const { file, item } = entry;
  const about = element('span', size(file.size));
  about.className = 'fine';
  const text = element('p', element('strong', file.name), ' ', about);
  text.className = 'file-name';
  const tools = element('span');
  tools.className = 'file-tools';
  const tool = (sign, label, act) => {
    const b = element('button', sign);
    b.type = 'button';
    b.className = 'icon';
    b.setAttribute('aria-label', `${label} ${file.name}`);
    b.addEventListener('click', () => { if (enabled(b)) act(); });
    tools.append(b);
    return b;
  };
  if (most > 1) {
    tool('↑', 'Move up', () => move(entry, -1)).dataset.by = -1;
    tool('↓', 'Move down', () => move(entry, 1)).dataset.by = 1;
  }
  tool('×', 'Remove', () => {
    remove(entry);
    arrange();
    if (!running) clear(); // what it says may be of this file
    part('add').focus();
    announce(`${file.name} removed.`);
  });
  item.append(element('div', text, tools));
  item.firstChild.className = 'file-row';
  fields?.show(file, password?.value);
  pages(file, item, { least: most === 1 ? shownPages : 1, pick: most === 1 && pagesField !== null }).then(({ count, close, pdf }) => {
    entry.close = close;
    if (!entries.includes(entry)) close();
    else if (pdf) arm(pdf);
    if (count) about.textContent = `${count}\u00a0${count === 1 ? 'page' : 'pages'}, ${size(file.size)}`;
  });
}

const password = form.querySelector('[name=password]');
password?.addEventListener('change', () => {
  if (entries.length > 0) fields?.show(entries[0].file, password.value);
});

// Pages

const shownPages = 200; // of one file

// Pages are drawn one after the other when they come near the window.
const wanted = new Map();
let drawing = Promise.resolve();
const near = new IntersectionObserver((seen) => {
  for (const { target, isIntersecting } of seen) {
    if (!isIntersecting) continue;
    near.unobserve(target);
    const paint = wanted.get(target);
    wanted.delete(target);
    drawing = drawing.then(() => (target.isConnected ? paint() : null)).catch(() => target.classList.add('broken'));
  }
}, { rootMargin: '300px' });

// pages appends the pages of a file, which is called so, to a holder, and returns how many it has and what frees it. A
// file that cannot be shown may still be worked on: the server repairs what it can.
async function pages(file, holder, { called = file.name, least: count, pick }) {
  let opened;
  try {
    opened = await open({ file });
  } catch (err) {
    const locked = password ? 'The file is encrypted. Enter its password in the settings.' : 'The file is encrypted.';
    const why = err?.name === 'PasswordException' ? locked : 'The file cannot be shown here.';
    holder.append(fine(why));
    return { count: 0, close: () => {} };
  }
  const { pdf } = opened;
  const list = element('ol');
  list.className = 'sheets';
  list.setAttribute('aria-label', `Pages of ${called}`);
  if (!pick && count > 1) list.tabIndex = 0; // it scrolls, by keyboard too
  for (let n = 1; n <= Math.min(pdf.numPages, count); n++) {
    const canvas = element('canvas');
    canvas.width = canvas.height = 1;
    canvas.setAttribute('role', 'img');
    canvas.setAttribute('aria-label', `Page ${n} of ${called}`);
    const sheet = element(pick ? 'button' : 'div', canvas, element('span', String(n)));
    sheet.className = 'sheet';
    if (pick) {
      sheet.type = 'button';
      sheet.setAttribute('aria-label', `Page ${n}`);
      sheet.setAttribute('aria-pressed', 'false');
      sheet.addEventListener('click', () => choose(n, sheet));
    }
    list.append(element('li', sheet));
    wanted.set(sheet, async () => {
      await draw(await pdf.getPage(n), canvas, 112).promise;
      sheet.classList.add('drawn');
    });
    near.observe(sheet);
  }
  holder.append(list);
  if (count > 1 && pdf.numPages > count) holder.append(fine(`The first ${count} of ${pdf.numPages} pages are shown.`));
  if (pick && pdf.numPages > 1) holder.append(fine('Click pages to choose them, in the order that you want.'));
  return { count: pdf.numPages, close: opened.close, pdf };
}

// Pages that are pressed stand in the field, in the order in which they were.
const picked = new Map(); // number to sheet

function choose(n, sheet) {
  if (picked.has(n)) picked.delete(n);
  else picked.set(n, sheet);
  sheet.setAttribute('aria-pressed', String(picked.has(n)));
  number();
  const runs = [];
  for (const p of picked.keys()) {
    const last = runs.at(-1);
    if (last && p === last[1] + 1) last[1] = p;
    else runs.push([p, p]);
  }
  pagesField.value = runs.map(([a, b]) => (a === b ? a : `${a}-${b}`)).join(',');
  reveal(pagesField);
}

pagesField?.addEventListener('input', () => {
  for (const sheet of picked.values()) sheet.setAttribute('aria-pressed', 'false');
  picked.clear();
  number();
});

// number shows where pages that are put into a new order will stand.
function number() {
  if (name !== 'reorder') return;
  for (const sheet of chosen.querySelectorAll('.sheet[data-place]')) {
    delete sheet.dataset.place;
    sheet.removeAttribute('aria-description');
  }
  let place = 0;
  for (const sheet of picked.values()) {
    sheet.dataset.place = ++place;
    sheet.setAttribute('aria-description', `Number ${place} in the new order`);
  }
}

// Areas

const drawArea = part('draw-area');
let drawable = null; // the file on whose pages areas can be drawn

function arm(pdf) {
  drawable = pdf;
  if (drawArea) enable(drawArea, pdf !== null);
}

drawArea?.addEventListener('click', async () => {
  if (!enabled(drawArea)) return;
  const { pick } = await import('./area.js');
  const box = form.querySelector('[name=box]');
  const page = form.querySelector('[name=page]') ?? pagesField; // where a signature stands, or which pages are changed
  pick({ file: drawable, page: Number.parseInt(page.value, 10) || 1, value: box.value, many: 'several' in part('area').dataset }, (value, n) => {
    box.value = value;
    // An area to crop is that of all pages, unless pages are chosen; others are of the page that they were drawn on.
    if (name !== 'crop' && drawable.numPages > 1 && (page !== pagesField || page.value === '')) {
      page.value = n;
      reveal(page);
    }
    box.focus();
  });
});

// Settings

function reveal(control) {
  const details = control.closest('details');
  if (details) details.open = true;
}

// body is the request; what is left empty is not sent.
function body() {
  const data = new FormData();
  for (const { file } of entries) data.append('file', file, file.name);
  for (const control of form.querySelectorAll('.field [name]')) {
    if (control.type === 'file') for (const f of control.files) data.append(control.name, f, f.name);
    else if (control.type === 'checkbox') control.checked && data.append(control.name, 'true');
    else if (control.value !== '') data.append(control.name, control.value);
  }
  for (const area of form.querySelectorAll('[data-part]')) {
    if (!data.has(area.dataset.part) && area.value.trim() !== '') data.append(area.dataset.part, new Blob([area.value], { type: 'application/json' }), `${area.dataset.part}.json`);
  }
  const values = fields?.values();
  if (values && !data.has('data')) data.append('data', new Blob([JSON.stringify(values)], { type: 'application/json' }), 'data.json');
  return data;
}

// missing tells the first thing without which nothing can be sent.
function missing(data) {
  if (entries.length < least) {
    return { at: part('add'), text: least === 1 ? 'Choose a PDF first.' : `Choose ${least} files first.` };
  }
  const bytes = entries.reduce((sum, e) => sum + e.file.size, 0);
  if (mostBytes > 0 && bytes > mostBytes) {
    return { at: part('add'), text: `The files have ${size(bytes)}; this server accepts ${size(mostBytes)} in one request. The command line accepts more.` };
  }
  for (const control of form.querySelectorAll('[aria-required=true]')) {
    const key = control.name || control.dataset.part;
    if (!data.has(key)) return { field: key, text: 'This field is required.' };
  }
  if (fields && !data.has('data')) return fields.first ? { at: fields.first, text: 'Change a field first.' } : { field: 'data', text: 'This field is required.' };
  return null;
}

// gone tells the first file that can no longer be read: it was moved, changed or taken away since
// it was chosen.
async function gone(data) {
  for (const file of data.values()) {
    if (!(file instanceof File)) continue;
    try {
      await file.slice(0, 1).arrayBuffer();
    } catch {
      return { at: part('add'), text: `${file.name} can no longer be read here. Choose it again.` };
    }
  }
  return null;
}

// wrong marks a field and says what is wrong with it, where it stands.
function wrong(field, text) {
  const holder = form.querySelector(`[data-field="${CSS.escape(field)}"]`);
  if (!holder) return false;
  const control = holder.querySelector('input, select, textarea');
  const place = holder.querySelector('.wrong');
  place.textContent = text;
  place.hidden = false;
  control.setAttribute('aria-invalid', 'true');
  control.setAttribute('aria-describedby', [place, part(`${field}-hint`)].filter(Boolean).map((e) => e.id).join(' '));
  reveal(control);
  control.focus();
  return true;
}

function clear() {
  for (const place of form.querySelectorAll('.wrong')) place.hidden = true;
  for (const control of form.querySelectorAll('[aria-invalid]')) control.removeAttribute('aria-invalid');
  answer.className = 'answer';
  answer.replaceChildren();
}

// Sending

let running = null;
let made = { urls: [], close: () => {} }; // the result before

form.addEventListener('submit', async (event) => {
  event.preventDefault();
  if (running) return;
  clear();
  forget(); // what stands there was made of something else
  const data = body();
  const lack = missing(data) ?? await gone(data);
  if (running) return;
  if (lack) {
    fail('Not sent', ...(lack.field ? [element('strong', labelOf(lack.field))] : []), lack.text);
    if (!lack.field || !wrong(lack.field, lack.text)) lack.at?.focus();
    return;
  }
  going(true);
  try {
    await result(await send(data));
  } catch (err) {
    if (err.stopped) fail('Stopped', 'No file was created.');
    else told(err);
  } finally {
    going(false);
  }
});

stop.addEventListener('click', () => running?.abort());

function going(on) {
  enable(run, !on);
  if (on) run.setAttribute('aria-busy', 'true');
  else run.removeAttribute('aria-busy');
  if (!on && document.activeElement === stop) run.focus();
  stop.hidden = !on;
  part('going').hidden = !on;
  if (!on) running = null;
}

function phase(text, done, all) {
  if (part('phase').textContent !== text) {
    part('phase').textContent = text;
    announce(text);
  }
  part('amount').textContent = all ? `${size(done)} of ${size(all)}` : '';
  if (all) part('progress').value = done / all;
  else part('progress').removeAttribute('value');
}

// send posts the form. Of the ways to send, only XMLHttpRequest tells how much has gone.
function send(data) {
  return new Promise((resolve, reject) => {
    const request = running = new XMLHttpRequest();
    request.open('POST', form.getAttribute('action'));
    request.responseType = 'blob';
    request.setRequestHeader('Accept', report ? 'application/problem+json, text/plain;q=0.9' : '*/*');
    phase('Sending');
    request.upload.addEventListener('progress', (e) => phase('Sending', e.loaded, e.total));
    request.upload.addEventListener('load', () => phase('Processing on the server'));
    request.addEventListener('progress', (e) => phase('Receiving', e.loaded, e.lengthComputable ? e.total : 0));
    request.addEventListener('abort', () => reject(Object.assign(new Error('stopped'), { stopped: true })));
    request.addEventListener('error', () => reject(Object.assign(new Error('The connection to the server was lost before it answered. Try again.'), { title: 'No response' })));
    request.addEventListener('load', async () => {
      if (request.status < 400) {
        resolve(request);
        return;
      }
      const problem = await request.response.text().then(JSON.parse).catch(() => ({}));
      reject(Object.assign(new Error(problem.detail ?? ''), problem, { title: problem.title || `Status ${request.status}` }));
    });
    request.send(data);
  });
}

// told shows a problem: what is wrong, where, and what helps.
function told(err) {
  const asked = err.want ? `Got ${err.got}; expected ${err.want}.` : '';
  const near = err.nearest ? `Did you mean ${err.nearest}?` : '';
  const text = asked || err.message.replace(/^pdf: /, '');
  const field = err.field ? (within(err.field) ?? err.field) : secret(err);
  fail(err.title, ...(err.field ? [element('strong', field === err.field ? labelOf(field) : err.field)] : []), text, near);
  if (field && wrong(field, [asked || text, near].filter(Boolean).join(' '))) return;
  if (field === 'file') part('add').focus();
  answer.scrollIntoView({ block: 'nearest' });
}

// within is the control that has the field of a form or the step of a pipe that an error names.
function within(field) {
  if (form.querySelector(`[data-field="${CSS.escape(field)}"]`)) return undefined;
  return ['data', 'steps'].find((part) => form.querySelector(`[data-part="${part}"]`) && (field.startsWith('field ') || field.startsWith(`${part}[`)));
}

// secret is the field of the password that is missing or wrong.
function secret({ code, file }) {
  if (code !== 'R002') return undefined;
  const other = form.querySelector('[name=with]')?.files[0]?.name;
  return file === other && form.querySelector('[name=with-password]') ? 'with-password' : 'password';
}

function labelOf(field) {
  if (field === 'file') return part('files-title').textContent;
  const label = form.querySelector(`[data-field="${CSS.escape(field)}"] label`);
  return label ? label.firstChild.textContent.trim() || label.textContent.trim() : field;
}

function fail(title, ...lines) {
  answer.className = 'answer failed';
  answer.replaceChildren(element('strong', title), ...lines.filter(Boolean).map((line) => element('div', line)));
}

// Result

// What a report says that found something, in two words.
const findings = { check: 'The file does not conform', verify: 'A signature is missing or not valid', compare: 'The files differ' };

// forget takes away the result before.
function forget() {
  made.close();
  for (const url of made.urls) URL.revokeObjectURL(url);
  made = { urls: [], close: () => {} };
  part('made').replaceChildren();
  part('result').hidden = true;
}

async function result(request) {
  const holder = part('made');
  part('result').hidden = false;
  const file = request.response;
  answer.className = 'answer';
  if (report) {
    holder.append(reading(await file.text(), 'Report'), download(file, `${name}.txt`, 'Save as text'));
    const found = request.getResponseHeader('Quire-Found') === 'true';
    if (found) fail(findings[name] ?? 'Something was found', 'See the result for details.');
    else answer.classList.add('identical');
    if (!found) answer.replaceChildren(element('strong', 'Done'), 'The result is below the files.');
  } else {
    const called = nameOf(request.getResponseHeader('Content-Disposition') ?? '');
    const link = download(file, called, `Download ${called}`);
    link.classList.add('primary');
    holder.append(link);
    const summary = JSON.parse(request.getResponseHeader('Quire-Summary') || '{}');
    const pagesOf = summary.pages ? `${summary.pages}\u00a0${summary.pages === 1 ? 'page' : 'pages'}, ` : '';
    holder.append(fine(`${pagesOf}${size(file.size)}${summary.claims?.length > 0 ? `; claims ${summary.claims.join(', ')}` : ''}`));
    const voided = (summary.void_signatures ?? []).map((field) => `The signature ${field} is not valid for the new file and was removed.`);
    for (const warning of [...voided, ...summary.warnings ?? []]) {
      const tag = element('span', 'note');
      tag.className = 'tag';
      const line = element('p', tag, ` ${warning}`);
      line.className = 'trouble';
      holder.append(line);
    }
    if (Object.keys(summary).length > 0) {
      const text = JSON.stringify(summary, null, 2);
      const details = element('details', element('summary', 'Report'), reading(text, 'Report'),
        download(new Blob([text], { type: 'application/json' }), called.replace(/\.\w+$/, '.json'), 'Save the report'));
      details.className = 'more';
      holder.append(details);
    }
    answer.classList.add('identical');
    answer.replaceChildren(element('strong', 'Created'), `${called}, ${size(file.size)}`);
    if (file.type.startsWith('application/pdf')) made.close = (await pages(file, holder, { called, least: shownPages, pick: false })).close;
  }
  part('result-title').focus();
}

// reading is text that scrolls, by keyboard too.
function reading(text, label) {
  const pre = element('pre', text);
  pre.tabIndex = 0;
  pre.setAttribute('role', 'region');
  pre.setAttribute('aria-label', label);
  return pre;
}

// download is a link to what was made, as long as nothing else is made here.
function download(file, called, text) {
  const link = element('a', text);
  link.href = URL.createObjectURL(file);
  made.urls.push(link.href);
  link.download = called;
  link.className = 'button';
  return link;
}

// nameOf reads the name of a file (RFC 6266).
function nameOf(disposition) {
  const [, extended] = /filename\*=UTF-8''([^;]+)/i.exec(disposition) ?? [];
  if (extended) return decodeURIComponent(extended);
  const [, plain] = /filename="((?:\\.|[^"\\])+)"/i.exec(disposition) ?? [];
  return plain?.replace(/\\(.)/g, '$1') ?? `${name}.pdf`;
}

function fine(text) {
  const p = element('p', text);
  p.className = 'fine';
  return p;
}
