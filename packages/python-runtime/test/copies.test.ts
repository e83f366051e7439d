/** How often a tensor is copied, counted by the kernel: the bytes that each side moves with system calls. */
import { existsSync, readFileSync } from 'node:fs';
import { valuesOf } from '@nereid/testing';
import { describe, expect, it } from 'vitest';
import { inputsAndOutputs, ServedModel } from './served-model.ts';

const BYTES = 32 * 2 ** 20;
const CONFIG = inputsAndOutputs(['x FP32 -1'], ['y FP32 -1', 'shared BOOL 1']);

interface Moved {
  readonly read: number;
  readonly written: number;
}

function movedBy(pid: number | 'self'): Moved {
  const text = readFileSync(`/proc/${pid}/io`, 'utf8');
  const field = (name: string) => Number(new RegExp(`^${name}: (\\d+)$`, 'm').exec(text)?.[1]);
  return { read: field('rchar'), written: field('wchar') };
}

/** Bytes moved between two readings, in tensors. */
function tensors(before: Moved, after: Moved): Moved {
  const round = (bytes: number) => Math.round((bytes / BYTES) * 10) / 10;
  return { read: round(after.read - before.read), written: round(after.written - before.written) };
}

describe.skipIf(!existsSync('/proc/self/io'))('a large tensor (where the kernel counts, in /proc/self/io)', () => {
  it('is copied once into shared memory, which Python reads in place, and once out of it; none of it is on the pipe', async () => {
    await using model = await ServedModel.load({ file: 'where.py', config: CONFIG });
    const x = { name: 'x', datatype: 'FP32', shape: [BYTES / 4], data: new Uint8Array(BYTES) } as const;
    await model.infer(x);
    const { pid = 0 } = model.instance();
    const before = { node: movedBy('self'), python: movedBy(pid) };
    const outputs = await model.infer(x);
    const after = { node: movedBy('self'), python: movedBy(pid) };
    expect(tensors(before.node, after.node)).toEqual({ read: 1, written: 1 });
    expect(tensors(before.python, after.python)).toEqual({ read: 0, written: 0 });
    const shared = outputs.get('shared');
    expect(shared && valuesOf(shared)).toEqual([1]);
  });
});
