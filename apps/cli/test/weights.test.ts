import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { testModel } from '@nereid/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { nereid } from './nereid.ts';
import { startQuietly } from './server.ts';

const CONFIG = `platform: "torch_aoti"
max_batch_size: 8
input [ { name: "INPUT__0" data_type: TYPE_FP32 dims: [ 512 ] } ]
output [ { name: "OUTPUT__0" data_type: TYPE_FP32 dims: [ 16 ] } ]
`;

let repository = '';
let server: Awaited<ReturnType<typeof startQuietly>>;

beforeAll(async () => {
  repository = mkdtempSync(join(tmpdir(), 'nereid-weights-'));
  const model = join(repository, 'scaled');
  mkdirSync(join(model, '1'), { recursive: true });
  writeFileSync(join(model, 'config.pbtxt'), CONFIG);
  cpSync(join(testModel('weights'), 'scaled.pt2'), join(model, '1', 'model.pt2'));
  for (const name of ['threes.safetensors', 'no_buffer.pt', 'narrow.pt'])
    cpSync(join(testModel('weights'), name), join(model, name));
  server = await startQuietly([repository], ['allow-weight-updates=true']);
});

afterAll(async () => {
  await server.stop();
  rmSync(repository, { recursive: true });
});

async function resultOf(value: number): Promise<unknown> {
  const inputs = [{ name: 'INPUT__0', datatype: 'FP32', shape: [1, 512], data: Array(512).fill(value) }];
  const response = await fetch(`${server.url}/v2/models/scaled/infer`, {
    method: 'POST',
    body: JSON.stringify({ inputs }),
  });
  const { outputs } = (await response.json()) as { readonly outputs: readonly { readonly data: readonly number[] }[] };
  return outputs[0]?.data[0];
}

const weights = (...argv: readonly string[]) => nereid(['weights', 'scaled', ...argv, '--url', server.url]);

describe('nereid weights', () => {
  it('gives a model of a server new weights, and says what became of them', async () => {
    expect(await weights('threes.safetensors')).toEqual({
      code: 0,
      stdout: "3 weights of 'scaled' were exchanged\n",
      stderr: '',
    });
    expect(await resultOf(1)).toBe(6);
    const { stdout } = await weights('no_buffer.pt', '--model-version', '1');
    expect(stdout).toBe("2 weights of 'scaled' were exchanged\nkept their values: scale\n");
    expect(await resultOf(2)).toBe(6);
  });

  it.each([
    ['narrow.pt', "'weight' is FP32 [16,3], the package has parameter 'weight' FP32 [16,512]"],
    ['none.pt', 'there is no such file'],
    ['../scaled.pt', 'escapes the directory'],
  ])('fails for %s with the words of the server, and the old weights stay', async (file, message) => {
    const before = await resultOf(1);
    const { code, stderr } = await weights(file);
    expect(code).toBe(1);
    expect(stderr).toContain(message);
    expect(await resultOf(1)).toBe(before);
  });

  it('is refused by a server that was not told to allow it', async () => {
    const other = await startQuietly([repository]);
    const { code, stderr } = await nereid(['weights', 'scaled', 'threes.safetensors', '--url', other.url]);
    expect(code).toBe(1);
    expect(stderr).toContain('the server allows it with --allow-weight-updates');
    await other.stop();
  });
});
