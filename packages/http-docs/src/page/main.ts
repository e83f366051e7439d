/** The page: models on one side, the chosen one on the other; the address says which. */
import { element, part } from './dom.ts';
import { type ModelPlace, modelView } from './model-view.ts';
import { describe, type IndexEntry, jsonBody, Refusal, Server } from './server.ts';

const FILTER_FROM = 10;

const main = part('main', 'main');
const list = part('ul', 'list');
const filter = part('input', 'filter');
const headers = part('textarea', 'headers');
const server = new Server(extraHeaders);
let index: readonly IndexEntry[] = [];

function extraHeaders(): readonly (readonly [string, string])[] {
  return headers.value.split('\n').flatMap((line) => {
    const at = line.indexOf(':');
    const name = line.slice(0, Math.max(at, 0)).trim();
    return name === '' ? [] : [[name, line.slice(at + 1).trim()] as const];
  });
}

/** `#model/NAME` or `#model/NAME/VERSION`, each percent-encoded. */
function chosenPlace(): ModelPlace | undefined {
  const [kind, name = '', version = ''] = location.hash.split('/').map(decode);
  return kind === '#model' && name !== '' ? { name, version } : undefined;
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

const placeOf = (name: string, version = '') =>
  `#model/${encodeURIComponent(name)}${version === '' ? '' : `/${encodeURIComponent(version)}`}`;

async function showServer(): Promise<void> {
  const health = part('span', 'health');
  const [told, ready] = await Promise.all([
    server.document<{ readonly name: string; readonly version: string }>({ path: '/v2' }).catch(() => undefined),
    server.call({ path: '/v2/health/ready' }).catch(() => undefined),
  ]);
  if (told !== undefined) {
    part('h1', 'server').textContent = `${told.name} ${told.version}`;
    document.title = `${told.name}: models`;
  }
  const [word, kind] =
    ready === undefined ? ['no answer', 'bad'] : ready.status === 200 ? ['ready', 'good'] : ['not ready', 'bad'];
  health.textContent = word ?? '';
  health.className = `badge ${kind}`;
}

/** @returns whether the server told it */
async function showIndex(): Promise<boolean> {
  try {
    index = await server.document<IndexEntry[]>({ path: '/v2/repository/index', body: jsonBody('{}') });
  } catch (thrown) {
    list.replaceChildren();
    main.replaceChildren(element('p', { class: 'error', role: 'alert' }, describe(thrown)));
    if (thrown instanceof Refusal && thrown.status === 403) part('details', 'keys').open = true;
    return false;
  }
  const names = [...new Set(index.map(({ name }) => name))];
  filter.hidden = names.length < FILTER_FROM;
  list.replaceChildren(...names.map(listItem));
  if (names.length === 0) list.append(element('li', { class: 'hint' }, 'The server has no models.'));
  markChosen();
  return true;
}

function listItem(name: string): HTMLElement {
  const isReady = index.some((entry) => entry.name === name && entry.state === 'READY');
  const state = isReady ? 'READY' : (index.find((entry) => entry.name === name)?.state ?? 'UNKNOWN');
  const badge = element('span', { class: `badge ${isReady ? 'good' : 'bad'}` }, state);
  return element('li', {}, element('a', { href: placeOf(name) }, element('span', { class: 'name' }, name), badge));
}

/** Which of several that were asked for came last: only that one is shown. */
let asked = 0;

async function showModel(): Promise<void> {
  const place = chosenPlace() ?? firstReady();
  if (place === undefined) {
    main.replaceChildren(element('p', { class: 'hint' }, 'Choose a model.'));
    return;
  }
  markChosen();
  const turn = ++asked;
  const view = await modelView(server, place, {
    entries: index.filter(({ name }) => name === place.name),
    choose: (version) => location.assign(placeOf(place.name, version)),
  });
  if (turn === asked) main.replaceChildren(view);
}

function markChosen(): void {
  const place = chosenPlace() ?? firstReady();
  for (const link of list.querySelectorAll('a')) {
    const isChosen = place !== undefined && link.getAttribute('href') === placeOf(place.name);
    if (isChosen) link.setAttribute('aria-current', 'page');
    else link.removeAttribute('aria-current');
  }
}

function firstReady(): ModelPlace | undefined {
  const entry = index.find(({ state }) => state === 'READY');
  return entry && { name: entry.name, version: '' };
}

const isNarrow = matchMedia('(max-width: 50rem)');

addEventListener('hashchange', () => {
  // The link past the list changes it too.
  if (chosenPlace() === undefined) return;
  if (isNarrow.matches) part('details', 'models').open = false;
  void showModel().then(() => main.focus());
});
filter.addEventListener('input', () => {
  const wanted = filter.value.toLowerCase();
  for (const item of list.querySelectorAll('li')) item.hidden = !item.textContent?.toLowerCase().includes(wanted);
});
headers.addEventListener('change', () => {
  void showServer();
  // What a person has written into a form stays.
  const isShown = main.querySelector('[role=tablist]') !== null;
  void showIndex().then((isTold) => {
    if (isTold && !isShown) void showModel();
  });
});
isNarrow.addEventListener('change', () => {
  if (!isNarrow.matches) part('details', 'models').open = true;
});
if (isNarrow.matches && chosenPlace() !== undefined) part('details', 'models').open = false;
void showServer();
void showIndex().then((isTold) => {
  if (isTold) void showModel();
});
