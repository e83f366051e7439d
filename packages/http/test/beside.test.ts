/** JSON that is so long that it is dealt with on a thread: everything is as on the event loop. */
import { CloningThreads } from '@nereid/testing';
import { describe, expect, it } from 'vitest';
import runJsonTask from '../../protocol/src/json-job.ts';
import { binaryBody, binaryInput, type Served, serve } from './fixture.ts';

const COUNT = 200_000;
const numbers = Array.from({ length: COUNT }, (_, i) => i % 251);
const long = (more: object = {}) =>
  JSON.stringify({
    id: 'é1',
    inputs: [{ name: 'x', datatype: 'UINT8', shape: [COUNT], data: numbers }],
    parameters: { a: 1 },
    ...more,
  });

async function post(
  served: Served,
  path: string,
  body: string | Uint8Array<ArrayBuffer>,
  headers: Record<string, string> = {},
) {
  const answer = await fetch(`${served.url}/v2/models/${path}`, { method: 'POST', body, headers });
  return [answer.status, answer.headers.get('inference-header-content-length'), await answer.text()];
}

describe.each([{ factory: true }, { factory: false }])('with the server factory: $factory', ({ factory }) => {
  const words = { name: 'x', datatype: 'BYTES', shape: [2], data: ['é'.repeat(200_000), 'b'] };
  const inBoth = binaryBody(
    { inputs: [binaryInput('x', 'FP32', [100_000], 400_000)], parameters: { note: 'x'.repeat(300_000) } },
    Buffer.from(new Float32Array(100_000).map((_, i) => i / 3).buffer),
  );
  it.each<[string, string, string | Uint8Array<ArrayBuffer>, Record<string, string>, number]>([
    ['an inference, and its answer', 'id_uint8/infer', long(), {}, 1],
    ['strings, both ways', 'id_bytes/infer', JSON.stringify({ inputs: [words] }), {}, 2],
    ['a refusal of what stands in it', 'id_uint8/infer', long({ outputs: 7 }), {}, 1],
    ['a refusal of what is no JSON', 'id_uint8/infer', `${long()}}`, {}, 1],
    [
      'data that lacks a binary part',
      'id_uint8/infer',
      long({
        inputs: [{ name: 'y'.repeat(300_000), datatype: 'UINT8', shape: [1], parameters: { binary_data_size: 1 } }],
      }),
      {},
      1,
    ],
    ['a header before a binary part', 'id_fp32/infer', Uint8Array.from(inBoth.body), inBoth.headers, 2],
    [
      'an answer that is compressed',
      'id_fp32/infer',
      Uint8Array.from(inBoth.body),
      { ...inBoth.headers, 'accept-encoding': 'gzip' },
      2,
    ],
    ['a call of generate', 'id_bytes/generate', JSON.stringify({ x: words.data, stop: true }), {}, 2],
    ['a call of generate that is refused', 'id_bytes/generate', JSON.stringify({ x: words.data, id: 7 }), {}, 1],
    [
      'events in their order',
      'repeat/generate_stream',
      JSON.stringify({ x: [1, 2], note: 'x'.repeat(300_000) }),
      {},
      1,
    ],
    ['long events', 'id_fp32/generate_stream', JSON.stringify({ x: numbers }), {}, 2],
  ])('answers %s as without threads', async (_, path, body, headers, jobs) => {
    const threads = new CloningThreads(runJsonTask);
    await using beside = await serve({ factory, threads });
    await using plain = await serve({ factory });
    expect(await post(beside, path, body, headers)).toEqual(await post(plain, path, body, headers));
    expect(threads.count).toBe(jobs);
    expect(beside.log.errors).toEqual([]);
  });

  it('answers what came before a long request first, and what comes after it after it', async () => {
    await using served = await serve({ factory, threads: new CloningThreads(runJsonTask) });
    const slow = post(served, 'id_uint8/infer', long());
    const short = JSON.stringify({ inputs: [{ name: 'x', datatype: 'UINT8', shape: [1], data: [1] }] });
    const [answers] = await Promise.all([
      Promise.all([1, 2, 3].map(() => post(served, 'id_uint8/infer', short))),
      slow,
    ]);
    expect(answers.map(([status]) => status)).toEqual([200, 200, 200]);
    expect((await slow)[0]).toBe(200);
  });

  it('refuses an answer in JSON beyond the limit of input, and sends it as binary data', async () => {
    await using served = await serve({ factory, maxInputBytes: 100_000 });
    const data = new Uint8Array(100_001);
    const ask = (binary: boolean) =>
      binaryBody(
        { inputs: [binaryInput('x', 'UINT8', [data.length], data.length)], parameters: { binary_data_output: binary } },
        data,
      );
    const json = ask(false);
    expect(await post(served, 'id_uint8/infer', Uint8Array.from(json.body), json.headers)).toEqual([
      400,
      null,
      expect.stringContaining('have 100001 bytes, more than the limit of 100000: request them as binary data'),
    ]);
    const binary = ask(true);
    expect((await post(served, 'id_uint8/infer', Uint8Array.from(binary.body), binary.headers))[0]).toBe(200);
  });
});
