import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { main } from '../src/main.ts';

/** Root of the repository. */
export const root = fileURLToPath(new URL('../../../', import.meta.url));

export const examples = join(root, 'examples', 'model_repository');

export interface Run {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Surroundings {
  readonly stdin?: string | Uint8Array;
  readonly env?: Readonly<Record<string, string>>;
  /** Whether both streams are terminals. */
  readonly terminal?: boolean;
}

/** Runs a command in this process. */
export async function nereid(
  argv: readonly string[],
  { stdin = '', env = {}, terminal = false }: Surroundings = {},
): Promise<Run> {
  const printed = { stdout: '', stderr: '' };
  const output = (name: keyof typeof printed) => ({
    isTTY: terminal,
    write: (text: string) => {
      printed[name] += text;
    },
  });
  const code = await main(argv, { stdout: output('stdout'), stderr: output('stderr'), stdin: streamOf(stdin), env });
  return { code, ...printed };
}

async function* streamOf(text: string | Uint8Array): AsyncGenerator<Uint8Array> {
  yield Buffer.from(text);
}

export interface Directory extends Disposable {
  readonly path: string;
}

/** Content of a file, or the absolute path of a file to copy. */
export type Tree = Readonly<Record<string, string | Uint8Array | { readonly copyOf: string }>>;

/** A temporary directory with the given files; removed when disposed. */
export function onDisk(tree: Tree): Directory {
  const path = mkdtempSync(join(tmpdir(), 'nereid-cli-'));
  for (const [name, content] of Object.entries(tree)) {
    const file = join(path, name);
    mkdirSync(dirname(file), { recursive: true });
    if (typeof content === 'object' && 'copyOf' in content) cpSync(content.copyOf, file);
    else writeFileSync(file, content);
  }
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }) };
}
