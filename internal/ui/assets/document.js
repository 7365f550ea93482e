import { duration, element, enable, enabled, problem } from './page.js';
import { show } from './viewer.js';

const viewer = document.querySelector('main .viewer');
if (viewer) show(viewer, { url: viewer.dataset.pdf });

// "Make it again" asks the server to make the file from its frozen data and to
// compare it with the stored one.
const button = document.getElementById('remake');
const answer = document.getElementById('answer');

if (button) {
  button.disabled = false;
  button.addEventListener('click', remake);
}

async function remake() {
  if (!enabled(button)) return;
  enable(button, false);
  button.setAttribute('aria-busy', 'true');
  answer.className = 'answer';
  answer.textContent = '';
  const start = performance.now();
  try {
    const response = await fetch(button.dataset.verify, { method: 'POST', headers: { Accept: 'application/json' } });
    if (!response.ok) throw await problem(response);
    say(await response.json(), performance.now() - start);
  } catch (err) {
    answer.classList.add('failed');
    answer.replaceChildren(strong(err.title ?? 'No answer'), err.message);
  } finally {
    enable(button, true);
    button.removeAttribute('aria-busy');
  }
}

function say(verdict, ms) {
  answer.classList.add(verdict.answer);
  const took = `Made again and compared in ${duration(ms)}.`;
  switch (verdict.answer) {
    case 'identical':
      answer.replaceChildren(strong('Identical, sha256'), code(verdict.file), line(took));
      break;
    case 'differs':
      answer.replaceChildren(strong(verdict.at >= 0 ? `Differs at byte ${verdict.at}` : 'Differs from its receipt'),
        line('The stored file hashes to'), code(verdict.file));
      break;
    case 'intact':
      answer.replaceChildren(strong('Intact, made by another engine'),
        line('The file is the one of the receipt. This engine writes other bytes from the same data.'),
        line(`Made by ${verdict.made_by}, here is ${verdict.engine}.`));
      break;
    default:
      answer.replaceChildren(strong('Unknown here'), verdict.reason || 'What it was made from is gone.');
  }
}

const strong = (text) => element('strong', text);
const code = (text) => element('code', text);
const line = (text) => element('div', text);
