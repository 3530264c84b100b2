// Keeps a page up to date, and makes the page map easy to use. Without it every page still works: cells are links, forms are
// forms, and reloading shows what is new.

const watch = document.body.dataset.watch || '';

// --- Times that say how long ago something was.

function relative(seconds) {
  const d = Math.abs(seconds);
  let text = '';
  if (d < 5) return 'now';
  if (d < 60) text = Math.floor(d) + ' s';
  else if (d < 3600) text = Math.floor(d / 60) + ' min';
  else if (d < 48 * 3600) text = Math.floor(d / 3600) + ' h';
  else text = Math.floor(d / 86400) + ' days';
  return seconds > 0 ? 'in ' + text : text + ' ago';
}

function tick() {
  for (const t of document.querySelectorAll('time[data-rel]')) {
    const text = relative((Date.parse(t.dateTime) - Date.now()) / 1000);
    if (t.textContent !== text) t.textContent = text;
  }
}
setInterval(tick, 10000);

// --- The parts of a page that change are asked for again and exchanged. What is open stays open, and what has the focus
// keeps it.

let wanted = false; // a change has come since the last look
let looking = false;
let next = 0; // no look before

// What is being clicked is not taken away under the pointer.
let pressed = false;
addEventListener('pointerdown', () => { pressed = true; }, true);
for (const end of ['pointerup', 'pointercancel', 'blur']) {
  addEventListener(end, () => {
    pressed = false;
    setTimeout(look, 50); // after the click
  }, true);
}

async function look() {
  if (looking || !wanted || pressed || document.hidden) return;
  const wait = next - performance.now();
  if (wait > 0) {
    setTimeout(look, wait + 5);
    return;
  }
  wanted = false;
  looking = true;
  const began = performance.now();
  try {
    const answer = await fetch(location.pathname + location.search);
    if (answer.ok) exchange(new DOMParser().parseFromString(await answer.text(), 'text/html'));
    wanted ||= pressed;
  } catch {
    wanted = true; // it is asked again with the next event, or when the stream is back
  }
  // A page that is dear to make is asked for less often.
  next = performance.now() + Math.max(1000, 8 * (performance.now() - began));
  looking = false;
  if (wanted) setTimeout(look, 1000);
}

const shown = new WeakMap(); // what the server said last, by element

// timeless is a part of a page without what its clocks say.
const timeless = (html) => html.replace(/(<time [^>]*data-rel[^>]*>)[^<]*/g, '$1');

// chipOf is the verdict or state that a screen reader is told of when it changes.
const chipOf = (e) => e.querySelector('.chip')?.textContent.trim() || '';

function exchange(fresh) {
  for (const old of document.querySelectorAll('[data-swap]')) {
    const now = fresh.getElementById(old.id);
    if (!now || pressed) continue;
    const html = timeless(now.innerHTML);
    if (html === (shown.get(old) ?? timeless(old.innerHTML))) continue;
    if (old.contains(document.activeElement) && document.activeElement.matches('input, textarea, select')) continue;
    const open = [...old.querySelectorAll('details[open][id]')].map((d) => d.id);
    const key = focusKey(old);
    const scrolled = [...old.querySelectorAll('.map, .scroll, .events')].map((e) => e.scrollTop);
    old.className = now.className;
    shown.set(old, html);
    const chip = chipOf(old);
    const plot = old.querySelector(':scope > .plot');
    old.replaceChildren(...now.childNodes);
    if (plot) old.prepend(plot);
    for (const id of open) document.getElementById(id)?.setAttribute('open', '');
    [...old.querySelectorAll('.map, .scroll, .events')].forEach((e, i) => { e.scrollTop = scrolled[i] || 0; });
    enhance(old, key);
    if ((old.id === 'verdict' || old.id === 'state') && chipOf(old) !== chip) {
      document.getElementById('said').textContent = document.querySelector('h1').textContent + ': ' + chipOf(old);
    }
    old.dispatchEvent(new CustomEvent('exchanged', {bubbles: true}));
  }
  count();
  tick();
}

// focusKey names what has the focus inside an element, so that its successor can be found.
function focusKey(inside) {
  const e = document.activeElement;
  if (!e || !inside.contains(e)) return '';
  return e.getAttribute('href') || e.getAttribute('aria-label') || e.id;
}

function enhance(root, key) {
  const map = root.querySelector('.map');
  if (map) prepareMap(map, key);
  if (!key || root.contains(document.activeElement)) return;
  const again = [...root.querySelectorAll('a, button, summary, [tabindex]')]
    .find((e) => [e.getAttribute('href'), e.getAttribute('aria-label'), e.id].includes(key));
  again?.focus({preventScroll: true});
}

// --- The stream of events.

let stream = null;
const sign = document.getElementById('live');

function say(state, text) {
  if (!sign || sign.textContent === text) return;
  sign.removeAttribute('data-on');
  sign.removeAttribute('data-off');
  if (state) sign.setAttribute('data-' + state, '');
  sign.textContent = text;
}

