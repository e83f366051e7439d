import { entryPath } from '../fields.ts';
import type { ModelConfig } from '../generated/types.ts';
import type { Check } from './rule.ts';

interface FileName {
  readonly field: string;
  readonly value: string;
  readonly path: string;
  /** Directory that it is relative to, as messages name it. */
  readonly base: string;
}

/** A model must not read what lies outside its own directory. */
const escapingName: Check = function* ({ config, model }) {
  for (const { field, value, path, base } of fileNames(config)) {
    if (!escapes(value)) continue;
    const message = `'${field}' of ${model} escapes ${base}: ${JSON.stringify(value)}; name a file inside it`;
    yield { path, message };
  }
};

function* fileNames(config: ModelConfig): Iterable<FileName> {
  const version = 'the version directory';
  yield {
    field: 'default_model_filename',
    value: config.defaultModelFilename,
    path: 'default_model_filename',
    base: version,
  };
  for (const [key, value] of config.ccModelFilenames) {
    yield { field: 'cc_model_filenames', value, path: entryPath('cc_model_filenames', key), base: version };
  }
  yield { field: 'runtime', value: config.runtime, path: 'runtime', base: 'backend directory' };
  for (const [i, { labelFilename: value }] of config.output.entries()) {
    yield { field: 'label_filename', value, path: `output[${i}].label_filename`, base: 'the model directory' };
  }
  yield* dataFiles(config);
}

function* dataFiles(config: ModelConfig): Iterable<FileName> {
  for (const [i, { inputs }] of config.modelWarmup.entries()) {
    for (const [name, { inputDataFile: value = '' }] of inputs) {
      const path = `${entryPath(`model_warmup[${i}].inputs`, name)}.input_data_file`;
      yield { field: 'input_data_file', value, path, base: `the model's warmup directory` };
    }
  }
  for (const [i, { initialState }] of (config.sequenceBatching?.state ?? []).entries()) {
    for (const [j, { dataFile: value = '' }] of initialState.entries()) {
      const path = `sequence_batching.state[${i}].initial_state[${j}].data_file`;
      yield { field: 'data_file', value, path, base: `the model's initial_state directory` };
    }
  }
}

/** By the letters alone: absolute, with a drive, or with more `..` than directories before them. */
function escapes(name: string): boolean {
  if (/^(?:[/\\]|[A-Za-z]:)/.test(name)) return true;
  let depth = 0;
  for (const part of name.split(/[/\\]/)) {
    if (part === '..') depth--;
    else if (part !== '' && part !== '.') depth++;
    if (depth < 0) return true;
  }
  return false;
}

/** Rules on the names of files. */
export const FILE_NAME_RULES = {
  'escaping-file-name': escapingName,
} satisfies Record<string, Check>;
