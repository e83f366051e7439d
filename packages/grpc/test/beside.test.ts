/** Typed contents that are so long that they are decoded on a thread: everything is as on the event loop. */
import { CloningThreads } from '@nereid/testing';
import { describe, expect, it } from 'vitest';
import decodeInferTask from '../src/infer-job.ts';
import { serve } from './fixture.ts';

const COUNT = 40_000;

function request(datatype: string, contents: object, more: object = {}) {
  const inputs = [{ name: 'x', datatype, shape: [COUNT], contents }];
  return { model_name: `id_${datatype.toLowerCase()}`, id: 'é', inputs, ...more };
}

const reals = { fp64_contents: Array.from({ length: COUNT }, (_, i) => i / 3) };
const words = { bytes_contents: Array.from({ length: COUNT }, (_, i) => Buffer.from(String(1e6 + i))) };

describe('a request', () => {
  it.each([
    ['with numbers', request('FP64', reals), 'OK'],
    ['with strings', request('BYTES', words), 'OK'],
    [
      'with a value that its datatype does not hold',
      request('INT8', { int_contents: new Array(4 * COUNT).fill(300) }),
      'INVALID_ARGUMENT',
    ],
    [
      'with a parameter that is refused',
      request('FP64', reals, { parameters: { triton_x: { bool_param: true } } }),
      'INVALID_ARGUMENT',
    ],
    ['for a model that is not there', request('FP64', reals, { model_name: 'none' }), 'NOT_FOUND'],
  ])('%s is answered as without threads, alone and on a stream', async (_, message, code) => {
    const threads = new CloningThreads(decodeInferTask);
    await using beside = await serve({ threads });
    await using plain = await serve();
    const answer = await beside.unary('ModelInfer', message);
    expect(answer.code).toBe(code);
    // As text: a comparison of bytes one by one takes seconds.
    expect(JSON.stringify(answer) === JSON.stringify(await plain.unary('ModelInfer', message))).toBe(true);
    const [streamed, expected] = [await beside.stream([message]), await plain.stream([message])];
    expect(JSON.stringify(streamed) === JSON.stringify(expected)).toBe(true);
    expect(threads.count).toBe(2);
  });

  it('keeps its place among those of a stream', async () => {
    await using served = await serve({ threads: new CloningThreads(decodeInferTask) });
    const short = (id: string) => ({
      model_name: 'id_uint8',
      id,
      inputs: [{ name: 'x', datatype: 'UINT8', shape: [1] }],
      raw_input_contents: [Buffer.of(1)],
    });
    const long = (id: string) => request('FP64', reals, { id });
    const { code, messages } = await served.stream([
      short('1'),
      long('2'),
      short('3'),
      long('4'),
      { id: '5' },
      short('6'),
    ]);
    expect(code).toBe('OK');
    expect(messages.map(({ infer_response: response }) => response?.id)).toEqual(['1', '2', '3', '4', '5', '6']);
  });
});
