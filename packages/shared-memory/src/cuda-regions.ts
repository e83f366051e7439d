import { SharedMemoryError } from './errors.ts';

/** CUDA shared memory as a server without GPUs answers for it: there is none, and none can be registered. */
export class CudaRegions {
  readonly #gate: { assertEnabled(): void };

  /** @internal */
  constructor(gate: { assertEnabled(): void }) {
    this.#gate = gate;
  }

  /**
   * @param name  '' for all
   * @returns nothing
   * @throws {SharedMemoryError} `unknown-region` when a region is named
   */
  status(name = ''): readonly [] {
    if (name === '') return [];
    throw new SharedMemoryError('unknown-region', `Unable to find cuda shared memory region: '${name}'`);
  }

  /** @throws {SharedMemoryError} `disabled` or `no-gpu` */
  register(name: string): never {
    this.#gate.assertEnabled();
    throw new SharedMemoryError(
      'no-gpu',
      `failed to register CUDA shared memory region '${name}': GPUs not supported by this server; use system shared memory`,
    );
  }

  /**
   * Has nothing to forget.
   * @throws {SharedMemoryError} `disabled`
   */
  unregister(): void {
    this.#gate.assertEnabled();
  }
}
