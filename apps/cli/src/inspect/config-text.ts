/** Pieces of the configurations that `inspect --config` writes. */
import { format } from '@nereid/pbtxt';

export interface ConfigText {
  /** Text of a config.pbtxt. */
  readonly text: string;
  /** What has to be filled in before it can be used; one sentence each. */
  readonly open: readonly string[];
}

/** One tensor: lines of its message, comments included. */
export interface TensorText {
  readonly comments: readonly string[];
  readonly name: string;
  /** `data_type`, `dims` and what belongs to them, as text format. */
  readonly fields: readonly string[];
}

/** `input [ { … }, { … } ]`. */
export function tensorList(side: 'input' | 'output', tensors: readonly TensorText[]): string {
  const items = tensors.map(({ comments, name, fields }) =>
    ['{', ...comments.map(comment), `name: ${quote(name)}`, ...fields, '}'].join('\n'),
  );
  return items.length === 0 ? '' : `${side} [\n${items.join(',\n')}\n]`;
}

/** Joins sections with an empty line between them and lays them out as `nereid config --format` does. */
export function layOut(sections: readonly string[]): string {
  return format(`${sections.filter((section) => section !== '').join('\n\n')}\n`);
}

/** A comment that cannot be left by what stands in it. */
export function comment(text: string): string {
  return `# ${text.replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]+/g, ' ')}`;
}

export function quote(text: string): string {
  return JSON.stringify(text);
}

/** `dims: [ 3, -1 ]`, and the `reshape` that belongs to it. */
export function dimsFields(dims: readonly number[], reshape: readonly number[] | undefined): readonly string[] {
  const list = (sizes: readonly number[]) => `[ ${sizes.join(', ')} ]`;
  return [`dims: ${list(dims)}`, ...(reshape === undefined ? [] : [`reshape { shape: ${list(reshape)} }`])];
}
