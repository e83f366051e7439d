import {
  type Clock,
  type Logger,
  type RequestTrace,
  type RequestTracer,
  silentLogger,
  type TraceSettingChanges,
  type TraceSettingValues,
  type TraceStart,
} from '@nereid/core';
import type { TraceConfig } from './config.ts';
import { TraceSettings } from './settings.ts';
import { Trace } from './trace.ts';
import { TraceFile } from './trace-file.ts';
import type { TraceWriter } from './writer.ts';

export interface TracerOptions {
  readonly config: TraceConfig;
  /** The engine's: times of requests are on it. */
  readonly clock: Pick<Clock, 'nowMicros'>;
  /**
   * Responses to one request that its trace tells of one by one, with their tensors if those are asked for; of those beyond only the last is, so that a request
   * with endless responses has no endless trace. 1 000 by default.
   */
  readonly maxResponses?: number;
  /** Told what cannot be written or sent. Silent by default. */
  readonly logger?: Logger;
}

/**
 * Makes a tracer. The packages of OpenTelemetry are only loaded for mode opentelemetry.
 * The tracer is to be closed.
 */
export async function createTracer(options: TracerOptions): Promise<Tracer> {
  const { config, clock, logger = silentLogger } = options;
  return new Tracer(options, await openWriter(config, { clock, logger }));
}

/** Chooses requests, and writes their traces to a file or sends them as spans. */
export class Tracer implements RequestTracer, AsyncDisposable {
  readonly #settings: TraceSettings;
  readonly #clock: TracerOptions['clock'];
  readonly #writer: TraceWriter;
  readonly #maxResponses: number;
  #created = 0;

  /** @internal use `createTracer` */
  constructor({ config, clock, maxResponses = 1000 }: TracerOptions, writer: TraceWriter) {
    const { mode, file, values } = config;
    this.#clock = clock;
    this.#maxResponses = maxResponses;
    this.#writer = writer;
    this.#settings = new TraceSettings({ mode, file, start: values, writer });
  }

  get isOn(): boolean {
    return this.#settings.isOn;
  }

  nowMicros(): number {
    return this.#clock.nowMicros();
  }

  begin(start: TraceStart): RequestTrace | undefined {
    const context = this.#writer.contextOf(start.headers);
    const counters = this.#settings.countersFor(start.modelName);
    if (!counters.take(context !== undefined)) return undefined;
    return new Trace({
      id: ++this.#created,
      start,
      clock: this.#clock,
      withTensors: this.#writer.takesTensors && counters.values.levels.includes('TENSORS'),
      maxResponses: this.#maxResponses,
      context,
      identity: this.#writer.identify(context),
      finished: (trace) => counters.add(trace),
    });
  }

  settings(modelName?: string): TraceSettingValues {
    return this.#settings.describe(modelName);
  }

  update(changes: TraceSettingChanges, modelName?: string): TraceSettingValues {
    this.#settings.update(changes, modelName);
    return this.#settings.describe(modelName);
  }

  /** Writes or sends what is held, for five seconds at most. Never rejects. Requests that are still under way are traced no more. */
  async close(): Promise<void> {
    this.#settings.flush();
    await this.#writer.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}

async function openWriter(
  { mode, file, openTelemetry }: TraceConfig,
  context: Required<Pick<TracerOptions, 'clock' | 'logger'>>,
): Promise<TraceWriter> {
  if (mode === 'triton') return new TraceFile(file, context.logger);
  const { SpanWriter } = await import('./span-writer.ts');
  return SpanWriter.open(openTelemetry, context);
}
