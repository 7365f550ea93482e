import { announce, element } from './page.js';

// The fields of a form, as controls: what is changed in them are the values that the form is
// filled with.

const mostFields = 500; // that are shown

// fieldsOf asks the server for the fields of a file that people can fill in, in the order in which they stand on the
// pages. It throws what the server says is wrong.
async function fieldsOf(address, file, password, signal) {
  const data = new FormData();
  data.append('file', file, file.name);
  if (password) data.append('password', password);
  const response = await fetch(address, { method: 'POST', body: data, headers: { Accept: 'application/json' }, signal });
  const answer = await response.json();
  if (!response.ok) throw Object.assign(new Error(answer.detail ?? ''), answer);
  const place = ({ widgets: [w] }) => (w ? [w.page, -w.rect[3], w.rect[0]] : [Infinity, 0, 0]);
  const before = (a, b) => a[0] - b[0] || a[1] - b[1] || a[2] - b[2];
  return answer.fields
    .filter((f) => f.name && !['button', 'signature'].includes(f.kind) && !f.flags.includes('read-only') && !f.flags.includes('password'))
    .sort((a, b) => before(place(a), place(b)));
}

// FormFields shows the fields of one file after the other in a holder.
export class FormFields {
  #holder;
  #other; // where values are given as text or from a file
  #loading = new AbortController();
  #shown = []; // { name, is, before }

  constructor(holder, other) {
    this.#holder = holder;
    this.#other = other;
  }

  clear() {
    this.#loading.abort();
    this.#shown = [];
    this.#holder.replaceChildren();
    this.#holder.hidden = true;
    this.#other.open = true;
  }

  async show(file, password) {
    this.clear();
    const { signal } = this.#loading = new AbortController();
    let fields;
    try {
      fields = await fieldsOf(this.#holder.dataset.fields, file, password, signal);
    } catch (err) {
      if (!signal.aborted) this.#say(err.code === 'R002' ? 'Enter the password of the file to see its fields.' : 'The fields of the file cannot be listed. Enter values below.');
      return;
    }
    if (signal.aborted) return;
    if (fields.length === 0 || fields.length > mostFields) {
      this.#say(fields.length === 0 ? 'The file has no fields that can be filled in.' : `The file has ${fields.length} fields, too many to show here. Enter values below.`);
      return;
    }
    const byPage = Map.groupBy(fields.map((f, i) => ({ page: f.widgets[0]?.page, control: this.#control(f, `form-field-${i}`) })), (f) => f.page);
    const group = (title, ...parts) => {
      const g = element('fieldset', element('legend', title), ...parts);
      g.className = 'fields';
      return g;
    };
    const pages = [...byPage].map(([page, list]) => [page ? `Page ${page}` : 'On no page', ...list.map((f) => f.control)]);
    this.#holder.replaceChildren(group(`Fields of ${file.name}`, ...(pages.length > 1 ? pages.map((p) => group(...p)) : pages[0].slice(1))));
    this.#holder.hidden = false;
    this.#other.open = false;
    announce(`${fields.length}\u00a0${fields.length === 1 ? 'field' : 'fields'}.`);
  }

  // values are those that were changed, by the full names of their fields; null: none was.
  values() {
    const changed = this.#shown.filter((f) => JSON.stringify(f.is()) !== f.before);
    return changed.length > 0 ? Object.fromEntries(changed.map((f) => [f.name, f.is()])) : null;
  }

  // first is the first control; undefined where there is none.
  get first() {
    return this.#holder.querySelector('input, select, textarea') ?? undefined;
  }

  #say(text) {
    const p = element('p', text);
    p.className = 'fine';
    this.#holder.replaceChildren(p);
    this.#holder.hidden = false;
    announce(text);
  }

  // control makes the control of a field, with its label.
  #control(field, id) {
    const { control, is, beside = [] } = make(field, id);
    control.id = id;
    this.#shown.push({ name: field.name, is, before: JSON.stringify(is()) });
    const wrong = element('p');
    wrong.id = `${id}-wrong`;
    wrong.className = 'wrong';
    wrong.hidden = true;
    const named = field.label && field.label !== field.name ? fine(field.name) : null;
    const about = [field.label || field.name, ...(named ? [' ', named] : []), ...(field.flags.includes('required') ? [' ', fine('(required)')] : [])];
    const label = element('label', ...(control.type === 'checkbox' ? [control, element('span', ...about)] : about));
    label.htmlFor = id;
    const holder = element('div', label, ...(control.type === 'checkbox' ? [] : [control]), ...beside, wrong);
    holder.className = control.type === 'checkbox' ? 'field switch' : 'field';
    holder.dataset.field = `field ${JSON.stringify(field.name)}`;
    return holder;
  }
}

function fine(text) {
  const s = element('span', text);
  s.className = 'fine';
  return s;
}

// make returns the control for a kind of field, what it holds, and what stands beside it.
function make({ kind, flags, value, values = [], options = [], max = 0 }, id) {
  const chosen = values.length > 0 ? values : [value];
  if (kind === 'checkbox' && options.length === 1) {
    const control = element('input');
    control.type = 'checkbox';
    control.checked = value === options[0].value;
    return { control, is: () => (control.checked ? options[0].value : 'Off') };
  }
  if (kind === 'text' || (kind === 'choice' && flags.includes('editable'))) {
    const control = element(flags.includes('multiline') ? 'textarea' : 'input');
    if (control.type !== 'textarea') control.type = 'text';
    else control.rows = 4;
    control.value = value;
    control.autocomplete = 'off';
    if (max > 0) control.maxLength = max;
    if (kind === 'text') return { control, is: () => control.value };
    const list = element('datalist', ...options.map((o) => element('option', o.text ?? o.value)));
    list.id = `${id}-options`;
    control.setAttribute('list', list.id);
    return { control, is: () => control.value, beside: [list] };
  }
  const control = element('select');
  control.multiple = kind === 'list' && flags.includes('multiple');
  const none = kind === 'checkbox' || kind === 'radio' ? 'Off' : '';
  const known = options.map((o) => o.value);
  if (!control.multiple && !known.includes(none) && !(flags.includes('no-off') && known.includes(value))) control.append(choice(none, '—', chosen));
  for (const o of options) control.append(choice(o.value, o.text ?? o.value, chosen));
  if (kind === 'list') control.size = Math.min(Math.max(control.options.length, 2), 6);
  return { control, is: () => (control.multiple ? [...control.selectedOptions].map((o) => o.value) : control.value) };
}

function choice(value, text, chosen) {
  const o = element('option', text);
  o.value = value;
  o.selected = chosen.includes(value);
  return o;
}
