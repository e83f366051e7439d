import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { testModel } from '@nereid/testing';

/** A directory that is removed with its files when the test ends. */
export function temporary() {
  const directory = mkdtempSync(join(tmpdir(), 'model-archive-'));
  return {
    directory,
    /** Writes a file and returns its path. */
    file(name: string, contents: Uint8Array | string): string {
      const path = join(directory, name);
      writeFileSync(path, contents);
      return path;
    },
    [Symbol.dispose]: () => rmSync(directory, { recursive: true }),
  };
}

/** Path of a file that one of the export scripts `archive_*.py` wrote. */
export function exported(model: 'files' | 'nested' | 'several', file = 'model.pt2'): string {
  return join(testModel(`archive_${model}`), file);
}
