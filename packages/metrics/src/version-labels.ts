import type { ModelStatistics } from '@nereid/serving';
import { formatLabel } from './text.ts';

/** Labels of one version as they are written, ascending by name: tags, then those that stand before `model`, `model`, those after it, `version`. */
export class VersionLabels {
  /** Without a label of the series. */
  readonly plain: string;
  readonly #start: string;
  readonly #model: string;
  readonly #end: string;

  constructor({ name, version, metricTags }: ModelStatistics) {
    const tags = new Map([...metricTags].map(([tag, value]) => [labelName(tag), value]));
    this.#start = [...tags.keys()]
      .sort()
      .map((tag) => `${formatLabel(tag, tags.get(tag) ?? '')},`)
      .join('');
    this.#model = formatLabel('model', name);
    this.#end = formatLabel('version', version);
    this.plain = `{${this.#start}${this.#model},${this.#end}}`;
  }

  /** With one label of the series. */
  with(label: 'batch_size' | 'instance' | 'le' | 'quantile' | 'reason', value: string): string {
    const own = formatLabel(label, value);
    const pair = label < 'model' ? `${own},${this.#model}` : `${this.#model},${own}`;
    return `{${this.#start}${pair},${this.#end}}`;
  }
}

/** Configurations may hold any text as the name of a tag; labels may not. Of tags that become one label, the last counts. */
function labelName(tag: string): string {
  return `_${tag.replaceAll(/[^a-zA-Z0-9_]/g, '_')}`;
}
