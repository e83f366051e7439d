import { copyFileSync, readFileSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { inspectAoti, inspectTorchScript, ModelArchiveError, sniffModelFile } from '../src/index.ts';
import { exported, temporary } from './temporary.ts';
import { zipOf } from './zip-of.ts';

describe('a cut archive is recognised, and inspecting it is an error that says so', () => {
  it.each([
    ['files', 'scripted.pt', 0.1],
    ['files', 'scripted.pt', 0.5],
    ['files', 'scripted.pt', 0.99],
    ['nested', 'model.pt2', 0.5],
    ['nested', 'model.pt2', 0.9999],
  ] as const)('archive_%s/%s cut to %d of its length', async (model, file, part) => {
    using disk = temporary();
    const path = join(disk.directory, file);
    copyFileSync(exported(model, file), path);
    const left = Math.floor(readFileSync(path).length * part);
    truncateSync(path, left);
    expect(await sniffModelFile(path)).toMatchObject({
      kind: 'truncated-zip',
      remedy: 'Copy or download it again and compare the sizes.',
    });
    await expect(inspectAoti(path)).rejects.toMatchObject({
      reason: 'truncated',
      message: expect.stringContaining(`${left} bytes are there`),
    });
  });
});

it('a file of another kind says what it is and what to do', async () => {
  await expect(inspectAoti(exported('files', 'state_dict.pt'))).rejects.toMatchObject({
    reason: 'wrong-kind',
    message: expect.stringMatching(/^Expected an AOTInductor package, but '.*' is a state dict.*load_state_dict/),
  });
  await expect(inspectTorchScript(exported('nested'))).rejects.toMatchObject({
    reason: 'wrong-kind',
    message: expect.stringMatching(/^Expected a TorchScript archive, but '.*' is an AOTInductor package/),
  });
});

it.each([
  ['maxMembers', { maxMembers: 3 }, /has \d+ members, at most 3 are read \(option maxMembers\)\.$/],
  ['maxMemberBytes', { maxMemberBytes: 100 }, /has \d+ bytes, at most 100 are read \(option maxMemberBytes\)\.$/],
])('the limit %s holds', async (_, limits, message) => {
  await expect(inspectTorchScript(exported('files', 'scripted.pt'), limits)).rejects.toMatchObject({
    reason: 'limit',
    message: expect.stringMatching(message),
  });
});

describe('a member', () => {
  const contents = 'x'.repeat(1000);
  it.each([
    ['that is deflated is read', { contents, deflate: true }, 'eager-pickle'],
    ['with a stated size that is too small is damage', { contents, deflate: true, statedSize: 5 }, 'damaged-zip'],
    ['with a stated size that is too large is damage', { contents, deflate: true, statedSize: 5000 }, 'damaged-zip'],
    ['of an unknown compression method is damage', { contents, method: 99 }, 'damaged-zip'],
  ])('%s', async (_, member, kind) => {
    using disk = temporary();
    const found = await sniffModelFile(disk.file('model.pt', zipOf({ 'm/data.pkl': member, 'm/version': '3' })));
    expect(found.kind).toBe(kind);
  });
});

describe('whatever the bytes, nothing but a ModelArchiveError is thrown', () => {
  async function readAll(path: string): Promise<void> {
    for (const read of [sniffModelFile, inspectAoti, inspectTorchScript]) {
      await read(path).catch((error: unknown) => expect(error).toBeInstanceOf(ModelArchiveError));
    }
  }

  it('random bytes, with and without the beginning of a known format', async () => {
    using disk = temporary();
    const magic = ['', '504b0304', '504b0506', '80028a0a6cfc9c46f9206aa850192e', '8002', '8005', '0808', '7b'];
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...magic), fc.uint8Array({ maxLength: 300 }), async (head, tail) => {
        await readAll(disk.file('model.pt', Buffer.concat([Buffer.from(head, 'hex'), tail])));
      }),
      { seed: 4, numRuns: 150 },
    );
  });

  it.each([
    ['files', 'scripted.pt'],
    ['files', 'state_dict.pt'],
    ['files', 'legacy_module.pt'],
    ['nested', 'exported.pt2'],
  ] as const)('archive_%s/%s with some bytes changed', async (model, file) => {
    using disk = temporary();
    const original = readFileSync(exported(model, file));
    const place = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });
    const change = fc.tuple(place, fc.integer({ min: 0, max: 255 }));
    await fc.assert(
      fc.asyncProperty(fc.array(change, { minLength: 1, maxLength: 8 }), async (changes) => {
        const bytes = Buffer.from(original);
        // Counted from the end, so that most changes hit the table of contents.
        for (const [where, byte] of changes) bytes[bytes.length - 1 - Math.floor(where ** 3 * bytes.length)] = byte;
        await readAll(disk.file(file, bytes));
      }),
      { seed: 5, numRuns: 60 },
    );
  });
});
