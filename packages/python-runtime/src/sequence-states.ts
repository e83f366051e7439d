/**
 * Implicit state of sequences. The values stay in the process; here is kept under which key, in which version, and in which shapes. A call reads one version
 * and writes the next, and only a request that was answered turns its sequence to it: a call that fails leaves its sequences as they were.
 *
 * On the way to the process a call has the number of its wanted outputs, those, and three numbers for each request: key, version, rows. Key 0 stands for a request that is in no sequence or
 * pads: it starts from the initial values and leaves nothing. A note is a key to forget.
 */
import { type HeldState, type InferenceRequest, type Shape, shapeMatches } from '@nereid/core';
import { PythonRuntimeError } from './errors.ts';
import type { Batch } from './gather.ts';
import type { ModelPlan } from './model-plan.ts';
import type { ModelProcess } from './model-process.ts';

/** Keys are 32 bits wide; no sequence lives so long that its key comes round. */
const KEYS = 2 ** 32 - 1;

/** What the process keeps of one sequence. */
class KeptState implements HeldState {
  readonly key: number;
  /** The life of the process that keeps it: how it greeted. Undefined before anything was written. */
  life: Buffer | undefined;
  /** 0 before anything was written. */
  version = 0;
  /** Dimensions of each state as last written, without the batch; undefined before. */
  dims: readonly Shape[] | undefined;
  readonly #process: ModelProcess;

  constructor(process: ModelProcess, key: number) {
    this.key = key;
    this.#process = process;
  }

  /** Turns to what the last call wrote. */
  turn(dims: readonly Shape[]): void {
    this.version++;
    this.dims = dims;
    this.life = this.#process.greeting;
  }

  release(): void {
    this.#process.note(this.key);
  }
}

/** The numbers of a call: the outputs that are wanted, alone or counted and before the states. */
export function numbersFor(wanted: readonly number[], states: LentStates | undefined): readonly number[] {
  return states === undefined ? wanted : [wanted.length, ...wanted, ...states.numbers];
}

/** The states of the sequences at one instance. */
export class SequenceStates {
  readonly #plan: ModelPlan;
  readonly #process: ModelProcess;
  #lastKey = 0;

  constructor(plan: ModelPlan, process: ModelProcess) {
    this.#plan = plan;
    this.#process = process;
  }

  /** Requests in groups that can run together, in the order in which they first appear: those whose states have the same dimensions. */
  groups(requests: readonly InferenceRequest[]): readonly (readonly InferenceRequest[])[] {
    const states = this.#plan.sequence?.states ?? [];
    const variable = states.flatMap(({ input }, i) => (input.dims.includes(-1) ? [i] : []));
    if (variable.length === 0 || requests.length <= 1) return [requests];
    const groups = new Map<string, InferenceRequest[]>();
    for (const request of requests) {
      const held = request.turn?.state?.held;
      const dims = held instanceof KeptState ? held.dims : undefined;
      const key = variable.map((i) => (dims?.[i] ?? states[i]?.initialDims ?? []).join('x')).join();
      const group = groups.get(key);
      if (group === undefined) groups.set(key, [request]);
      else group.push(request);
    }
    return [...groups.values()];
  }

  /** Why a request cannot go on: the process that kept its state is gone. */
  lost({ id, turn }: InferenceRequest): PythonRuntimeError | undefined {
    const held = turn?.state?.held;
    if (!(held instanceof KeptState) || held.life === this.#process.greeting) return undefined;
    const message = `model '${this.#plan.modelName}': the state of the sequence of request '${id}' was lost when the process that kept it ended; begin the sequence anew`;
    return new PythonRuntimeError({ code: 'UNAVAILABLE', reason: 'process', message });
  }

  /** The states of a batch for one call. Requests that were answered already only fill their rows. */
  lend(batch: Batch): LentStates | undefined {
    if ((this.#plan.sequence?.states ?? []).length === 0) return undefined;
    return new LentStates(this.#plan, {
      batch,
      kept: batch.requests.map(({ turn, isDone }) => {
        if (turn?.state === undefined || turn.isPadding || isDone) return undefined;
        const { held } = turn.state;
        return held instanceof KeptState ? held : this.#fresh();
      }),
    });
  }

  #fresh(): KeptState {
    this.#lastKey = (this.#lastKey % KEYS) + 1;
    return new KeptState(this.#process, this.#lastKey);
  }
}

/** The states of a batch while a call has them. */
export class LentStates {
  /** For the process: key, version and rows of each request. */
  readonly numbers: readonly number[];
  readonly #plan: ModelPlan;
  readonly #batch: Batch;
  readonly #kept: readonly (KeptState | undefined)[];

  constructor(plan: ModelPlan, lent: { readonly batch: Batch; readonly kept: readonly (KeptState | undefined)[] }) {
    this.#plan = plan;
    this.#batch = lent.batch;
    this.#kept = lent.kept;
    this.numbers = this.#kept.flatMap((state, i) => [state?.key ?? 0, state?.version ?? 0, this.#batch.rows[i] ?? 1]);
  }

  /**
   * The call was answered: each sequence turns to what it wrote.
   * @param written  dimensions of each state, one after another, without the batch; none when it wrote nothing
   */
  keep(written: readonly number[]): void {
    if (written.length === 0) {
      this.drop();
      return;
    }
    const dims = this.#shapes(written);
    for (const [i, state] of this.#kept.entries()) {
      const sequence = this.#batch.requests[i]?.turn?.state;
      if (state === undefined || sequence === undefined) continue;
      state.turn(dims);
      sequence.held = state;
    }
  }

  /** The call failed: sequences that go on keep what they had; of those that begin nobody else knows. */
  drop(): void {
    for (const state of this.#kept) if (state?.version === 0) state.release();
  }

  #shapes(written: readonly number[]): readonly Shape[] {
    let at = 0;
    return (this.#plan.sequence?.states ?? []).map(({ input: { dims } }) => {
      const shape = written.slice(at, at + dims.length);
      at += dims.length;
      if (!shapeMatches(dims, shape)) throw new RangeError(`a state of shape [${shape}] for dims [${dims}]`);
      return shape;
    });
  }
}
