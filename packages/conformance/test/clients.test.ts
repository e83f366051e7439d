/** The TypeScript clients against a server of its own process with real models, over both protocols. */
import { fileURLToPath } from 'node:url';
import {
  fetchTransport,
  GrpcClient,
  HttpClient,
  type InferenceClient,
  nodeTransport,
  Sequence,
  tensor,
  valuesOf,
} from '@nereid/client';
import { DATATYPES, type Datatype, isDatatype } from '@nereid/core';
import { testModel } from '@nereid/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type NereidProcess, startNereid } from '../src/nereid-process.ts';

const DECOUPLED = fileURLToPath(new URL('../repositories/decoupled', import.meta.url));

let server: NereidProcess;
beforeAll(async () => {
  server = await startNereid([testModel('golden_repository'), testModel('more_datatypes'), DECOUPLED]);
}, 120_000);
afterAll(() => server?.stop());

const CLIENTS: readonly (readonly [string, () => InferenceClient])[] = [
  ['fetch', () => new HttpClient({ url: server.url, transport: fetchTransport() })],
  ['node:http', () => new HttpClient({ url: server.url, transport: nodeTransport() })],
  ['gRPC', () => new GrpcClient({ url: server.grpcPlace })],
  [
    'compressed HTTP',
    () => new HttpClient({ url: server.url, requestCompression: 'gzip', responseCompression: 'deflate' }),
  ],
  ['compressed gRPC', () => new GrpcClient({ url: server.grpcPlace, requestCompression: 'deflate' })],
];

const VALUES: { readonly [D in Datatype]?: readonly unknown[] } = {
  BOOL: [true, false],
  INT64: [-(2n ** 63n), 7n],
  UINT64: [2n ** 64n - 1n],
  FP16: [0.5, -65_504],
  BF16: [1.5, -3],
  FP32: [0.1, Number.NaN],
  BYTES: ['', 'é😀', '\u0000'],
};

const repeat = (values: readonly number[], delay: number) => ({
  model: 'repeat',
  inputs: [
    tensor({ name: 'IN', datatype: 'INT32', values }),
    tensor({ name: 'DELAY', datatype: 'INT32', values: [delay] }),
  ],
});

describe.each(CLIENTS)('over %s', (_, open) => {
  test.each(Object.keys(DATATYPES).filter(isDatatype))('%s comes back as it was sent', async (datatype) => {
    await using client = open();
    const name = datatype === 'BYTES' ? 'words' : 'x';
    const x = tensor({ name, datatype, values: VALUES[datatype] ?? [1, 2, 3] } as Parameters<typeof tensor>[0]);
    const { outputs } = await client.infer({ model: `id_${datatype.toLowerCase()}`, inputs: [x] });
    const [output] = outputs;
    expect(output).toMatchObject({ datatype, shape: x.shape });
    expect(output && valuesOf(output)).toEqual(valuesOf(x));
  });

  test('a sequence keeps its state', async () => {
    await using client = open();
    const sequence = new Sequence(client, 'running');
    const step = (value: number) => ({
      inputs: [tensor({ name: 'INPUT__0', datatype: 'FP32', shape: [1, 1], values: [value] })],
    });
    const answers = [sequence.infer(step(1)), sequence.infer(step(2)), sequence.infer(step(3), { last: true })];
    const sums = (await Promise.all(answers)).map((result) => result.values('OUTPUT__0', 'FP32')[0]);
    expect(sums).toEqual([1, 3, 6]);
  });

  test('classes have their labels', async () => {
    await using client = open();
    const x = tensor({ name: 'x', datatype: 'FP32', shape: [1, 4], values: [1, 4, 2, 3] });
    const result = await client.infer({ model: 'classes', inputs: [x], outputs: [{ name: 'OUTPUT__0', classes: 2 }] });
    expect(result.values('OUTPUT__0', 'BYTES')).toEqual(['4.000000:1:dog', '3.000000:3:owl']);
  });

  test('many at a time are answered each with its own', async () => {
    await using client = open();
    const answers = await Promise.all(
      Array.from({ length: 50 }, async (__, i) => {
        const x = tensor({ name: 'x', datatype: 'INT32', values: [i] });
        return (await client.infer({ model: 'id_int32', inputs: [x] })).values('OUTPUT__0', 'INT32')[0];
      }),
    );
    expect(answers).toEqual(Array.from({ length: 50 }, (__, i) => i));
  });
});

describe('a decoupled model', () => {
  test('streams its answers over gRPC, and is cancelled by who stops reading', async () => {
    await using client = new GrpcClient({ url: server.grpcPlace });
    const seen: unknown[] = [];
    for await (const answer of client.inferStream(repeat([4, 5, 6], 1))) seen.push(answer.values('OUT', 'INT32')[0]);
    expect(seen).toEqual([4, 5, 6]);
    for await (const answer of client.inferStream(repeat(Array(200).fill(7), 50))) {
      expect(answer.isFinal).toBe(false);
      break;
    }
    await expect.poll(() => cancelled(client), { timeout: 10_000 }).toBeGreaterThan(0);
  });

  test('streams its answers over HTTP, and ends with the deadline', async () => {
    await using client = new HttpClient({ url: server.url });
    const seen: unknown[] = [];
    const read = async (values: readonly number[], delay: number, timeoutMs: number) => {
      for await (const { OUT } of client.generateStream('repeat', { IN: values, DELAY: delay }, { timeoutMs }))
        seen.push(OUT);
    };
    await read([1, 2, 3], 1, 10_000);
    expect(seen).toEqual([1, 2, 3]);
    await expect(read(Array(200).fill(9), 50, 300)).rejects.toMatchObject({ reason: 'timeout' });
    await expect(read([1, -1], 1, 10_000)).rejects.toMatchObject({
      reason: 'refused',
      serverMessage: expect.stringContaining('value 1 is negative'),
    });
  });
});

/** Requests to `repeat` that were cancelled or failed. */
async function cancelled(client: InferenceClient): Promise<number> {
  const [statistics] = await client.statistics({ model: 'repeat' });
  return (
    (statistics?.fail.count ?? 0) + (statistics?.responses ?? []).reduce((sum, { cancel }) => sum + cancel.count, 0)
  );
}

test('a call that finds nobody is sent again until the server is there', async () => {
  const other = await startNereid([testModel('golden_repository')]);
  await other.stop();
  const { port } = new URL(other.url);
  await using client = new HttpClient({
    url: other.url,
    retry: { attempts: 200, baseDelayMs: 100, maxDelayMs: 200 },
    timeoutMs: 30_000,
  });
  const x = tensor({ name: 'x', datatype: 'INT32', values: [3] });
  const answer = client.infer({ model: 'id_int32', inputs: [x] });
  await using _again = await startNereid([testModel('golden_repository')], ['--http-port', port]);
  expect((await answer).values('OUTPUT__0', 'INT32')).toEqual(Int32Array.of(3));
}, 60_000);
