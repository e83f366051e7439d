/** Making elements. Texts of others (names of models, errors, tensors) are only ever set as text. */

type Attributes = Readonly<Record<string, string | boolean>>;

/**
 * @param attributes  `true` sets one without a value, `false` leaves it out
 * @param children    strings become text
 */
export function element<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  attributes: Attributes = {},
  ...children: readonly (Node | string)[]
): HTMLElementTagNameMap[Tag] {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== false) made.setAttribute(name, value === true ? '' : value);
  }
  made.append(...children);
  return made;
}

/** An element of the page's own markup. */
export function part<Tag extends keyof HTMLElementTagNameMap>(tag: Tag, id: string): HTMLElementTagNameMap[Tag] {
  const found = document.querySelector<HTMLElementTagNameMap[Tag]>(`${tag}#${id}`);
  if (found === null) throw new TypeError(`the page has no <${tag} id="${id}">`);
  return found;
}

let ids = 0;

/** A label and the control it names. */
export function labelled(text: string, control: HTMLElement, ...more: readonly (Node | string)[]): HTMLElement {
  control.id = control.id || `control-${ids++}`;
  return element('div', { class: 'field' }, element('label', { for: control.id }, text), control, ...more);
}

export function button(text: string, act: () => void, attributes: Attributes = {}): HTMLButtonElement {
  const made = element('button', { type: 'button', ...attributes }, text);
  made.addEventListener('click', act);
  return made;
}

/** A table with a head; cells are text. */
export function table(caption: string, head: readonly string[], rows: readonly (readonly string[])[]): HTMLElement {
  const headCells = head.map((text) => element('th', { scope: 'col' }, text));
  const bodyRows = rows.map(([first = '', ...rest]) =>
    element('tr', {}, element('th', { scope: 'row' }, first), ...rest.map((text) => element('td', {}, text))),
  );
  return element(
    'div',
    { class: 'scroll', tabindex: '0', role: 'region', 'aria-label': caption },
    element(
      'table',
      {},
      element('caption', {}, caption),
      element('thead', {}, element('tr', {}, ...headCells)),
      element('tbody', {}, ...bodyRows),
    ),
  );
}

/** Text as it stands, in a box that scrolls. */
export function block(label: string, text: string): HTMLElement {
  return element('pre', { tabindex: '0', role: 'region', 'aria-label': label }, text);
}
