/**
 * Every option of the server. Names, meanings and defaults are Triton's unless `ours` is set; an option with `ignored` is accepted so that existing
 * start lines keep working, and answered with one warning that says why it has no effect.
 */
import type { Flag } from './flag.ts';
import { ACCEPTED_FLAGS } from './groups/accepted.ts';
import { GRPC_FLAGS } from './groups/grpc.ts';
import { HTTP_FLAGS } from './groups/http.ts';
import { LOGGING_FLAGS } from './groups/logging.ts';
import { METRICS_FLAGS } from './groups/metrics.ts';
import { MODEL_FLAGS } from './groups/models.ts';
import { PROCESS_FLAGS } from './groups/process.ts';
import { SCHEDULING_FLAGS } from './groups/scheduling.ts';
import { TRACING_FLAGS } from './groups/tracing.ts';

export const FLAGS = {
  ...MODEL_FLAGS,
  ...HTTP_FLAGS,
  ...GRPC_FLAGS,
  ...METRICS_FLAGS,
  ...SCHEDULING_FLAGS,
  ...LOGGING_FLAGS,
  ...TRACING_FLAGS,
  ...PROCESS_FLAGS,
  ...ACCEPTED_FLAGS,
} as const satisfies Record<string, Flag>;

export type FlagName = keyof typeof FLAGS;

type ValueOf<F> = F extends { kind: 'bool' | 'flag' }
  ? boolean
  : F extends { kind: 'int' | 'float' }
    ? number
    : F extends { kind: 'list' }
      ? readonly string[]
      : F extends { kind: 'choice'; choices: readonly (infer C)[] }
        ? C
        : F extends { kind: 'string' }
          ? string
          : undefined;

/** Value of every option, defaults included. */
export type FlagValues = { readonly [N in FlagName]: ValueOf<(typeof FLAGS)[N]> };
