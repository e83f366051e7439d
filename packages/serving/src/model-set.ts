import type { InferenceRequest, InstanceSpec } from '@nereid/core';
import type { ModelIndexEntry, ModelState } from './engine.ts';
import { ServingError } from './errors.ts';
import type { LoadedVersion } from './loaded-version.ts';
import type { ServedModel } from './served-model.ts';

/** One line of the table of models. */
export interface ModelRow {
  readonly name: string;
  /** Absent when no version of the model was found, or the model could not be read. */
  readonly version?: string;
  /** Absent together with `version`. */
  readonly state?: ModelState;
  /** Why it is not READY; absent when there is nothing to say. */
  readonly reason?: string;
  /** Instances of a READY version; empty otherwise. */
  readonly instances: readonly InstanceSpec[];
  /** Intra-op threads of each instance; undefined for a version that is not READY, and where the backend does not set them. */
  readonly threads: number | undefined;
}

/** Every model the engine knows. */
export class ModelSet {
  readonly #models = new Map<string, ServedModel>();
  /** Set once the engine stops: every look-up then fails with it. */
  #closed: ServingError | undefined;

  /** Models, ascending by name. */
  get models(): readonly ServedModel[] {
    return [...this.#models.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  /** Ready versions of every model, ascending by name and version. */
  get ready(): readonly LoadedVersion[] {
    return this.models.flatMap((model) => model.ready);
  }

  add(model: ServedModel): void {
    this.#models.set(model.name, model);
  }

  /** From now on nothing is found any more. */
  closeWith(error: ServingError): void {
    this.#closed = error;
  }

  /** The ready version; undefined when there is none. */
  peek(name: string, version: string): LoadedVersion | undefined {
    return this.#closed === undefined ? this.#models.get(name)?.find(version) : undefined;
  }

  /** @throws {ServingError} NOT_FOUND or UNAVAILABLE when that version is not ready */
  find(name: string, version: string): LoadedVersion {
    const found = this.peek(name, version);
    if (found !== undefined) return found;
    throw this.#closed ?? this.#models.get(name)?.lookupError(version) ?? unknownModel(name);
  }

  /**
   * The version that a request is for: one on its way out when the request continues a sequence of it, also when nothing else is found any more.
   * @throws {ServingError} as `find`
   */
  findFor(request: InferenceRequest): LoadedVersion {
    const continued = this.#models.get(request.modelName)?.findContinued(request);
    return continued ?? this.find(request.modelName, request.modelVersion);
  }

  /** @throws {ServingError} NOT_FOUND when there is no such model, or no version of it is ready */
  findModel(name: string): ServedModel {
    const model = this.#closed === undefined ? this.#models.get(name) : undefined;
    if (model === undefined) throw this.#closed ?? unknownModel(name);
    if (model.ready.length === 0) throw model.lookupError('');
    return model;
  }

  /** Rows of the models known and of those only listed, ascending by name and version. */
  index(listed: readonly string[]): readonly ModelIndexEntry[] {
    const names = [...new Set([...this.#models.keys(), ...listed])].sort();
    return names.flatMap((name) => this.#models.get(name)?.index() ?? [{ name }]);
  }

  rows(): readonly ModelRow[] {
    return this.models.flatMap((model) =>
      model.index().map((entry) => {
        const loaded = entry.version === undefined ? undefined : model.find(entry.version);
        return { ...entry, instances: loaded?.instances ?? [], threads: loaded?.threads };
      }),
    );
  }
}

function unknownModel(name: string): ServingError {
  return new ServingError('unknown-model', `Request for unknown model: '${name}' is not found`);
}
