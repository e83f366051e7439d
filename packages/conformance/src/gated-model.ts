/** Models that wait until they are let go on, so that what happens meanwhile does not depend on how fast anything is. */
import { cpSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { configText } from './config-text.ts';
import { writeModelTree } from './model-tree.ts';

const MODEL = fileURLToPath(new URL('../repositories/gated/model.py', import.meta.url));

/** The gate of one model: it is open at first. */
export class Gate {
  readonly #file: string;

  /**
   * Writes the model, one FP32 in and out per row, in batches of eight at most.
   * @param more  how it is scheduled, as text of its configuration
   */
  constructor(repository: string, { name, more = '' }: { readonly name: string; readonly more?: string }) {
    const config = configText({
      platform: null,
      maxBatchSize: 8,
      input: ['x TYPE_FP32 1'],
      output: ['y TYPE_FP32 1'],
      parameters: { TORCH_COMPILE_OPTIONAL_PARAMETERS: '{\\"disable\\": true}' },
      more: `backend: "pytorch"\nruntime: "model.py"\n${more}`,
    });
    writeModelTree(repository, { name, config, versions: { 1: null } });
    cpSync(MODEL, join(repository, name, '1', 'model.py'));
    this.#file = join(repository, name, '1', 'closed');
  }

  /** What runs from now on waits. */
  close(): void {
    writeFileSync(this.#file, '');
  }

  open(): void {
    rmSync(this.#file, { force: true });
  }
}
