import type { InferenceRequest } from '@nereid/core';
import { compareVersions } from '@nereid/repository';
import type { ModelIndexEntry } from './engine.ts';
import { ServingError } from './errors.ts';
import type { LoadedVersion } from './loaded-version.ts';
import type { LeftOver } from './stop.ts';

/** Where one version stands. */
export type VersionStatus =
  | { readonly state: 'LOADING' }
  | { readonly state: 'READY'; readonly loaded: LoadedVersion }
  | { readonly state: 'UNLOADING'; readonly loaded: LoadedVersion }
  | { readonly state: 'UNAVAILABLE'; readonly reason: string };

/** Why a model has no versions at all. */
export type ModelFault =
  | { readonly kind: 'poll'; readonly reason: string }
  | { readonly kind: 'duplicate'; readonly reason: string };

/** One model by name: the status of each version, and a quick way to the ready ones. */
export class ServedModel {
  readonly name: string;
  /** Set when the model could not be read; then it has no versions. */
  readonly fault: ModelFault | undefined;
  readonly #versions = new Map<string, VersionStatus>();
  readonly #ready = new Map<string, LoadedVersion>();
  readonly #unloading = new Map<string, LoadedVersion>();
  #latest: LoadedVersion | undefined;

  constructor(name: string, fault?: ModelFault) {
    this.name = name;
    this.fault = fault;
  }

  /** Every version with its status, ascending. */
  get versions(): readonly (readonly [version: string, status: VersionStatus])[] {
    return [...this.#versions].sort(([a], [b]) => compareVersions(a, b));
  }

  /** Ready versions, ascending. */
  get ready(): readonly LoadedVersion[] {
    return [...this.#ready.values()].sort((a, b) => compareVersions(a.version, b.version));
  }

  /** Ready versions and those on their way out, ascending. */
  get loaded(): readonly LoadedVersion[] {
    return [...this.#ready.values(), ...this.#unloading.values()].sort((a, b) => compareVersions(a.version, b.version));
  }

  /** Whether it has versions and all of them are ready. */
  get isReady(): boolean {
    return this.#versions.size > 0 && this.#ready.size === this.#versions.size;
  }

  set(version: string, status: VersionStatus): void {
    this.#versions.set(version, status);
    if (status.state === 'READY') this.#ready.set(version, status.loaded);
    else this.#ready.delete(version);
    if (status.state === 'UNLOADING') this.#unloading.set(version, status.loaded);
    else this.#unloading.delete(version);
    this.#latest = this.ready.at(-1);
  }

  /** The ready version of that number, the latest for '' (and −1, its spelling on the wire); undefined when it is not ready. */
  find(version: string): LoadedVersion | undefined {
    if (version === '') return this.#latest;
    return this.#ready.get(version) ?? (version === '-1' ? this.#latest : this.#findBySpelling(version));
  }

  /** A version that is being unloaded and that the request continues a sequence of. */
  findContinued(request: InferenceRequest): LoadedVersion | undefined {
    if (this.#unloading.size === 0) return undefined;
    const { modelVersion: version } = request;
    const isAny = version === '' || version === '-1';
    for (const loaded of this.#unloading.values()) {
      if ((isAny || loaded.version === canonical(version)) && loaded.continues(request)) return loaded;
    }
    return undefined;
  }

  /** Leading zeros do not make another number. */
  #findBySpelling(version: string): LoadedVersion | undefined {
    return /^0[0-9]+$/.test(version) ? this.#ready.get(canonical(version)) : undefined;
  }

  /** Why `find` found nothing. */
  lookupError(version: string): ServingError {
    const prefix = `Request for unknown model: '${this.name}'`;
    if (version === '' || version === '-1') {
      const reason = this.fault === undefined ? '' : `: ${this.fault.reason}`;
      return new ServingError('no-ready-version', `${prefix} has no available versions${reason}`);
    }
    if (!/^[0-9]+$/.test(version)) {
      return new ServingError(
        'bad-version',
        `'${version}' is no version of model '${this.name}'; a version is a decimal number`,
      );
    }
    const status = this.#versions.get(canonical(version));
    if (status === undefined) return new ServingError('unknown-version', `${prefix} version ${version} is not found`);
    const why = status.state === 'UNAVAILABLE' ? `: ${status.reason}` : ` but ${status.state}`;
    return new ServingError('not-ready', `${prefix} version ${version} is not at ready state${why}`);
  }

  /** Versions on their way in or out. */
  unfinished(): readonly LeftOver[] {
    return this.versions.flatMap(([version, status]): readonly LeftOver[] => {
      if (status.state === 'LOADING') return [{ name: this.name, version, state: status.state, inFlight: 0 }];
      if (status.state !== 'UNLOADING') return [];
      return [{ name: this.name, version, state: status.state, inFlight: status.loaded.inFlight }];
    });
  }

  /** Its rows of the repository index. */
  index(): readonly ModelIndexEntry[] {
    const { name, fault } = this;
    if (fault?.kind === 'duplicate') return [{ name, state: 'UNAVAILABLE', reason: fault.reason }];
    if (fault !== undefined) return [{ name, reason: fault.reason }];
    return this.versions.map(([version, status]) =>
      status.state === 'UNAVAILABLE'
        ? { name, version, state: status.state, reason: status.reason }
        : { name, version, state: status.state },
    );
  }
}

function canonical(version: string): string {
  return version.replace(/^0+(?=[0-9])/, '');
}
