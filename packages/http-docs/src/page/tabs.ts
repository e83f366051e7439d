/** Tabs as the ARIA practices have them: arrows move between them, only the chosen one is in the order of the Tab key. */
import { element } from './dom.ts';

export interface Tab {
  readonly id: string;
  readonly title: string;
  /** Makes the content, once, when the tab is first chosen. */
  readonly content: () => Node;
  /** Called each time the tab is chosen. */
  readonly shown?: () => void;
}

/** @param label  what the tabs are about */
export function tabs(label: string, list: readonly Tab[], chosen: string): HTMLElement {
  const bar = element('div', { role: 'tablist', 'aria-label': label, class: 'tabs' });
  const entries = list.map((tab) => {
    const panelId = `panel-${tab.id}`;
    const head = element(
      'button',
      { type: 'button', role: 'tab', id: `tab-${tab.id}`, 'aria-controls': panelId },
      tab.title,
    );
    const panel = element('section', { role: 'tabpanel', id: panelId, 'aria-labelledby': `tab-${tab.id}` });
    return { tab, head, panel };
  });
  const choose = (id: string) => {
    for (const { tab, head, panel } of entries) {
      const isChosen = tab.id === id;
      head.setAttribute('aria-selected', String(isChosen));
      head.tabIndex = isChosen ? 0 : -1;
      panel.hidden = !isChosen;
      if (!isChosen) continue;
      if (panel.childElementCount === 0) panel.append(tab.content());
      tab.shown?.();
    }
  };
  bar.addEventListener('keydown', (event) => {
    const at = entries.findIndex(({ head }) => head === document.activeElement);
    const next = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: -1 }[event.key];
    const entry = next === undefined ? undefined : entries.at(next % entries.length);
    if (at === -1 || entry === undefined) return;
    event.preventDefault();
    choose(entry.tab.id);
    entry.head.focus();
  });
  for (const { tab, head } of entries) {
    head.addEventListener('click', () => choose(tab.id));
    bar.append(head);
  }
  choose(chosen);
  return element('div', {}, bar, ...entries.map(({ panel }) => panel));
}
