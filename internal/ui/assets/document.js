import { ask, duration, element, enable, enabled, problem } from './page.js';
import { show } from './viewer.js';

const viewer = document.querySelector('main .viewer');
if (viewer) show(viewer, { url: viewer.dataset.pdf });

// "Verify" asks the server to make the file from its frozen data and to
// compare it with the stored one.
const button = document.getElementById('remake');
const answer = document.getElementById('answer');

if (button) {
  button.disabled = false;
  button.addEventListener('click', () => remake(''));
}

// The query is empty, or asks to put the file made again in the place of damaged bytes.
async function remake(query) {
  if (!enabled(button)) return;
  enable(button, false);
  button.setAttribute('aria-busy', 'true');
  if (answer.contains(document.activeElement)) button.focus();
  answer.className = 'answer';
  answer.textContent = '';
  const start = performance.now();
  try {
    const response = await ask(button.dataset.verify + query, { method: 'POST', headers: { Accept: 'application/json' } });
    if (!response.ok) throw await problem(response);
    say(await response.json(), performance.now() - start);
  } catch (err) {
    answer.classList.add('failed');
    answer.replaceChildren(strong(err.title ?? 'No response'), err.message);
  } finally {
    enable(button, true);
    button.removeAttribute('aria-busy');
  }
}

function say(verdict, ms) {
  const took = `Rendered again and compared in ${duration(ms)}.`;
  if (verdict.stored === 'damaged' || verdict.stored === 'lost') {
    damaged(verdict);
    return;
  }
  answer.classList.add(verdict.answer);
  switch (verdict.answer) {
    case 'identical':
      answer.replaceChildren(strong('Identical, sha256'), code(verdict.file), line(took));
      break;
    case 'differs':
      answer.replaceChildren(strong(verdict.at >= 0 ? `Differs at byte ${verdict.at}` : 'Differs from its receipt'),
        line('The hash of the stored file is'), code(verdict.file));
      break;
    case 'intact':
      answer.replaceChildren(strong('Intact, made by another engine'),
        line('The file matches its receipt. This engine writes other bytes from the same data.'),
        line(`Made by engine ${verdict.made_by}. The engine here is ${verdict.engine}.`));
      break;
    default:
      answer.replaceChildren(strong('Unknown here'), verdict.reason || 'Its template or data is missing.');
  }
  if (verdict.stored === 'restored') answer.append(line('The stored file was damaged or missing. It has been restored.'));
}

// damaged tells of stored bytes that are not those of the receipt, and offers to put the file made
// again in their place when it is.
function damaged(verdict) {
  answer.classList.add('failed');
  answer.replaceChildren(strong(verdict.stored === 'lost' ? 'The stored file is missing' : 'The stored bytes are damaged'));
  if (verdict.answer !== 'identical' || !verdict.in_audit_log) {
    answer.append(line(verdict.reason || 'The file rendered again does not match the receipt, so it cannot replace the stored file.'));
    return;
  }
  const restore = element('button', 'Restore');
  restore.type = 'button';
  restore.className = 'button wide';
  restore.id = 'restore';
  restore.addEventListener('click', () => remake('?restore=true'));
  answer.append(line('The file rendered again matches the receipt, byte for byte.'), restore);
}

const strong = (text) => element('strong', text);
const code = (text) => element('code', text);
const line = (text) => element('div', text);
