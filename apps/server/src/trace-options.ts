import { parseTraceConfig, type TraceConfig, TracingError } from '@nereid/tracing';
import { UsageError } from './errors.ts';
import type { ParsedFlags } from './flags/layer.ts';

/** Older options, and what of `--trace-config` they stand for. */
const DEPRECATED = {
  'trace-file': 'triton,file',
  'trace-level': 'level',
  'trace-rate': 'rate',
  'trace-count': 'count',
  'trace-log-frequency': 'triton,log-frequency',
} as const;

type DeprecatedName = keyof typeof DEPRECATED;

/**
 * The traces that a command line asks for.
 * @throws {UsageError} for settings that are unknown or have no such value
 */
export function traceFromFlags({ values, given, env }: Pick<ParsedFlags, 'values' | 'given' | 'env'>): {
  readonly trace: TraceConfig;
  readonly warnings: readonly string[];
} {
  const old = (Object.keys(DEPRECATED) as DeprecatedName[]).filter((name) => given.has(name));
  const deprecated = old.flatMap((name) => [values[name]].flat().map((value) => `${DEPRECATED[name]}=${value}`));
  const trace = read({ settings: values['trace-config'], deprecated, env });
  const warnings = old.map((name) => `--${name} is deprecated; use --trace-config ${DEPRECATED[name]}=VALUE`);
  if (trace.values.levels.length > 0 && trace.mode === 'triton' && trace.file === '')
    warnings.push('no traces are made, as no file is named for them: add --trace-config triton,file=PATH');
  return { trace, warnings };
}

function read(text: Parameters<typeof parseTraceConfig>[0]): TraceConfig {
  try {
    return parseTraceConfig(text);
  } catch (thrown) {
    if (!(thrown instanceof TracingError)) throw thrown;
    throw new UsageError(`option '--trace-config': ${thrown.message}`);
  }
}
