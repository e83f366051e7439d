import { describe, expect, it } from 'vitest';
import {
  encodeError,
  encodeModelMetadata,
  encodeModelStatistics,
  encodeRepositoryIndex,
  encodeServerMetadata,
} from '../src/index.ts';

describe('documents', () => {
  it('server metadata', () => {
    expect(encodeServerMetadata({ name: 'nereid', version: '0.1.0', extensions: ['statistics'] })).toBe(
      '{"name":"nereid","version":"0.1.0","extensions":["statistics"]}',
    );
  });

  it('model metadata', () => {
    const model = {
      name: 'addsub',
      versions: ['1', '3'],
      platform: 'pytorch_libtorch',
      inputs: [{ name: 'a', datatype: 'FP32', shape: [-1, 3] }],
      outputs: [{ name: 'OUTPUT__0', datatype: 'FP32', shape: [-1, 3] }],
    };
    expect(encodeModelMetadata(model)).toBe(
      '{"name":"addsub","versions":["1","3"],"platform":"pytorch_libtorch",' +
        '"inputs":[{"name":"a","datatype":"FP32","shape":[-1,3]}],"outputs":[{"name":"OUTPUT__0","datatype":"FP32","shape":[-1,3]}]}',
    );
  });

  it('statistics: every duration has count and ns', () => {
    const none = { count: 0, ns: 0 };
    const some = { count: 5, ns: 1 };
    const text = encodeModelStatistics([
      {
        name: 'm',
        version: '1',
        lastInferenceMs: 1755640000123,
        inferenceCount: 10,
        executionCount: 4,
        success: some,
        fail: none,
        queue: none,
        computeInput: none,
        computeInfer: none,
        computeOutput: none,
        cacheHit: none,
        cacheMiss: none,
        batches: [{ batchSize: 2, computeInput: none, computeInfer: some, computeOutput: none }],
        responses: [
          {
            index: 0,
            computeInfer: some,
            computeOutput: some,
            success: some,
            fail: none,
            emptyResponse: none,
            cancel: none,
          },
          {
            index: 1,
            computeInfer: none,
            computeOutput: none,
            success: none,
            fail: none,
            emptyResponse: some,
            cancel: none,
          },
        ],
      },
    ]);
    expect(JSON.parse(text)).toEqual({
      model_stats: [
        {
          name: 'm',
          version: '1',
          last_inference: 1755640000123,
          inference_count: 10,
          execution_count: 4,
          inference_stats: {
            success: some,
            fail: none,
            queue: none,
            compute_input: none,
            compute_infer: none,
            compute_output: none,
            cache_hit: none,
            cache_miss: none,
          },
          response_stats: {
            0: {
              compute_infer: some,
              compute_output: some,
              success: some,
              fail: none,
              empty_response: none,
              cancel: none,
            },
            1: {
              compute_infer: none,
              compute_output: none,
              success: none,
              fail: none,
              empty_response: some,
              cancel: none,
            },
          },
          batch_stats: [{ batch_size: 2, compute_input: none, compute_infer: some, compute_output: none }],
          memory_usage: [],
        },
      ],
    });
  });

  it('statistics: how batches formed, where the scheduler forms any', () => {
    const none = { count: 0, ns: 0 };
    const times = {
      success: none,
      fail: none,
      queue: none,
      computeInput: none,
      computeInfer: none,
      computeOutput: none,
    };
    const counts = {
      lastInferenceMs: 0,
      inferenceCount: 0,
      executionCount: 0,
      cacheHit: none,
      cacheMiss: none,
      batches: [],
      responses: [],
    };
    const entry = { name: 'm', version: '1', ...counts, ...times };
    const batching = { sizes: [{ batchSize: 4, count: 3 }], closed: { 'preferred-size': 3, delay: 0 } };
    const [bare, told] = JSON.parse(encodeModelStatistics([entry, { ...entry, batching }])).model_stats;
    expect(bare).not.toHaveProperty('batching');
    expect(bare.response_stats).toEqual({});
    expect(told).toEqual({
      ...bare,
      batching: { batch_sizes: [{ batch_size: 4, count: 3 }], closed: { 'preferred-size': 3, delay: 0 } },
    });
  });

  it('index: leaves out what is not known', () => {
    const rows = [
      { name: 'a' },
      { name: 'b', version: '1', state: 'READY', reason: '' },
      { name: 'c', version: '2', state: 'UNAVAILABLE', reason: 'unloaded' },
    ];
    expect(encodeRepositoryIndex(rows)).toBe(
      '[{"name":"a"},{"name":"b","version":"1","state":"READY"},{"name":"c","version":"2","state":"UNAVAILABLE","reason":"unloaded"}]',
    );
  });

  it('error', () => {
    expect(encodeError('a "b"')).toBe('{"error":"a \\"b\\""}');
  });
});
