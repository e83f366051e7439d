/** The form of an inference. */
import { commandView } from './command-view.ts';
import { button, element, labelled } from './dom.ts';
import { type Body, inferBody } from './infer-body.ts';
import { inputField } from './input-field.ts';
import { jsonProblem } from './json.ts';
import { firstParameters, isOptional, type ShownModel } from './model.ts';
import { outcome, outputs } from './outcome.ts';
import { describe } from './server.ts';

/** How long nobody types before the command is made anew. */
const TYPING_PAUSE_MS = 150;

export function inferPanel(model: ShownModel): Node {
  const { server, path } = model;
  const result = outcome();
  const command = commandView();
  const parameters = element('textarea', {
    rows: '2',
    spellcheck: 'false',
    autocomplete: 'off',
    placeholder: '{"priority": 1}',
  });
  parameters.value = firstParameters(model);

  /** @throws {TypeError} that says which field is filled in wrongly */
  const readBody = () => {
    const problem = parameters.value.trim() === '' ? undefined : jsonProblem(parameters.value, 'object');
    if (problem !== undefined) throw new TypeError(`parameters: ${problem}`);
    const inputs = fields.map((field) => field.read()).filter((values) => values !== undefined);
    return inferBody({ inputs, outputs: model.metadata.outputs, parameters: parameters.value });
  };
  const showCommand = (body: Body) =>
    command.show({ url: `${location.origin}${path}/infer`, body, headers: server.extraHeaders() });
  let timer = 0;
  const changed = () => {
    clearTimeout(timer);
    timer = setTimeout(() => {
      try {
        showCommand(readBody());
      } catch {
        // What is wrong is told when the person runs the model.
        command.show(undefined);
      }
    }, TYPING_PAUSE_MS);
  };
  const fields = model.metadata.inputs.map((input) => inputField(input, isOptional(model, input.name), changed));
  parameters.addEventListener('input', changed);

  const run = async () => {
    let body: Body;
    try {
      body = readBody();
    } catch (thrown) {
      result.failed((thrown as TypeError).message);
      return;
    }
    clearTimeout(timer);
    showCommand(body);
    const stop = new AbortController();
    setRunning(stop);
    result.waiting('Running …');
    try {
      result.answered(await server.call({ path: `${path}/infer`, body, signal: stop.signal }), outputs);
    } catch (thrown) {
      result.failed(describe(thrown));
    } finally {
      setRunning(undefined);
    }
  };
  const start = element('button', { type: 'submit', class: 'primary' }, 'Run');
  let running: AbortController | undefined;
  const cancel = button('Stop', () => running?.abort(), { hidden: true });
  const setRunning = (next: AbortController | undefined) => {
    running = next;
    start.disabled = next !== undefined;
    cancel.hidden = next === undefined;
  };
  const form = element(
    'form',
    {},
    ...fields.map(({ node }) => node),
    element(
      'details',
      { open: parameters.value !== '' },
      element('summary', {}, 'Parameters'),
      labelled('A JSON object', parameters),
    ),
    element('p', { class: 'actions' }, start, cancel),
  );
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    void run();
  });
  return element('div', {}, form, result.node, command.node);
}
