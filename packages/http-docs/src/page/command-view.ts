/** The curl command of what the form says, to be copied; a long body to be saved beside it. */

import { bodyFile, type CurlCall, curlCommand, isInline } from './curl.ts';
import { block, button, element } from './dom.ts';
import type { Body } from './infer-body.ts';

export interface CommandView {
  readonly node: HTMLElement;
  show(call: CurlCall | undefined): void;
}

export function commandView(): CommandView {
  const text = block('The same with curl', '');
  const told = element('span', { role: 'status', class: 'hint' });
  let body: Body | undefined;
  const copy = button('Copy', () => {
    copyText(text.textContent ?? '').then((answer) => {
      told.textContent = answer;
    });
  });
  const save = button('', () => body && saveFile(body));
  return {
    node: element(
      'details',
      { open: true },
      element('summary', {}, 'The same with curl'),
      text,
      element('p', { class: 'actions' }, copy, save, told),
    ),
    show(call) {
      body = call?.body;
      text.textContent = call === undefined ? '' : curlCommand(call);
      save.hidden = body === undefined || isInline(body);
      save.textContent = body === undefined ? '' : `Save ${bodyFile(body)}`;
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

function saveFile(body: Body): void {
  const url = URL.createObjectURL(new Blob([body.head, ...body.blobs]));
  element('a', { href: url, download: bodyFile(body) }).click();
  URL.revokeObjectURL(url);
}
