// What every page has: copying, and a live region for screen readers.

const live = document.getElementById('announce');

export function announce(text) {
  live.textContent = '';
  setTimeout(() => { live.textContent = text; }, 50);
}

// enable says whether a control has something to do. One without is not disabled,
// which would take the focus from it: its action asks enabled first.
export function enable(control, on) {
  if (on) control.removeAttribute('aria-disabled');
  else control.setAttribute('aria-disabled', 'true');
}

export const enabled = (control) => control.getAttribute('aria-disabled') !== 'true';

async function copy(text) {
  if (navigator.clipboard) return navigator.clipboard.writeText(text);
  // Without a secure context there is only the old way.
  const held = document.activeElement;
  const area = document.createElement('textarea');
  area.value = text;
  document.body.append(area);
  area.select();
  const ok = document.execCommand('copy');
  area.remove();
  held?.focus();
  if (!ok) throw new Error('copying was refused');
}

export function enableCopying(root = document) {
  for (const button of root.querySelectorAll('.copy')) button.hidden = false;
}

document.addEventListener('click', async (event) => {
  const button = event.target.closest?.('.copy');
  if (!button) return;
  try {
    await copy(button.dataset.copy);
    button.classList.add('done');
    setTimeout(() => button.classList.remove('done'), 1500);
    announce('Copied.');
  } catch {
    announce('The browser does not allow this page to copy.');
  }
});

// ask fetches, and says in plain words when no answer came.
export async function ask(url, options) {
  try {
    return await fetch(url, options);
  } catch (err) {
    if (err.name === 'AbortError') throw err;
    throw Object.assign(new Error('The server did not answer. Try again.'), { title: 'No response' });
  }
}

// problem is what an answer says went wrong (RFC 9457): an Error with a title.
export async function problem(response) {
  const p = await response.json().catch(() => ({}));
  const title = p.title || `Status ${response.status}`;
  return Object.assign(new Error(p.detail || title), { title });
}

export function element(name, ...parts) {
  const e = document.createElement(name);
  e.append(...parts);
  return e;
}

// size keeps the number of bytes and its unit on one line.
export function size(bytes) {
  if (bytes < 1000) return `${bytes}\u00a0B`;
  if (bytes < 1e6) return `${Math.round(bytes / 1000)}\u00a0kB`;
  return `${(bytes / 1e6).toFixed(1)}\u00a0MB`;
}

// duration keeps the number and its unit on one line.
export function duration(ms) {
  if (ms < 1) return `${Math.max(1, Math.round(ms * 1000))}\u00a0µs`;
  if (ms < 10) return `${ms.toFixed(1)}\u00a0ms`;
  if (ms < 1000) return `${Math.round(ms)}\u00a0ms`;
  return `${(ms / 1000).toFixed(2)}\u00a0s`;
}

enableCopying();
