import { InferenceRequest, InferenceServerError, tensorFrom } from '@nereid/core';
import { expect, test } from 'vitest';
import { accessLog } from '../src/access-log.ts';
import type { Log } from '../src/log.ts';

/** What was logged, by level. */
function recording(isVerbose: boolean, verboseLevel = 0) {
  const lines: [string, object][] = [];
  const level = (name: string) => (fields: object) => void lines.push([name, fields]);
  const log: Pick<Log, 'info' | 'debug' | 'isVerbose' | 'settings'> = {
    isVerbose,
    settings: { file: '', info: true, warning: true, error: true, verboseLevel, format: 'json' },
    info: level('info'),
    debug: level('debug'),
  };
  return { lines, log: log as Log };
}

function finishedRequest() {
  const responder = { origin: { protocol: 'http', address: '127.0.0.1' }, respond() {}, fail() {} };
  const inputs = [tensorFrom({ name: 'x', datatype: 'FP32', shape: [1, 2] }, Float32Array.of(1, 2))];
  const request = new InferenceRequest(
    { modelName: 'mlp', modelVersion: '', id: 'r1', inputs, requestedOutputs: [] },
    responder,
  );
  request.arrivedMicros = 1000;
  request.dispatchedMicros = 1250;
  request.execution = { computeInputNs: 1000, computeInferNs: 298_000, computeOutputNs: 1000 };
  request.batch = { id: 7, reason: 'full', requestCount: 4, batchSize: 4, instance: 'mlp_0' };
  return request;
}

const LINE = {
  id: 'r1',
  protocol: 'http',
  address: '127.0.0.1',
  model: 'mlp',
  version: '1',
  status: 'OK',
  batch_size: 1,
  queue_us: 250,
  compute_us: 300,
  total_us: 700,
  input_bytes: 8,
  output_bytes: 0,
};

test('a line tells where a request came from, how it ended and how long it took', () => {
  const { lines, log } = recording(false);
  accessLog(log, { isAsked: true })({ request: finishedRequest(), version: '1', finishedMicros: 1700 });
  expect(lines).toEqual([['info', LINE]]);
});

test('a failure is named', () => {
  const { lines, log } = recording(false);
  const error = new InferenceServerError('UNAVAILABLE', 'Request timeout expired');
  accessLog(log, { isAsked: true })({ request: finishedRequest(), version: '1', finishedMicros: 1700, error });
  expect(lines[0]?.[1]).toMatchObject({ status: 'UNAVAILABLE', error: 'Request timeout expired' });
});

test('who does not ask for lines gets them at a verbose level, with the batch from the second on', () => {
  const finished = { request: finishedRequest(), version: '1', finishedMicros: 1700 };
  const silent = recording(false);
  accessLog(silent.log, { isAsked: false })(finished);
  const first = recording(true, 1);
  accessLog(first.log, { isAsked: false })(finished);
  const second = recording(true, 2);
  accessLog(second.log, { isAsked: false })(finished);
  expect(silent.lines).toEqual([]);
  expect(first.lines).toEqual([['debug', LINE]]);
  expect(second.lines).toEqual([['debug', { ...LINE, batch: 7, executed_batch_size: 4, instance: 'mlp_0' }]]);
});
