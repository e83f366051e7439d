/** The curl command of what the form says, to be copied; a long body to be saved beside it. */

import { BODY_FILE, type CurlCall, curlCommand, isInline } from './curl.ts';
import { block, button, element } from './dom.ts';

export interface CommandView {
  readonly node: HTMLElement;
  show(call: CurlCall | undefined): void;
}

export function commandView(): CommandView {
  const text = block('The same with curl', '');
  const told = element('span', { role: 'status', class: 'hint' });
  let body = '';
  const copy = button('Copy', () => {
    copyText(text.textContent ?? '').then((answer) => {
      told.textContent = answer;
    });
  });
  const save = button(`Save ${BODY_FILE}`, () => saveFile(BODY_FILE, body));
  return {
    node: element(
      'details',
      { open: true },
      element('summary', {}, 'The same with curl'),
      text,
      element('p', { class: 'actions' }, copy, save, told),
    ),
    show(call) {
      body = call?.body ?? '';
      text.textContent = call === undefined ? '' : curlCommand(call);
      save.hidden = isInline(body);
      told.textContent = '';
    },
  };
}

async function copyText(text: string): Promise<string> {
  try {
    await navigator.clipboard.writeText(text);
    return 'Copied.';
  } catch {
    // Browsers give the clipboard to pages of https and of this machine only.
    return 'The browser does not allow it here: select the text and copy it.';
  }
}

function saveFile(name: string, text: string): void {
  const url = URL.createObjectURL(new Blob([text], { type: 'application/json' }));
  element('a', { href: url, download: name }).click();
  URL.revokeObjectURL(url);
}
