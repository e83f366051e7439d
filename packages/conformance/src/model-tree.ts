/** Model repositories made of test models. */
import { cpSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { testModel } from '@nereid/testing';

/** One model directory. */
export interface ModelTree {
  readonly name: string;
  /** Text of config.pbtxt, which is not there when it is left out. */
  readonly config?: string;
  /** For each version the path of its model file below the test models, e.g. `addsub/model.pt`; null leaves the version without one. */
  readonly versions: Readonly<Record<string, string | null>>;
  /** What else lies in the model directory, by path. */
  readonly files?: Readonly<Record<string, Uint8Array>>;
}

/** Absolute path of a file below the test models. */
function testModelFile(path: string): string {
  const [model = '', ...rest] = path.split('/');
  return join(testModel(model), ...rest);
}

/** Writes the model into a repository; a model file gets the name that its platform expects. */
export function writeModelTree(repository: string, { name, config, versions, files = {} }: ModelTree): void {
  for (const [version, file] of Object.entries(versions)) {
    const directory = join(repository, name, version);
    mkdirSync(directory, { recursive: true });
    if (file !== null) cpSync(testModelFile(file), join(directory, `model${file.slice(file.lastIndexOf('.'))}`));
  }
  for (const [path, content] of Object.entries(files)) {
    const file = join(repository, name, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, content);
  }
  if (config !== undefined) writeFileSync(join(repository, name, 'config.pbtxt'), config);
}
