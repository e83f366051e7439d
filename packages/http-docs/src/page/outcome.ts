/** What a call brought: status, time, outputs or the server's error, and the answer as it came. */

import { fromBf16, fromFp16 } from '@nereid/core';
import { block, element } from './dom.ts';
import { parseJson } from './json.ts';
import { errorOf, type Reply } from './server.ts';
import { formatTensor, summary } from './tensors.ts';

const MAX_RAW = 20_000;

export interface Outcome {
  readonly node: HTMLElement;
  /** Before an answer: what is being waited for. */
  waiting(text: string): void;
  /** How it goes, of what is there. */
  told(kind: 'good' | 'busy', text: string): void;
  /** A message that is no answer of the server, such as a field that is filled in wrongly. */
  failed(message: string): void;
  answered(reply: Reply, content: (reply: Reply) => readonly Node[]): void;
  /** Adds below what is there. */
  add(...nodes: readonly Node[]): void;
}

export function outcome(): Outcome {
  const status = element('p', { class: 'status', role: 'status' });
  const content = element('div', { class: 'outcome' });
  const show = (kind: 'good' | 'bad' | 'busy', text: string) => {
    status.className = `status ${kind}`;
    status.textContent = text;
  };
  return {
    node: element('section', { 'aria-label': 'Answer' }, status, content),
    waiting(text) {
      show('busy', text);
      content.replaceChildren();
    },
    told: show,
    failed(message) {
      show('bad', message);
    },
    answered(reply, render) {
      const isGood = reply.status === 200;
      show(isGood ? 'good' : 'bad', `${reply.status} · ${reply.milliseconds.toFixed(1)} ms · ${sizeOf(reply)}`);
      const nodes = isGood ? render(reply) : [element('p', { class: 'error' }, errorOf(reply.text))];
      content.replaceChildren(...nodes, raw(reply.text));
    },
    add(...nodes) {
      content.append(...nodes);
    },
  };
}

function sizeOf(reply: Reply): string {
  const bytes = new TextEncoder().encode(reply.text).length + reply.bytes.length;
  return bytes < 1000 ? `${bytes} bytes` : `${(bytes / 1000).toFixed(1)} kB`;
}

function raw(text: string): HTMLElement {
  const shown = text.length > MAX_RAW ? `${text.slice(0, MAX_RAW)}\n… ${text.length - MAX_RAW} more characters` : text;
  return element('details', {}, element('summary', {}, 'Answer as it came'), block('Answer as it came', shown));
}

interface OutputEntry {
  readonly name: string;
  readonly datatype: string;
  readonly shape: readonly number[];
  readonly data?: readonly unknown[];
  /** The values are that many bytes behind the JSON. */
  readonly parameters?: { readonly binary_data_size?: number };
}

/** The outputs of an inference, each with its values by its shape. */
export function outputs({ text, bytes }: Reply): readonly Node[] {
  const { outputs: entries = [] } = parseJson(text) as { readonly outputs?: readonly OutputEntry[] };
  if (entries.length === 0) return [element('p', { class: 'hint' }, 'The answer has no outputs.')];
  let offset = 0;
  return entries.map(({ name, datatype, shape, data: told = [], parameters }) => {
    const size = parameters?.binary_data_size ?? 0;
    const data = size === 0 ? told : halfValues(datatype, bytes.slice(offset, offset + size));
    offset += size;
    const tensor = { datatype, shape, data };
    const numbers = summary(tensor);
    return element(
      'article',
      { class: 'output' },
      element(
        'h3',
        {},
        element('code', {}, name),
        element('span', { class: 'type' }, ` ${datatype} [${shape.join(', ')}]`),
      ),
      block(`Values of ${name}`, formatTensor(tensor)),
      ...(numbers === undefined ? [] : [element('p', { class: 'hint' }, numbers)]),
    );
  });
}

/** Values of FP16 and BF16, the only outputs that are asked for as bytes. */
function halfValues(datatype: string, bytes: Uint8Array): readonly number[] {
  return Array.from(datatype === 'FP16' ? fromFp16(bytes) : fromBf16(bytes));
}