function concerns(e) {
  if (watch === 'all') return true;
  const [kind, name] = [watch.slice(0, watch.indexOf(':')), watch.slice(watch.indexOf(':') + 1)];
  return kind === 'pull' ? e.pull === name : e.run === name;
}

// The counts of runs that are under way: the store follows them by a checkpoint.
const latest = new Map();

function count() {
  for (const [run, progress] of latest) {
    for (const place of document.querySelectorAll('[data-run="' + CSS.escape(run) + '"]')) {
      for (const [what, n] of Object.entries(progress)) {
        const field = place.querySelector('[data-count="' + what + '"]');
        if (field && n !== null) field.textContent = n.toLocaleString('en-US');
      }
    }
  }
}

function hear(e) {
  if (e.progress && e.run) {
    latest.set(e.run, e.progress);
    count();
  }
  if (e.report) latest.delete(e.run);
  if (!concerns(e)) return;
  if (e.kind === 'progress' && !watch.startsWith('run:')) return; // the counts are all that changed
  wanted = true;
  look();
}

function listen() {
  if (!watch || stream || document.hidden) return;
  stream = new EventSource('/events');
  let before = false;
  stream.onopen = () => {
    say('on', 'live');
    if (before) { // what came meanwhile was missed
      wanted = true;
      look();
    }
    before = true;
  };
  stream.onmessage = (m) => hear(JSON.parse(m.data));
  stream.onerror = () => {
    say('off', 'reconnecting');
    if (stream && stream.readyState === EventSource.CLOSED) { // the browser has given up: refused, or logged out
      stream = null;
      setTimeout(listen, 5000);
    }
  };
}

// A page that nobody sees keeps no connection.
document.addEventListener('visibilitychange', () => {
  if (document.hidden) {
    stream?.close();
    stream = null;
  } else {
    listen();
    if (watch) {
      wanted = true;
      look();
    }
  }
});
addEventListener('pagehide', () => {
  stream?.close();
  stream = null;
});
addEventListener('pageshow', listen);

// --- The page map: one stop for the tab key, arrows inside, and a single request opens below the map.

function prepareMap(map, key) {
  const cells = [...map.children];
  let at = Math.max(0, cells.findIndex((c) => key && c.getAttribute('href') === key));
  cells.forEach((c, i) => { c.tabIndex = i === at ? 0 : -1; });
  const chosen = document.getElementById('attempt')?.dataset.at;
  if (chosen) cells.find((c) => c.getAttribute('href') === chosen)?.setAttribute('aria-current', 'true');

  const move = (to) => {
    to = Math.min(cells.length - 1, Math.max(0, to));
    cells[at].tabIndex = -1;
    at = to;
    cells[at].tabIndex = 0;
    cells[at].focus();
  };
  map.onfocusin = (e) => {
    const i = cells.indexOf(e.target);
    if (i < 0 || i === at) return;
    cells[at].tabIndex = -1;
    at = i;
    cells[at].tabIndex = 0;
  };
  map.addEventListener('keydown', (e) => {
    if (e.ctrlKey || e.metaKey || e.altKey) return;
    const row = Math.max(1, getComputedStyle(map).gridTemplateColumns.split(' ').length);
    const step = {ArrowRight: 1, ArrowLeft: -1, ArrowDown: row, ArrowUp: -row, PageDown: 10 * row, PageUp: -10 * row}[e.key];
    if (step) move(at + step);
    else if (e.key === 'Home') move(0);
    else if (e.key === 'End') move(cells.length - 1);
    else return;
    e.preventDefault();
  });
}

async function openAttempt(link) {
  const place = document.getElementById('attempt');
  const href = link.getAttribute('href');
  let answer;
  try {
    answer = await fetch(href);
  } catch {
    location.href = href;
    return;
  }
  if (!answer.ok && answer.status !== 404) {
    location.href = href;
    return;
  }
  const fresh = new DOMParser().parseFromString(await answer.text(), 'text/html');
  const row = fresh.getElementById('attempt-row') || fresh.querySelector('main > p');
  const head = row.querySelector('h1'); // below the map it is a heading of that
  if (head) {
    const lower = document.createElement('h3');
    lower.append(...head.childNodes);
    head.replaceWith(lower);
  }
  place.replaceChildren(row);
  place.dataset.at = href;
  place.hidden = false;
  for (const c of document.querySelectorAll('.map a[aria-current]')) c.removeAttribute('aria-current');
  document.querySelector('.map a[href="' + CSS.escape(href) + '"]')?.setAttribute('aria-current', 'true');
  place.scrollIntoView({block: 'nearest'});
}

document.addEventListener('click', (e) => {
  if (e.defaultPrevented || e.button !== 0 || e.ctrlKey || e.metaKey || e.shiftKey || e.altKey) return;
  const place = document.getElementById('attempt');
  const link = e.target.closest('.map a[href*="/attempts/"], #attempt a[data-attempt]');
  if (!place || !link) return;
  e.preventDefault();
  const inside = place.contains(link);
  openAttempt(link).then(() => { if (inside) place.focus({preventScroll: true}); });
});

enhance(document, '');
listen();
tick();
