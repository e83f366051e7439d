/** One input of a model: its shape and how it is filled, or its values. */
import { element, labelled } from './dom.ts';
import type { InputValues } from './infer-body.ts';
import { jsonProblem } from './json.ts';
import type { TensorMetadata } from './server.ts';
import { elementCount, FILLS, type Fill, fillText, firstShape, parseShape } from './tensors.ts';

/** Values that are shown, and can be edited, at once; more are made when the model is run. */
const MAX_SHOWN = 512;

/** Values that are made at most: a browser holds more, but not as text. */
const MAX_MADE = 4_000_000;

const OWN = 'own';

export interface InputField {
  readonly node: HTMLElement;
  /** @returns undefined for an optional input that is left out @throws {TypeError} that says what is wrong */
  read(): InputValues | undefined;
}

export function inputField(input: TensorMetadata, isOptional: boolean, changed: () => void): InputField {
  const { name, datatype } = input;
  const shape = element('input', {
    type: 'text',
    value: firstShape(input.shape).join(', '),
    spellcheck: 'false',
    autocomplete: 'off',
  });
  const fill = fillChoice();
  const values = element('textarea', { rows: '3', spellcheck: 'false', autocomplete: 'off' });
  const note = element('p', { class: 'hint' });
  const sent = element('input', { type: 'checkbox' });
  sent.checked = !isOptional;

  const refill = () => {
    const dims = parseShape(shape.value);
    const isOwn = fill.value === OWN;
    const count = dims === undefined ? 0 : elementCount(dims);
    const isLong = !isOwn && count > MAX_SHOWN;
    values.readOnly = isLong;
    if (!isOwn && dims !== undefined) values.value = isLong ? '' : fillText(datatype, count, fill.value as Fill);
    values.placeholder = isLong ? `${count.toLocaleString('en')} values, made when the model is run` : '[…]';
    note.textContent = dims === undefined ? 'Dimensions are whole numbers, as in 1, 3, 32, 32.' : '';
    changed();
  };
  shape.addEventListener('input', refill);
  fill.addEventListener('change', refill);
  sent.addEventListener('change', changed);
  values.addEventListener('input', () => {
    fill.value = OWN;
    changed();
  });
  refill();

  return {
    node: element(
      'fieldset',
      {},
      element('legend', {}, element('code', {}, name), ` ${datatype} [${input.shape.join(', ')}]`),
      ...(isOptional ? [labelled('Send', sent)] : []),
      element('div', { class: 'row' }, labelled('Shape', shape), labelled('Fill with', fill)),
      labelled('Values, a JSON array', values),
      note,
    ),
    read() {
      if (!sent.checked) return undefined;
      const dims = parseShape(shape.value);
      if (dims === undefined) throw new TypeError(`shape of '${name}': expected whole numbers, found '${shape.value}'`);
      if (values.readOnly && elementCount(dims) > MAX_MADE)
        throw new TypeError(`shape of '${name}': the page makes ${MAX_MADE.toLocaleString('en')} values at most`);
      const data = values.readOnly ? fillText(datatype, elementCount(dims), fill.value as Fill) : values.value;
      const problem = jsonProblem(data, 'array');
      if (problem !== undefined) throw new TypeError(`values of '${name}': ${problem}`);
      return { name, datatype, shape: dims, data };
    },
  };
}

function fillChoice(): HTMLSelectElement {
  const options = Object.entries({ ...FILLS, [OWN]: 'own values' });
  return element('select', {}, ...options.map(([value, text]) => element('option', { value }, text)));
}
