import type { InferenceResponse, SharedMemoryTensors, Tensor } from '@nereid/core';
import type { RegionUse } from './region-use.ts';
import type { SharedMemoryRegions } from './regions.ts';

const NOTHING = new Uint8Array(0);

/**
 * The shared memory of one request, from before its inputs are read until its last answer is written. Front ends make one only for a request that
 * names regions.
 */
export class RequestMemory {
  readonly #inputs = new Map<string, RegionUse>();
  readonly #outputs = new Map<string, RegionUse>();
  #isClosed = false;

  /**
   * Takes every part into use that the request names.
   * @throws {SharedMemoryError} as `SharedMemoryRegions.use` does; nothing is in use then
   */
  constructor(regions: SharedMemoryRegions, { inputs, outputs }: SharedMemoryTensors) {
    try {
      for (const [name, part] of inputs) this.#inputs.set(name, regions.use(part));
      for (const [name, part] of outputs) this.#outputs.set(name, regions.use(part));
    } catch (thrown) {
      this.close();
      throw thrown;
    }
  }

  /** Whether the request has ended: nothing is read or written any more. */
  get isClosed(): boolean {
    return this.#isClosed;
  }

  /**
   * The inputs of the request with the bytes of those that lie in regions; a promise where these are many, or could not be read. Regions that only inputs lie in
   * are let go then. Rejects with a SharedMemoryError `bad-part` or `io`.
   */
  readInputs(tensors: readonly Tensor[]): readonly Tensor[] | Promise<readonly Tensor[]> {
    const read = tensors.map((tensor) => this.#withData(tensor));
    closeAll(this.#inputs);
    const ready = read.filter(isReady);
    return ready.length === read.length ? ready : Promise.all(read);
  }

  /**
   * Writes the outputs that belong into regions. Where one is too large for its part none is written.
   * A promise, where there is one, settles once the memory of the response is no longer read; it rejects with a SharedMemoryError `bad-part` or `io`.
   * @returns the response, its outputs in regions without their bytes; `release` remains with the one that was given
   * @throws {SharedMemoryError} `too-small`
   */
  writeOutputs(response: InferenceResponse): InferenceResponse | Promise<InferenceResponse> {
    const { modelName, modelVersion, outputs, parameters } = response;
    const told = outputs.map((tensor) => (this.#outputs.has(tensor.name) ? { ...tensor, data: NOTHING } : tensor));
    const rest = { modelName, modelVersion, outputs: told, ...(parameters !== undefined && { parameters }) };
    for (const { name, data } of outputs) this.#outputs.get(name)?.assertHolds(name, data.byteLength);
    const writes = outputs.flatMap((tensor) => this.#write(tensor) ?? []);
    return writes.length === 0 ? rest : settled(writes).then(() => rest);
  }

  /** Ends every use. Idempotent. */
  close(): void {
    this.#isClosed = true;
    closeAll(this.#inputs);
    closeAll(this.#outputs);
  }

  // Failures of these two are rejections, never thrown: others of the same request may be under way, and someone must hear of them.

  #withData(tensor: Tensor): Tensor | Promise<Tensor> {
    try {
      const data = this.#inputs.get(tensor.name)?.read() ?? tensor.data;
      return data instanceof Promise ? data.then((bytes) => ({ ...tensor, data: bytes })) : { ...tensor, data };
    } catch (thrown) {
      return Promise.reject(thrown);
    }
  }

  #write({ name, data }: Tensor): Promise<void> | undefined {
    try {
      return this.#outputs.get(name)?.write(data);
    } catch (thrown) {
      return Promise.reject(thrown);
    }
  }
}

function isReady(tensor: Tensor | Promise<Tensor>): tensor is Tensor {
  return !(tensor instanceof Promise);
}

/** Waits for all, also when one fails: until then they read the outputs. */
async function settled(writes: readonly Promise<void>[]): Promise<void> {
  const results = await Promise.allSettled(writes);
  for (const result of results) if (result.status === 'rejected') throw result.reason;
}

function closeAll(uses: Map<string, RegionUse>): void {
  for (const use of uses.values()) use.close();
  uses.clear();
}
