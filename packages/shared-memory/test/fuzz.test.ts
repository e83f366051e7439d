/** Any history of registering, using, reading, writing, shortening and forgetting, against a model that is a Map and plain bytes. */
import { ShmObject } from '@nereid/testing';
import { fuzz } from '@nereid/testing/fuzz';
import fc from 'fast-check';
import { afterAll, beforeAll, expect } from 'vitest';
import { type RegionUse, SharedMemoryError, SharedMemoryRegions } from '../src/index.ts';

const SIZE = 64;

let object: ShmObject;
beforeAll(() => {
  object = new ShmObject(Buffer.alloc(SIZE));
});
afterAll(() => object[Symbol.dispose]());

const number = fc.oneof(
  fc.nat(SIZE + 8),
  fc.constantFrom(-1, 0.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 31, 2 ** 52, 2 ** 53, 2 ** 64, -(2 ** 63)),
);
const name = fc.constantFrom('a', 'b', 'c', '', '__proto__');
const key = fc.oneof(
  { weight: 6, arbitrary: fc.constant('') },
  { weight: 1, arbitrary: fc.constantFrom('..', '/', '/../etc/passwd', 'nereid-x', '/nosuch', '\0') },
);
const step = fc.oneof(
  fc.record({ do: fc.constant('register' as const), name, key, offset: number, byteSize: number }),
  fc.record({ do: fc.constant('unregister' as const), name }),
  fc.record({ do: fc.constant('use' as const), name, offset: number, byteSize: number }),
  fc.record({ do: fc.constant('write' as const), use: fc.nat(5), fill: fc.nat(255), byteSize: fc.nat(SIZE) }),
  fc.record({ do: fc.constant('read' as const), use: fc.nat(5) }),
  fc.record({ do: fc.constant('close' as const), use: fc.nat(5) }),
  fc.record({ do: fc.constant('resize' as const), byteSize: fc.nat(SIZE) }),
);
type Step = typeof step extends fc.Arbitrary<infer One> ? One : never;

const isSize = (value: number) => Number.isInteger(value) && value >= 0;

/** What the regions should hold. */
class Model {
  readonly regions = new Map<string, { readonly offset: number; readonly byteSize: number }>();
  readonly uses: { readonly start: number; readonly byteSize: number; readonly real: RegionUse }[] = [];
  bytes = Buffer.alloc(SIZE);

  accepts(one: Step): boolean {
    switch (one.do) {
      case 'register':
        return (
          one.name !== '' &&
          one.key === '' &&
          isSize(one.offset) &&
          isSize(one.byteSize) &&
          one.byteSize > 0 &&
          !this.regions.has(one.name) &&
          one.offset + one.byteSize <= this.bytes.length
        );
      case 'use': {
        const region = this.regions.get(one.name);
        const { offset, byteSize } = one;
        return region !== undefined && isSize(offset) && isSize(byteSize) && offset + byteSize <= region.byteSize;
      }
      case 'read': {
        const use = this.uses[one.use];
        return use !== undefined && use.start + use.byteSize <= this.bytes.length;
      }
      case 'write': {
        const use = this.uses[one.use];
        return use !== undefined && use.start + Math.min(one.byteSize, use.byteSize) <= this.bytes.length;
      }
      default:
        return true;
    }
  }
}

function apply(one: Step, model: Model, regions: SharedMemoryRegions): void {
  switch (one.do) {
    case 'register':
      regions.register({ ...one, key: one.key === '' ? object.key : one.key });
      model.regions.set(one.name, one);
      break;
    case 'unregister':
      regions.unregister(one.name);
      if (one.name === '') model.regions.clear();
      else model.regions.delete(one.name);
      break;
    case 'use': {
      const real = regions.use({ region: one.name, offset: one.offset, byteSize: one.byteSize });
      const start = (model.regions.get(one.name)?.offset ?? 0) + one.offset;
      model.uses.push({ start, byteSize: one.byteSize, real });
      break;
    }
    case 'read': {
      const use = model.uses[one.use];
      expect(use?.real.read()).toEqual(use && model.bytes.subarray(use.start, use.start + use.byteSize));
      break;
    }
    case 'write': {
      const use = model.uses[one.use];
      const bytes = Buffer.alloc(Math.min(one.byteSize, use?.byteSize ?? 0), one.fill);
      use?.real.write(bytes);
      if (use !== undefined) bytes.copy(model.bytes, use.start);
      break;
    }
    case 'close':
      for (const { real } of model.uses.splice(one.use, 1)) real.close();
      break;
    case 'resize': {
      object.truncate(one.byteSize);
      const bytes = Buffer.alloc(one.byteSize);
      model.bytes.copy(bytes);
      model.bytes = bytes;
      break;
    }
    default:
      one satisfies never;
  }
}

function needsUse(one: Step): one is Step & { readonly use: number } {
  return one.do === 'read' || one.do === 'write';
}

fuzz(
  'shared-memory',
  fc.property(fc.array(step, { maxLength: 30 }), (steps) => {
    object.truncate(0);
    object.truncate(SIZE);
    const regions = new SharedMemoryRegions();
    const model = new Model();
    try {
      for (const one of steps) {
        if (needsUse(one) && model.uses[one.use] === undefined) continue;
        const isAccepted = model.accepts(one);
        try {
          apply(one, model, regions);
        } catch (thrown) {
          if (!(thrown instanceof SharedMemoryError)) throw thrown;
          if (isAccepted) throw thrown;
          continue;
        }
        if (!isAccepted) throw new Error(`${JSON.stringify(one)} was taken`);
        expect(object.bytes).toEqual(model.bytes);
        expect(regions.status().map(({ name: region }) => region)).toEqual([...model.regions.keys()]);
      }
    } finally {
      for (const { real } of model.uses) real.close();
      regions.unregister();
    }
  }),
);
