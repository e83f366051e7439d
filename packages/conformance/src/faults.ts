/** A repository with one good model and one model directory for each single fault. */
import { cpSync, mkdirSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { testModel } from '@nereid/testing';

export const GOOD = 'good';

interface Fault {
  readonly name: string;
  /** Turns a copy of the good model into the faulty one. */
  readonly break: (directory: string) => void;
  /** What the reason must name: the thing, and what to do. */
  readonly fragments: readonly string[];
}

const CONFIG = `backend: "pytorch"
platform: "pytorch_libtorch"
max_batch_size: 4
input [ { name: "a" data_type: TYPE_FP32 dims: [ 3 ] }, { name: "b" data_type: TYPE_FP32 dims: [ 3 ] } ]
output [ { name: "OUTPUT__0" data_type: TYPE_FP32 dims: [ 3 ] }, { name: "OUTPUT__1" data_type: TYPE_FP32 dims: [ 3 ] } ]
`;

const configure = (directory: string, config: string) => writeFileSync(join(directory, 'config.pbtxt'), config);
const file = (directory: string) => join(directory, '1', 'model.pt');

export const FAULTS: readonly Fault[] = [
  {
    name: 'truncated-archive',
    break: (directory) => truncateSync(file(directory), 2000),
    fragments: ['model.pt', 'was cut off', 'Copy or download it again'],
  },
  {
    name: 'state-dict',
    break: (directory) => cpSync(join(testModel('archive_files'), 'state_dict.pt'), file(directory)),
    fragments: ['state dict', 'torch.jit.script'],
  },
  {
    name: 'wrong-input-name',
    break: (directory) =>
      configure(directory, CONFIG.replace('name: "b"', 'name: "INPUT__7"').replace('name: "a"', 'name: "INPUT__0"')),
    fragments: ['INPUT__7', '7'],
  },
  {
    name: 'missing-input',
    break: (directory) => configure(directory, CONFIG.replace(/, \{ name: "b".*?\}/, '')),
    fragments: ['configuration expects 1 inputs, model provides 2', 'b: Tensor'],
  },
  {
    name: 'wrong-dtype-name',
    break: (directory) => configure(directory, CONFIG.replace('TYPE_FP32', 'TYPE_FLOAT32')),
    fragments: ['config.pbtxt:4:', 'TYPE_FLOAT32', 'TYPE_FP32'],
  },
  {
    name: 'unknown-field',
    break: (directory) => configure(directory, `${CONFIG}default_model_name: "model.pt"\n`),
    fragments: ['config.pbtxt:6:1', 'default_model_name', 'default_model_filename'],
  },
  {
    name: 'bad-version-directory',
    break: (directory) => {
      cpSync(join(directory, '1'), join(directory, 'v1'), { recursive: true });
      configure(directory, `${CONFIG}version_policy { specific { versions: [ 9 ] } }\n`);
    },
    fragments: ['at least one version must be available', '1'],
  },
  {
    name: 'empty-file',
    break: (directory) => truncateSync(file(directory), 0),
    fragments: ['model.pt', 'empty'],
  },
  {
    name: 'unreadable-file',
    // A link to nowhere: a file without permissions would still be read by root.
    break: (directory) => {
      mkdirSync(join(directory, '2'));
      symlinkSync(join(directory, 'nowhere'), join(directory, '2', 'model.pt'));
    },
    fragments: ['model.pt'],
  },
  {
    name: 'unknown-operator',
    break: (directory) => {
      cpSync(join(testModel('backend_torchscript'), 'unknown_operator.pt'), file(directory));
      configure(directory, CONFIG.replace(/input.*/, 'input [ { name: "x" data_type: TYPE_FP32 dims: [ 3 ] } ]'));
    },
    fragments: ['operator', '::'],
  },
];

/** Writes the repository into an empty directory. */
export function writeFaultyRepository(directory: string): void {
  for (const fault of [{ name: GOOD, break: () => {} }, ...FAULTS]) {
    const model = join(directory, fault.name);
    mkdirSync(join(model, '1'), { recursive: true });
    cpSync(join(testModel('golden_repository'), 'addsub', '1', 'model.pt'), file(model));
    configure(model, CONFIG);
    fault.break(model);
  }
}
