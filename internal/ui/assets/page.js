// What every page has: copying, and a voice for screen readers.

const voice = document.getElementById('announce');

export function announce(text) {
  voice.textContent = '';
  setTimeout(() => { voice.textContent = text; }, 50);
}

async function copy(text) {
  if (navigator.clipboard) return navigator.clipboard.writeText(text);
  // Without a secure context there is only the old way.
  const area = document.createElement('textarea');
  area.value = text;
  document.body.append(area);
  area.select();
  const ok = document.execCommand('copy');
  area.remove();
  if (!ok) throw new Error('copying is refused');
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
    announce('The browser does not let this page copy.');
  }
});

// problem is what an answer says went wrong.
export async function problem(response) {
  try {
    const p = await response.json();
    return p.detail || p.title || `status ${response.status}`;
  } catch {
    return `status ${response.status}`;
  }
}

enableCopying();
