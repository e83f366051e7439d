import type { TraceSettingValues, TraceStart } from '@nereid/core';
import type { FinishedTrace } from './finished-trace.ts';
import type { SettingValues } from './setting-values.ts';
import type { SpanIdentity } from './span-identity.ts';

/** Takes the traces of one counter set. */
export interface TraceSink {
  add(trace: FinishedTrace): void;
  /** As many traces as there were to be have been made, or no more will be: what is held is to be written. */
  flush(): void;
}

/** What becomes of traces in one mode. */
export interface TraceWriter {
  /** Whether tensors are written too. */
  readonly takesTensors: boolean;
  /** The trace context of a request, for `FinishedTrace.context`; undefined when there is none. */
  contextOf(headers: TraceStart['headers']): unknown;
  /** What the first span of a trace with that context will be; undefined where no spans are made. */
  identify(context: unknown): SpanIdentity | undefined;
  open(values: SettingValues): TraceSink;
  /** What clients are told beside the settings that they can change. */
  describe(values: SettingValues): TraceSettingValues;
  /** Writes what is left. Never rejects. */
  close(): Promise<void>;
}
