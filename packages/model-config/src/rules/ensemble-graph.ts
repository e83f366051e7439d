import type { ModelConfig } from '../generated/types.ts';

/** A tensor that an ensemble's steps exchange. */
interface EnsembleTensor {
  readonly name: string;
  /** Steps that write it, in order; two are an error. */
  readonly writers: readonly number[];
  /** Steps that read it. */
  readonly readers: readonly number[];
  readonly isInput: boolean;
  readonly isOutput: boolean;
}

export interface EnsembleGraph {
  /** By name, in order of first mention. Declared inputs and outputs that no step mentions are not in it. */
  readonly tensors: ReadonlyMap<string, EnsembleTensor>;
  /** Names of the tensors that get a value: the ensemble's inputs, and what steps write whose inputs all get one. */
  readonly ready: ReadonlySet<string>;
}

/** Reads the graph out of the input and output maps. Its size is that of the maps; a cycle shows as tensors that are never ready. */
export function ensembleGraph(config: ModelConfig): EnsembleGraph {
  const tensors = collectTensors(config);
  return { tensors, ready: propagate(config, tensors) };
}

function collectTensors(config: ModelConfig): ReadonlyMap<string, EnsembleTensor> {
  const inputs = new Set(config.input.map(({ name }) => name));
  const outputs = new Set(config.output.map(({ name }) => name));
  const tensors = new Map<string, EnsembleTensor & { readonly writers: number[]; readonly readers: number[] }>();
  const tensor = (name: string) => {
    const known = tensors.get(name);
    if (known !== undefined) return known;
    const added = { name, writers: [], readers: [], isInput: inputs.has(name), isOutput: outputs.has(name) };
    tensors.set(name, added);
    return added;
  };
  for (const [i, { inputMap, outputMap }] of (config.ensembleScheduling?.step ?? []).entries()) {
    for (const name of new Set(inputMap.values())) tensor(name).readers.push(i);
    for (const name of outputMap.values()) tensor(name).writers.push(i);
  }
  return tensors;
}

function propagate(config: ModelConfig, tensors: ReadonlyMap<string, EnsembleTensor>): Set<string> {
  const steps = config.ensembleScheduling?.step ?? [];
  const missing = steps.map(({ inputMap }) => new Set(inputMap.values()).size);
  const ready = new Set<string>();
  const queue: string[] = [];
  const arrive = (name: string) => {
    if (ready.has(name)) return;
    ready.add(name);
    queue.push(name);
  };
  const finish = (step: number) => {
    for (const name of steps[step]?.outputMap.values() ?? []) arrive(name);
  };
  for (const { name, isInput } of tensors.values()) if (isInput) arrive(name);
  for (const [step, count] of missing.entries()) if (count === 0) finish(step);
  for (let name = queue.pop(); name !== undefined; name = queue.pop()) {
    for (const step of tensors.get(name)?.readers ?? []) {
      missing[step] = (missing[step] ?? 0) - 1;
      if (missing[step] === 0) finish(step);
    }
  }
  return ready;
}

/** The nearest tensor before `name` that nothing writes, following what is not ready; undefined when there is none (a cycle). */
export function unconnectedDependency(config: ModelConfig, graph: EnsembleGraph, name: string): string | undefined {
  const steps = config.ensembleScheduling?.step ?? [];
  const seen = new Set([name]);
  const queue = [name];
  for (const current of queue) {
    const writers = graph.tensors.get(current)?.writers ?? [];
    if (writers.length === 0) return current;
    for (const dependency of writers.flatMap((step) => [...(steps[step]?.inputMap.values() ?? [])])) {
      if (graph.ready.has(dependency) || seen.has(dependency)) continue;
      seen.add(dependency);
      queue.push(dependency);
    }
  }
  return undefined;
}
