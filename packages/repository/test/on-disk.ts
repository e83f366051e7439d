import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

/** What to create below a directory: content of a file, `dir` for an empty directory, or a link. */
export type Tree = Readonly<Record<string, string | typeof dir | { readonly link: string }>>;

export const dir = { directory: true } as const;

export interface OnDisk extends Disposable {
  readonly path: string;
}

/** A temporary directory with the given content; removed when disposed. */
export function onDisk(tree: Tree): OnDisk {
  const path = mkdtempSync(join(tmpdir(), 'nereid-repository-'));
  for (const [name, content] of Object.entries(tree)) create(join(path, name), content);
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }) };
}

function create(path: string, content: Tree[string]): void {
  mkdirSync(dirname(path), { recursive: true });
  if (content === dir) mkdirSync(path, { recursive: true });
  else if (typeof content === 'string') writeFileSync(path, content);
  else if (typeof content === 'object' && 'link' in content) symlinkSync(content.link, path);
}
