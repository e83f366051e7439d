import { describe, expect, it } from 'vitest';
import { createModelConfig, modelConfigToJson, modelConfigToText } from '../src/index.ts';

const config = createModelConfig({
  name: 'm',
  maxBatchSize: 4,
  input: [
    { name: 'a', dataType: 'TYPE_FP32', dims: [3, -1] },
    { name: 'b', dims: [1], reshape: {} },
  ],
  dynamicBatching: { priorityQueuePolicy: new Map([[2n, { timeoutAction: 'DELAY' }]]) },
  parameters: new Map([['say "hi"\n\u0001', { stringValue: 'é' }]]),
});

describe('modelConfigToText', () => {
  it('prints what differs from the defaults, in the order of the schema', () => {
    expect(modelConfigToText(config)).toBe(`name: "m"
max_batch_size: 4
input [
  {
    name: "a"
    data_type: TYPE_FP32
    dims: [ 3, -1 ]
  },
  {
    name: "b"
    dims: [ 1 ]
    reshape { }
  }
]
dynamic_batching {
  priority_queue_policy {
    key: 2
    value {
      timeout_action: DELAY
    }
  }
}
parameters {
  key: "say \\"hi\\"\\n\\001"
  value {
    string_value: "é"
  }
}
`);
  });

  it('prints nothing for an empty configuration', () => {
    expect(modelConfigToText(createModelConfig())).toBe('');
  });
});

describe('modelConfigToJson', () => {
  const utilization = (minimumSlotUtilization: number) => {
    const json = modelConfigToJson(createModelConfig({ sequenceBatching: { direct: { minimumSlotUtilization } } }));
    return /"minimum_slot_utilization":([^}]*)}/.exec(json)?.[1];
  };

  it.each([
    [0.1, '0.1'],
    [Math.fround(0.1), '0.1'],
    [Math.fround(1 / 3), '0.33333334'],
    [1, '1'],
    [-0, '-0'],
    [Number.NaN, '"NaN"'],
    [Number.NEGATIVE_INFINITY, '"-Infinity"'],
  ])('prints the 32-bit float %f as %s', (value, text) => {
    expect(utilization(value)).toBe(text);
  });

  it('prints a scalar of a oneof after the other fields', () => {
    const state = { dataType: 'TYPE_FP32', dims: [1], name: 'zero', zeroData: false } as const;
    const json = modelConfigToJson(createModelConfig({ sequenceBatching: { state: [{ initialState: [state] }] } }));
    expect(json).toContain('{"data_type":"TYPE_FP32","dims":[1],"name":"zero","zero_data":false}');
  });

  it('indents on request', () => {
    const json = modelConfigToJson(config, { indent: 2 });
    expect(json.split('\n').slice(0, 4)).toEqual(['{', '  "name": "m",', '  "platform": "",', '  "backend": "",']);
    expect(json).toContain('      "dims": [3,-1],\n');
    expect(json).toContain('  "output": [],\n');
  });
});
