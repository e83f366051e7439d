/** Resolves the names that a model configuration uses to positions among a program's inputs and outputs. */
import { nearestName } from '@nereid/core';
import { CallSpecError, type CallSpecProblem } from './errors.ts';
import type { NamedTensor } from './names.ts';

/** What a name of the configuration is for. All four count as inputs of the program. */
export type InputRole = 'input' | 'control' | 'state' | 'batch input';

/** What a name of the configuration is for. One tensor may be returned as an output and stored as a state. */
export type OutputRole = 'output' | 'state';

/** One name of a configuration, in any of the forms that its role allows. */
export interface ConfigEntry<Role extends InputRole | OutputRole> {
  readonly name: string;
  readonly role: Role;
}

/**
 * Positions of the tensors that a configuration's inputs stand for, in the order of `entries`.
 *
 * An entry is an ordinal name (`INPUT__2`) or a usable forward name (`ARGS[2][keyA]`), mixed at will; controls and states may also be
 * `<anything>__<index>`. Every tensor must be named exactly once.
 *
 * @throws {CallSpecError} with every problem: `unknown-name`, `index`, `claimed-twice`, `input-count`
 */
export function resolveInputs(tensors: readonly NamedTensor[], entries: readonly ConfigEntry<InputRole>[]): number[] {
  const claims = claim(tensors, entries, 'input');
  const problems = [...claims.problems, ...duplicates(tensors, entries, claims.positions)];
  if (entries.length !== tensors.length) problems.push(inputCount(tensors, entries.length));
  const unnamed = tensors.filter(({ position }) => !claims.positions.includes(position));
  return accept(claims.positions, withUnnamed(problems, unnamed));
}

/** Adds to the last problem which tensors nobody named: a consequence of the problems, not one more. */
function withUnnamed(
  problems: readonly CallSpecProblem[],
  unnamed: readonly NamedTensor[],
): readonly CallSpecProblem[] {
  const last = problems.at(-1);
  if (last === undefined || last.reason === 'unknown-name' || unnamed.length === 0) return problems;
  return [...problems.slice(0, -1), { ...last, message: `${last.message} Not named: ${list(unnamed)}.` }];
}

/**
 * Positions of the tensors that a configuration's outputs stand for, in the order of `entries`: any non-empty subset, in any order.
 * Forms of names as for inputs, with `OUTPUT__2` and `RESULT[k]`.
 *
 * @throws {CallSpecError} with every problem: `unknown-name`, `index`, `claimed-twice` (within one role), `no-outputs`
 */
export function resolveOutputs(tensors: readonly NamedTensor[], entries: readonly ConfigEntry<OutputRole>[]): number[] {
  const claims = claim(tensors, entries, 'output');
  const problems = [...claims.problems];
  for (const role of ['output', 'state'] as const) {
    const positions = claims.positions.map((position, index) => (entries[index]?.role === role ? position : undefined));
    problems.push(...duplicates(tensors, entries, positions));
  }
  if (entries.length === 0) problems.push(noOutputs(tensors));
  return accept(claims.positions, problems);
}

type Side = 'input' | 'output';
type Positions = readonly (number | undefined)[];

function accept(positions: Positions, problems: readonly CallSpecProblem[]): number[] {
  const [first, ...more] = problems;
  if (first !== undefined) throw new CallSpecError(first, ...more);
  return positions.filter((position) => position !== undefined);
}

function claim(
  tensors: readonly NamedTensor[],
  entries: readonly ConfigEntry<InputRole | OutputRole>[],
  side: Side,
): { positions: Positions; problems: CallSpecProblem[] } {
  const byName = new Map<string, number>();
  for (const { position, ordinalName, forwardName, forwardNameUsable } of tensors) {
    byName.set(ordinalName, position);
    if (forwardNameUsable) byName.set(forwardName, position);
  }
  const problems: CallSpecProblem[] = [];
  const positions = entries.map((entry) => {
    const position = byName.get(entry.name) ?? descriptiveIndex(entry);
    if (position === undefined) problems.push(unknownName(tensors, entry, side));
    else if (position >= tensors.length) problems.push(indexOutside(tensors, entry, side));
    else return position;
    return undefined;
  });
  return { positions, problems };
}

