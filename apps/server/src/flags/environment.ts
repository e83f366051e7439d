/** Options as variables: `NEREID_` and the name in capitals, `-` as `_`. A variable that is empty says nothing. */
import { nearestName } from '@nereid/core';
import { UsageError } from '../errors.ts';
import type { Environment, Layer, Setting } from './layer.ts';
import { flagOf, NAMES, SPELLINGS } from './names.ts';
import type { FlagName } from './table.ts';
import { readValue } from './value.ts';

const PREFIX = 'NEREID_';
const VARIABLES = new Map([...SPELLINGS].map(([spelling, name]) => [variableOf(spelling), name]));
/** Variables of other parts. */
const OTHERS = new Set(['NEREID_DEBUG', 'NEREID_LIBTORCH', 'NEREID_PYTHON', 'NEREID_CUDA']);

/** Name of the variable of an option. */
export function variableOf(spelling: string): string {
  return PREFIX + spelling.replaceAll('-', '_').toUpperCase();
}

/** @throws {UsageError} for a bad value, and for two spellings of one option */
export function readEnvironment(env: Environment): {
  readonly layer: Layer;
  readonly warnings: readonly string[];
} {
  const layer = new Map<FlagName, Setting>();
  for (const [variable, name] of VARIABLES) {
    const text = env[variable];
    if (text === undefined || text === '' || isServiceLink(variable, text)) continue;
    const other = layer.get(name)?.source;
    if (other !== undefined) throw new UsageError(`${other} and ${variable} are one option: set only the first`);
    layer.set(name, { value: readVariable(variable, name, text), source: variable });
  }
  return { layer, warnings: strangers(env) };
}

function readVariable(variable: string, name: FlagName, text: string): unknown {
  const flag = flagOf(name);
  if (flag.kind !== 'list') return readValue(variable, flag, text);
  return membersOf(variable, text).map((member) => readValue(variable, flag, member));
}

/** `a;b`, or JSON where a member has a semicolon in it. */
function membersOf(variable: string, text: string): readonly string[] {
  if (!text.startsWith('[')) return text.split(';');
  const members = parsed(text);
  if (Array.isArray(members) && members.every((member) => typeof member === 'string')) return members;
  throw new UsageError(
    `${variable} begins like a list in JSON and is no list of strings: ["first", "second"], got '${text}'`,
  );
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Whether Kubernetes set it for a service: one named `nereid-http` makes `NEREID_HTTP_PORT=tcp://10.0.0.1:8000`, in every container beside it. */
function isServiceLink(variable: string, text: string): boolean {
  return (
    /_SERVICE_(HOST|PORT(_\w+)?)$|_PORT_\d+_\w+$/.test(variable) ||
    (variable.endsWith('_PORT') && /^\w+:\/\//.test(text))
  );
}

/** Variables that were meant to be of an option, by their look. */
function strangers(env: Environment): readonly string[] {
  return Object.keys(env)
    .filter((variable) => variable.startsWith(PREFIX) && !VARIABLES.has(variable) && !OTHERS.has(variable))
    .filter((variable) => !isServiceLink(variable, env[variable] ?? ''))
    .flatMap((variable) => {
      const nearest = nearestName(
        variable.slice(PREFIX.length),
        NAMES.map((name) => variableOf(name).slice(PREFIX.length)),
      );
      return nearest === undefined
        ? []
        : [`${variable} is no variable of an option; did you mean ${PREFIX}${nearest}?`];
    });
}
