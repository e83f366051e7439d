/** Plain JSON in, one answer or a stream of them out. */
import { commandView } from './command-view.ts';
import { block, button, element, labelled } from './dom.ts';
import { jsonProblem } from './json.ts';
import type { ShownModel } from './model.ts';
import { outcome } from './outcome.ts';
import { describe, jsonBody } from './server.ts';
import { elementCount, fillText, firstShape } from './tensors.ts';

export function generatePanel({ server, path, metadata }: ShownModel): Node {
  const result = outcome();
  const command = commandView();
  const body = element('textarea', { rows: '6', spellcheck: 'false', autocomplete: 'off' });
  body.value = firstBody(metadata);
  const showCommand = () =>
    command.show({
      url: `${location.origin}${path}/generate_stream`,
      body: jsonBody(body.value),
      headers: server.extraHeaders(),
      isStream: true,
    });
  body.addEventListener('input', showCommand);

  let running: AbortController | undefined;
  const once = async (signal: AbortSignal) => {
    const reply = await server.call({ path: `${path}/generate`, body: jsonBody(body.value), signal });
    result.answered(reply, ({ text }) => [block('Answer', pretty(text))]);
  };
  const stream = async (signal: AbortSignal) => {
    const start = performance.now();
    const list = element('ol', { class: 'events', 'aria-label': 'Events' });
    result.add(list);
    let count = 0;
    for await (const event of server.events({ path: `${path}/generate_stream`, body: jsonBody(body.value), signal })) {
      const time = `${(performance.now() - start).toFixed(1)} ms`;
      list.append(
        element('li', {}, element('span', { class: 'type' }, time), block(`Event ${++count}`, pretty(event))),
      );
      result.told('busy', `${count} ${count === 1 ? 'event' : 'events'} …`);
    }
    result.told('good', `${count} ${count === 1 ? 'event' : 'events'} · ${(performance.now() - start).toFixed(1)} ms`);
  };
  const run = async (ask: (signal: AbortSignal) => Promise<void>) => {
    const problem = jsonProblem(body.value, 'object');
    if (problem !== undefined) {
      result.failed(`request: ${problem}`);
      return;
    }
    showCommand();
    running = new AbortController();
    setRunning(true);
    result.waiting('Running …');
    try {
      await ask(running.signal);
    } catch (thrown) {
      result.failed(describe(thrown));
    } finally {
      setRunning(false);
    }
  };
  const asks = [
    button('Generate', () => void run(once), { class: 'primary' }),
    button('Stream', () => void run(stream), { class: 'primary' }),
  ];
  const cancel = button('Stop', () => running?.abort(), { hidden: true });
  const setRunning = (isRunning: boolean) => {
    for (const ask of asks) ask.disabled = isRunning;
    cancel.hidden = !isRunning;
  };
  showCommand();
  return element(
    'div',
    {},
    labelled('Request: inputs by name, and parameters', body),
    element('p', { class: 'actions' }, ...asks, cancel),
    result.node,
    command.node,
  );
}

function firstBody({ inputs }: ShownModel['metadata']): string {
  const members = inputs.map(({ name, datatype, shape }) => {
    const count = elementCount(firstShape(shape));
    const values = fillText(datatype, count, 'random');
    return `  ${JSON.stringify(name)}: ${count === 1 ? values.slice(1, -1) : values}`;
  });
  return `{\n${members.join(',\n')}\n}`;
}

/** A line per member; what is no JSON stays as it is. Numbers keep their digits, as nothing but the space between members changes. */
function pretty(text: string): string {
  return text
    .replace(/^\{|\}$/g, (brace) => (brace === '{' ? '{\n  ' : '\n}'))
    .replace(/,(?="(?:[^"\\]|\\.)*":)/g, ',\n  ');
}