/** The index of `<anything>__<index>`, a form for controls and states only. */
function descriptiveIndex({ name, role }: ConfigEntry<InputRole | OutputRole>): number | undefined {
  if (role !== 'control' && role !== 'state') return undefined;
  const index = /^.+__(\d+)$/su.exec(name)?.[1];
  return index === undefined ? undefined : Number(index);
}

function duplicates(
  tensors: readonly NamedTensor[],
  entries: readonly ConfigEntry<InputRole | OutputRole>[],
  positions: Positions,
): CallSpecProblem[] {
  return tensors.flatMap((tensor) => {
    const claimants = entries.filter((_, index) => positions[index] === tensor.position);
    if (claimants.length < 2) return [];
    const names = claimants.map(({ name, role }) => `${role} '${name}'`).join(' and ');
    const message = `${names} are the same tensor, ${both(tensor)}. Keep one of them.`;
    return [{ reason: 'claimed-twice', message } as const];
  });
}

function inputCount(tensors: readonly NamedTensor[], count: number): CallSpecProblem {
  const message =
    `The model takes ${tensors.length} input tensors, the configuration names ${count} ` +
    '(inputs, controls, states and batch inputs together); each must be named once.';
  return { reason: 'input-count', message };
}

function noOutputs(tensors: readonly NamedTensor[]): CallSpecProblem {
  return {
    reason: 'no-outputs',
    message: `The configuration names no output; name at least one of the model's: ${list(tensors)}.`,
  };
}

function unknownName(
  tensors: readonly NamedTensor[],
  entry: ConfigEntry<InputRole | OutputRole>,
  side: Side,
): CallSpecProblem {
  const message = `The model has no ${side} for the ${entry.role} '${entry.name}'.${remedy(tensors, entry.name)} ${all(tensors, side)}`;
  return { reason: 'unknown-name', message };
}

function remedy(tensors: readonly NamedTensor[], name: string): string {
  const unusable = tensors.find(({ forwardName }) => forwardName === name);
  if (unusable !== undefined) {
    return ` A key in it has a character that makes it ambiguous; use '${unusable.ordinalName}'.`;
  }
  const names = tensors.flatMap((tensor) =>
    tensor.forwardNameUsable ? [tensor.ordinalName, tensor.forwardName] : [tensor.ordinalName],
  );
  const suggestion = nearestName(name, names);
  return suggestion === undefined ? '' : ` Did you mean '${suggestion}'?`;
}

function indexOutside(
  tensors: readonly NamedTensor[],
  { name, role }: ConfigEntry<InputRole | OutputRole>,
  side: Side,
): CallSpecProblem {
  const message = `The index of the ${role} '${name}' is outside the model's ${tensors.length} ${side}s. ${all(tensors, side)}`;
  return { reason: 'index', message };
}

function all(tensors: readonly NamedTensor[], side: Side): string {
  return tensors.length === 0 ? `The model has no ${side}s.` : `The model's ${side}s: ${list(tensors)}.`;
}

/** How many tensors a message lists before it only counts the rest. */
const MOST_LISTED = 32;

function list(tensors: readonly NamedTensor[]): string {
  const shown = tensors.slice(0, MOST_LISTED).map(both).join(', ');
  const rest = tensors.length - MOST_LISTED;
  return rest > 0 ? `${shown} and ${rest} more` : shown;
}

function both({ ordinalName, forwardName, forwardNameUsable }: NamedTensor): string {
  return forwardNameUsable ? `${ordinalName} (${forwardName})` : ordinalName;
}
