/** Many sequences at once on a real model with implicit state: whatever is batched together, each sees its own state and no other. */
import { tensor, valuesOf } from '@nereid/testing';
import { expect, test } from 'vitest';
import { configText } from '../src/config-text.ts';
import { serveRepository } from '../src/real-engine.ts';

const LENGTH = 40;
const POISONED = 5;

const control = (name: string, kind: string) =>
  `{ name: "${name}" control [ { kind: CONTROL_SEQUENCE_${kind} fp32_false_true: [ 0, 1 ] } ] }`;

function config(strategy: string, instances: number): string {
  const controls = `control_input [ ${control('START__2', 'START')}, ${control('READY__3', 'READY')} ]`;
  const state = 'state [ { input_name: "STATE__1" output_name: "NEXT__1" data_type: TYPE_FP32 dims: [ 1 ] } ]';
  return configText({
    maxBatchSize: 8,
    input: ['INPUT__0 TYPE_FP32 1'],
    output: ['OUTPUT__0 TYPE_FP32 1'],
    more: `sequence_batching { ${strategy} ${controls} ${state} }\ninstance_group { count: ${instances} kind: KIND_CPU }`,
  });
}

test.each([
  ['direct { }', 1],
  ['direct { }', 2],
  ['oldest { max_candidate_sequences: 2 }', 1],
  ['oldest { max_candidate_sequences: 8 }', 2],
])(
  '%s on %i instances: every sequence gets its own sums, and the NaN of one reaches no other',
  async (strategy, instances) => {
    await using served = await serveRepository([
      { name: 'm', config: config(strategy, instances), versions: { 1: 'sequences_torchscript/sum.pt' } },
    ]);
    expect(served.failures).toEqual([]);
    const values = Array.from({ length: 16 }, (_, i) => (i === POISONED ? Number.NaN : i + 1));
    const sums = await Promise.all(
      values.map(async (value, i) => {
        // All at once: what comes next is queued while what came before runs.
        const requests = Array.from({ length: LENGTH }, (_, step) =>
          served.send({
            modelName: 'm',
            correlationId: i + 1,
            sequenceStart: step === 0,
            sequenceEnd: step === LENGTH - 1,
            inputs: [tensor({ name: 'INPUT__0', shape: [1, 1], values: [value] })],
          }),
        );
        const answers = await Promise.all(requests.map((request) => served.responder.responseOf(request)));
        return answers.flatMap(({ outputs }) => outputs.flatMap((output) => valuesOf(output).map(Number)));
      }),
    );
    expect(sums).toEqual(values.map((value) => Array.from({ length: LENGTH }, (_, step) => value * (step + 1))));
  },
);
