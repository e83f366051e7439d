import type { InferenceResponse, Tensor } from '@nereid/core';
import type { OutputTensor } from '@nereid/native';

/** Up to this size the addon copies a result, and there is nothing to give back. */
const COPIED_BYTES = 4096;

export type ReleaseBuffers = (buffers: readonly ArrayBuffer[]) => void;

/** Large results of one batch: they go back to the addon when the last response that views them is released. */
export class BatchBuffers {
  readonly #buffers: readonly ArrayBuffer[];
  readonly #release: ReleaseBuffers;
  #holders: number;

  private constructor(
    buffers: readonly ArrayBuffer[],
    init: { readonly holders: number; readonly release: ReleaseBuffers },
  ) {
    this.#buffers = buffers;
    this.#release = init.release;
    this.#holders = init.holders;
  }

  /** `undefined` when every result is a small copy. `holders` is the number of responses. */
  static of(
    outputs: readonly OutputTensor[],
    init: { readonly holders: number; readonly release: ReleaseBuffers },
  ): BatchBuffers | undefined {
    if (outputs.every(({ data }) => data.byteLength <= COPIED_BYTES)) return undefined;
    const large = outputs.map(({ data }) => data).filter((data) => data.byteLength > COPIED_BYTES);
    return new BatchBuffers(large, init);
  }

  /** One holder less. */
  drop(): void {
    this.#holders--;
    if (this.#holders === 0) this.#release(this.#buffers);
  }
}

/** A response whose tensors view memory of the addon that the whole batch shares. */
export class SharedResponse implements InferenceResponse {
  readonly modelName: string;
  readonly modelVersion: string;
  readonly outputs: readonly Tensor[];
  #buffers: BatchBuffers | undefined;

  constructor(init: InferenceResponse & { readonly buffers: BatchBuffers }) {
    this.modelName = init.modelName;
    this.modelVersion = init.modelVersion;
    this.outputs = init.outputs;
    this.#buffers = init.buffers;
  }

  /** Idempotent. The outputs must not be read afterwards. */
  release(): void {
    this.#buffers?.drop();
    this.#buffers = undefined;
  }
}
