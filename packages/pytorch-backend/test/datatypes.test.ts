import { DATATYPES, type Datatype, type Tensor } from '@nereid/core';
import { createModelConfig } from '@nereid/model-config';
import { describe, expect, it } from 'vitest';
import { inputsAndOutputs, ServedModel } from './served-model.ts';

const NUMERIC = (Object.keys(DATATYPES) as Datatype[]).filter((datatype) => datatype !== 'BYTES');

/** Four elements whose bytes are all different; 0 and 1 for booleans. */
function sample(name: string, datatype: Datatype, shape: readonly number[]): Tensor {
  const count = shape.reduce((size, dim) => size * dim, 1);
  const bytes = Uint8Array.from({ length: count * DATATYPES[datatype].byteSize }, (_, i) =>
    datatype === 'BOOL' ? i % 2 : (i * 37 + 1) % 120,
  );
  return { name, datatype, shape, data: bytes };
}

describe('TorchScript', () => {
  it.each(NUMERIC)('takes and returns %s, alone and in a batch', async (datatype) => {
    const config = { maxBatchSize: 8, ...inputsAndOutputs([`x ${datatype} 2`], [`OUTPUT__0 ${datatype} 2`]) };
    await using served = await ServedModel.load({ file: 'identity/model.pt', config });
    const inputs = [1, 3, 2].map((rows) => sample('x', datatype, [rows, 2]));
    const results = await served.run(...inputs.map((input) => served.request([input])));
    expect(results.map((outputs) => outputs.get('OUTPUT__0'))).toEqual(
      inputs.map((input) => ({ ...input, name: 'OUTPUT__0' })),
    );
  });
});

describe('AOTInductor', () => {
  // One package takes four elements of every datatype and returns them in reverse order.
  const ORDER: readonly Datatype[] = [
    'BOOL',
    'UINT8',
    'UINT16',
    'UINT32',
    'UINT64',
    'INT8',
    'INT16',
    'INT32',
    'INT64',
    'FP16',
    'FP32',
    'FP64',
    'BF16',
  ];

  function config(datatypes: readonly Datatype[]) {
    return {
      platform: 'torch_aoti',
      ...inputsAndOutputs(
        datatypes.map((datatype, i) => `INPUT__${i} ${datatype} 4`),
        datatypes.map((datatype, i) => `OUTPUT__${i} ${datatype} 4`),
      ),
    };
  }

  it('takes and returns every datatype', async () => {
    await using served = await ServedModel.load({ file: 'native_aoti/dtypes.pt2', config: config(ORDER) });
    const inputs = ORDER.map((datatype, i) => sample(`INPUT__${i}`, datatype, [4]));
    const outputs = await served.infer(...inputs);
    for (const [i, input] of inputs.entries()) {
      const size = DATATYPES[input.datatype].byteSize;
      const reversed = [3, 2, 1, 0].flatMap((element) => [
        ...input.data.subarray(element * size, (element + 1) * size),
      ]);
      expect(outputs.get(`OUTPUT__${i}`)).toEqual({ ...input, name: `OUTPUT__${i}`, data: Uint8Array.from(reversed) });
    }
  });

  it('refuses a datatype that the package was not compiled for, naming both', async () => {
    const swapped = ORDER.map((datatype) => (datatype === 'UINT16' ? 'FP16' : datatype));
    await expect(ServedModel.load({ file: 'native_aoti/dtypes.pt2', config: config(swapped) })).rejects.toThrow(
      "input 'INPUT__2' is TYPE_FP16 in the configuration, but the package was compiled for TYPE_UINT16",
    );
  });

  it('refuses strings', async () => {
    const strings = createModelConfig(config(ORDER)).input.map((input) => ({
      ...input,
      dataType: 'TYPE_STRING' as const,
    }));
    await expect(
      ServedModel.load({ file: 'native_aoti/dtypes.pt2', config: { ...config(ORDER), input: strings } }),
    ).rejects.toThrow("unsupported datatype TYPE_STRING for input 'INPUT__0'");
  });
});
