import { readFileSync } from 'node:fs';
import { fuzz, mutated } from '@nereid/testing/fuzz';
import fc from 'fast-check';
import { afterAll, expect } from 'vitest';
import { inspectAoti, inspectTorchScript, ModelArchiveError, readWeights, sniffModelFile } from '../src/index.ts';
import { exported, temporary } from './temporary.ts';
import { zipOf } from './zip-of.ts';

const disk = temporary();
afterAll(() => disk[Symbol.dispose]());

const WHOLE = (['scripted.pt', 'state_dict.pt', 'legacy_module.pt'] as const).map((file) =>
  readFileSync(exported('files', file)),
);
/** A small archive, so that most changes hit its structure. */
const SMALL = zipOf({
  'm/data.pkl': '\u0080\u0002}q\u0000.',
  'm/version': '3',
  'm/code/a.py': { contents: 'x'.repeat(90), deflate: true },
});
const PIECES = [
  'PK\x03\x04',
  'PK\x01\x02',
  'PK\x05\x06',
  'PK\x06\x06',
  '\x80\x02',
  'ctorch\nTensor\n',
  '.',
  '(',
  'q\x00',
  '\x85Rq',
];
const dictionary = PIECES.map((piece) => Buffer.from(piece, 'latin1'));

fuzz(
  'model-archive',
  fc.asyncProperty(mutated(fc.constantFrom(SMALL, SMALL, ...WHOLE), { dictionary, changes: 6 }), async (bytes) => {
    const path = disk.file('model.pt', bytes);
    for (const read of [sniffModelFile, inspectAoti, inspectTorchScript, readWeights]) {
      try {
        await read(path);
      } catch (thrown) {
        expect(thrown).toBeInstanceOf(ModelArchiveError);
      }
    }
  }),
);
