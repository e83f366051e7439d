import { expect, test } from 'vitest';
import { bytes, Session, type Setup, vectors } from './support.ts';

const TIMES = 200;
const MEBIBYTE = 2 ** 20;
/** A leak of the small models' files (100 KB and more a time) would be 10 MB in the second half. */
const BOUND = 6 * MEBIBYTE;

const setup: Setup = { batching: true };
const mlp = { buffers: [new Uint8Array(256)], rows: [1], shapes: [2, 1, 64] };

const CASES = [
  { engine: 'TorchScript', open: () => Session.torchScript('double'), batch: vectors(bytes(1)) },
  { engine: 'AOTInductor', open: () => Session.aoti('mlp', setup), batch: mlp },
];

test.each(CASES)(
  `$engine: loading, running and unloading ${TIMES} times takes no more memory in the second half`,
  { timeout: 300_000 },
  async ({ open, batch }) => {
    let half = 0;
    for (let i = 0; i < TIMES; i++) {
      if (i === TIMES / 2) half = process.memoryUsage.rss();
      await using session = await open();
      await session.run(batch);
    }
    expect(process.memoryUsage.rss() - half).toBeLessThan(BOUND);
  },
);
