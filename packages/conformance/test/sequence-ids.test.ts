/** Correlation IDs of every kind, from the request to the model. */
import { tensor, valuesOf } from '@nereid/testing';
import { describe, expect, test } from 'vitest';
import { configText } from '../src/config-text.ts';
import { type RealRepository, serveRepository } from '../src/real-engine.ts';
import { control, sequences } from '../src/sequences.ts';

const TYPES = ['INT32', 'UINT32', 'INT64', 'UINT64'] as const;

/** The package that gives back one number of each type, one of which the scheduler fills with the correlation ID. */
function servePackage(corrid: string) {
  const more = TYPES.flatMap((type, i) => (type === corrid ? [`INPUT__${i}`] : []));
  const config = configText({
    platform: 'torch_aoti',
    maxBatchSize: 8,
    input: TYPES.flatMap((type, i) => (type === corrid ? [] : [`INPUT__${i} TYPE_${type} 1`])),
    output: TYPES.map((type, i) => `OUTPUT__${i} TYPE_${type} 1`),
    more: sequences(
      more.map((name) => control(name, 'CORRID', `data_type: TYPE_${corrid}`)),
      [],
    ),
  });
  return serveRepository([{ name: 'm', config, versions: { 1: 'sequences_aoti/ids.pt2' } }]);
}

const OTHERS = (corrid: string) =>
  TYPES.flatMap((datatype, i) =>
    datatype === corrid ? [] : [tensor({ name: `INPUT__${i}`, datatype, shape: [1, 1], values: [7] })],
  );

/** The module that gives back its correlation ID, a string. */
function serveModule() {
  const config = configText({
    maxBatchSize: 8,
    input: ['INPUT__0 TYPE_FP32 1'],
    output: ['OUTPUT__0 TYPE_FP32 1', '{ name: "ID__1" data_type: TYPE_STRING dims: [ 1 ] reshape: { shape: [ ] } }'],
    more: sequences([control('CORRID__1', 'CORRID', 'data_type: TYPE_STRING')], []),
  });
  return serveRepository([{ name: 'm', config, versions: { 1: 'sequences_torchscript/named.pt' } }]);
}

const VALUE = [tensor({ name: 'INPUT__0', shape: [1, 1], values: [1] })];

/** First and last request of a sequence. */
function single(served: RealRepository, correlationId: number | bigint | string, inputs = VALUE) {
  return served.send({ modelName: 'm', correlationId, sequenceStart: true, sequenceEnd: true, inputs });
}

describe('the model gets the correlation ID', () => {
  test.each([
    ['INT32', [7, 2 ** 31 - 1]],
    ['UINT32', [7, 2 ** 32 - 1]],
    ['INT64', [7n, 2n ** 63n - 1n]],
    ['UINT64', [7n, 2n ** 64n - 1n]],
  ] as const)('as TYPE_%s', async (type, ids) => {
    await using served = await servePackage(type);
    expect(served.failures).toEqual([]);
    const requests = ids.map((id) => single(served, id, OTHERS(type)));
    const answers = await Promise.all(requests.map((request) => served.responder.responseOf(request)));
    const echoed = answers.map(({ outputs }) => outputs[TYPES.indexOf(type)]);
    expect(echoed.map((output) => output && valuesOf(output))).toEqual(ids.map((id) => [id]));
  });

  test('as TYPE_STRING', async () => {
    await using served = await serveModule();
    expect(served.failures).toEqual([]);
    const ids = ['größe 7', 'x'.repeat(100)];
    const requests = ids.map((id) => single(served, id));
    const answers = await Promise.all(requests.map((request) => served.responder.responseOf(request)));
    expect(answers.map(({ outputs: [, id] }) => id && valuesOf(id))).toEqual(ids.map((id) => [id]));
  });
});

describe('an ID of the wrong kind is refused', () => {
  test('a string where a number belongs', async () => {
    await using served = await servePackage('UINT64');
    const { error } = await served.responder.finalOf(single(served, 'seven', OTHERS('UINT64')));
    expect(error).toMatchObject({ code: 'INVALID_ARG' });
    expect(error?.message).toContain("control 'INPUT__3' data-type is 'BYTES', but model 'm' expects 'UINT64'");
  });

  test('a number where a string belongs', async () => {
    await using served = await serveModule();
    const { error } = await served.responder.finalOf(single(served, 7));
    expect(error).toMatchObject({ code: 'INVALID_ARG' });
    expect(error?.message).toContain("control 'CORRID__1' data-type is 'UINT64', but model 'm' expects 'BYTES'");
  });
});
