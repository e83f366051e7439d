import type { SharedMemoryPart } from '@nereid/core';
import { CudaRegions } from './cuda-regions.ts';
import { SharedMemoryError } from './errors.ts';
import { pathOfKey } from './object-key.ts';
import { Region, type RegionInit } from './region.ts';
import { RegionUse } from './region-use.ts';

export interface SharedMemoryOptions {
  /** Whether clients may register regions; without, each attempt is refused, and there are none. Default true. */
  readonly isEnabled?: boolean;
  /** Regions at a time, each of which keeps a file open. Default 1024. */
  readonly maxRegions?: number;
  /** Bytes of one tensor in a region: it is copied into memory of this process. Default 2 GiB − 1. */
  readonly maxTensorBytes?: number;
  /** Tensors up to this size are copied on the calling thread, larger ones by Node's thread pool. Default 65 536. */
  readonly syncBytes?: number;
  /** Where POSIX shared memory objects are files. Default `/dev/shm`. */
  readonly directory?: string;
}

const DEFAULTS: Required<SharedMemoryOptions> = {
  isEnabled: true,
  maxRegions: 1024,
  maxTensorBytes: 2 ** 31 - 1,
  syncBytes: 65_536,
  directory: '/dev/shm',
};

/**
 * The regions that clients of one server registered. Tensors are copied out of and into them, each once; nothing is mapped, so nothing that a client does to its
 * memory reaches further than the request that uses it. Names are shared by all clients and all protocols of a server.
 */
export class SharedMemoryRegions {
  /** CUDA memory: answered, never held. */
  readonly cuda: CudaRegions;
  readonly #options: Required<SharedMemoryOptions>;
  readonly #regions = new Map<string, Region>();

  constructor(options: SharedMemoryOptions = {}) {
    this.#options = { ...DEFAULTS, ...options };
    this.cuda = new CudaRegions(this);
  }

  /** Whether clients may register regions. */
  get isEnabled(): boolean {
    return this.#options.isEnabled;
  }

  /** @throws {SharedMemoryError} `disabled` */
  assertEnabled(): void {
    if (this.isEnabled) return;
    throw new SharedMemoryError(
      'disabled',
      'Client shared memory is disabled: send tensors in the request, or start the server with --allow-shared-memory=true',
    );
  }

  /**
   * Opens a shared memory object and gives it a name. The object may be removed afterwards; the region keeps it.
   * @throws {SharedMemoryError} `disabled`, `bad-region`, `exists`, `limit`, `bad-key`, `not-opened`, in this order
   */
  register(init: RegionInit): void {
    const { maxRegions, directory, syncBytes } = this.#options;
    this.assertEnabled();
    assertWhole(init);
    const { name, key } = init;
    if (this.#regions.has(name)) {
      throw new SharedMemoryError('exists', `shared memory region '${name}' already in manager: unregister it first`);
    }
    if (this.#regions.size >= maxRegions) {
      throw new SharedMemoryError(
        'limit',
        `shared memory region '${name}' was not registered: there are ${maxRegions}, the limit; unregister some`,
      );
    }
    this.#regions.set(name, new Region(init, { path: pathOfKey(key, directory), syncBytes }));
  }

  /**
   * What is registered: all regions in the order they came, or the one that is named.
   * @param name  '' for all
   * @throws {SharedMemoryError} `unknown-region`
   */
  status(name = ''): readonly RegionInit[] {
    if (name === '') return [...this.#regions.values()].map(({ init }) => init);
    const region = this.#regions.get(name);
    if (region !== undefined) return [region.init];
    throw new SharedMemoryError('unknown-region', `Unable to find system shared memory region: '${name}'`);
  }

  /**
   * Forgets a region, or all of them; a name that nobody registered is no error. Requests that use one keep it until they are answered, and its name is free at once.
   * @param name  '' for all
   * @throws {SharedMemoryError} `disabled`
   */
  unregister(name = ''): void {
    this.assertEnabled();
    for (const known of name === '' ? [...this.#regions.keys()] : [name]) {
      this.#regions.get(known)?.letGo();
      this.#regions.delete(known);
    }
  }

  /**
   * Takes part of a region into use: it stays whatever is unregistered meanwhile, until the use is closed.
   * @throws {SharedMemoryError} `unknown-region`; `bad-part` when it does not lie in the region; `limit`
   */
  use(part: SharedMemoryPart): RegionUse {
    const region = this.#regions.get(part.region);
    if (region === undefined) {
      throw new SharedMemoryError('unknown-region', `Unable to find shared memory region: '${part.region}'`);
    }
    assertInside(part, region.init.byteSize);
    if (part.byteSize > this.#options.maxTensorBytes) {
      throw new SharedMemoryError(
        'limit',
        `${part.byteSize} bytes of shared memory region '${part.region}' are more than the limit of ${this.#options.maxTensorBytes} for one tensor`,
      );
    }
    return new RegionUse(region, part);
  }
}

function assertWhole({ name, offset, byteSize }: RegionInit): void {
  if (name === '') throw new SharedMemoryError('bad-region', 'a shared memory region needs a name');
  if (isSize(offset) && isSize(byteSize) && byteSize > 0) return;
  throw new SharedMemoryError(
    'bad-region',
    `failed to register shared memory region '${name}': invalid args, expected an offset of 0 or more and a size of 1 byte or more, got ${offset} and ${byteSize}`,
  );
}

/** Sums of sizes stay far from where doubles lose integers. */
const isSize = (value: number) => Number.isInteger(value) && value >= 0 && value < 2 ** 52;

function assertInside({ region, offset, byteSize }: SharedMemoryPart, size: number): void {
  if (!isSize(offset) || offset > size) {
    throw new SharedMemoryError(
      'bad-part',
      `Invalid offset for shared memory region '${region}': expected 0 to ${size}, its size, got ${offset}`,
    );
  }
  if (isSize(byteSize) && offset + byteSize <= size) return;
  throw new SharedMemoryError(
    'bad-part',
    `Invalid offset + byte size for shared memory region '${region}': ${offset} + ${byteSize} is beyond its ${size} bytes`,
  );
}
