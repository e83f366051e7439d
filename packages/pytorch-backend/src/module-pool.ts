import type { InstanceSpec } from '@nereid/core';
import type { Instance, InstanceOptions, Weight, WeightInfo } from '@nereid/native';

/** A module or package of the addon. */
export interface ModuleHandle {
  createInstance(options: InstanceOptions): Instance;
  close(): Promise<void>;
  /** Exchange of weights; a module of TorchScript has none of the three. */
  readonly weights?: readonly WeightInfo[];
  stageWeights?(weights: readonly Weight[]): Promise<void>;
  swapWeights?(): Promise<void>;
}

/** −1 for the CPU, a GPU's ordinal, or where the tensors were saved. */
export type Device = number | 'saved';

export function deviceOf({ kind, deviceId }: InstanceSpec): Device {
  switch (kind) {
    case 'KIND_CPU':
      return -1;
    case 'KIND_GPU':
      return deviceId;
    case 'KIND_MODEL':
      return 'saved';
    default:
      return kind satisfies never;
  }
}

/** What an instance runs on, for as long as it lives. */
export interface ModuleLease<Handle> {
  readonly handle: Handle;
  /** Whether an earlier instance has the same handle. */
  readonly reused: boolean;
  /** Closes the handle when it belonged to this instance alone. */
  release(): Promise<void>;
}

export interface ModulePoolInit<Handle> {
  readonly open: (device: Device) => Promise<Handle>;
  /** One handle for all instances on a device, instead of one for each. */
  readonly shared: boolean;
}

/** Opens handles as instances need them, and closes them with their last user. */
export class ModulePool<Handle extends ModuleHandle> {
  readonly #open: ModulePoolInit<Handle>['open'];
  readonly #shared: boolean;
  /** Shared: every handle. Else: those opened ahead that no instance has taken yet. */
  readonly #kept = new Map<Device, { readonly handle: Promise<Handle>; taken: boolean }>();

  constructor(init: ModulePoolInit<Handle>) {
    this.#open = init.open;
    this.#shared = init.shared;
  }

  /** Opens a handle before there is an instance for it, so that a file that does not load is found out. */
  prepare(device: Device): Promise<Handle> {
    return this.#keep(device).handle;
  }

  async acquire(device: Device): Promise<ModuleLease<Handle>> {
    const kept = this.#keep(device);
    if (!this.#shared) {
      this.#kept.delete(device);
      const handle = await kept.handle;
      return { handle, reused: false, release: () => handle.close() };
    }
    const reused = kept.taken;
    kept.taken = true;
    return { handle: await kept.handle, reused, release: () => Promise.resolve() };
  }

  /** Every handle that all instances of a device share. */
  sharedHandles(): Promise<readonly Handle[]> {
    return Promise.all(this.#shared ? [...this.#kept.values()].map(({ handle }) => handle) : []);
  }

  /** Closes what no instance owns. */
  async close(): Promise<void> {
    const kept = [...this.#kept.values()];
    this.#kept.clear();
    const opened = await Promise.allSettled(kept.map(({ handle }) => handle));
    await Promise.all(opened.map((result) => (result.status === 'fulfilled' ? result.value.close() : undefined)));
  }

  #keep(device: Device): { readonly handle: Promise<Handle>; taken: boolean } {
    const known = this.#kept.get(device);
    if (known !== undefined) return known;
    const kept = { handle: this.#open(device), taken: false };
    this.#kept.set(device, kept);
    return kept;
  }
}
