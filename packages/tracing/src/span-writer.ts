/**
 * Mode opentelemetry: a finished trace becomes spans that begin and end when its marks say, `InferRequest` → the model → `compute`, and goes through OpenTelemetry's batching
 * processor to an OTLP receiver. Nothing global is registered: an application may have a set-up of its own.
 */

import type { Clock, Logger, TraceSettingValues, TraceStart } from '@nereid/core';
import {
  trace as api,
  type Context,
  type HrTime,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  type Tracer,
} from '@opentelemetry/api';
import { W3CTraceContextPropagator } from '@opentelemetry/core';
import { defaultResource, detectResources, envDetector, resourceFromAttributes } from '@opentelemetry/resources';
import {
  AlwaysOnSampler,
  BasicTracerProvider,
  BatchSpanProcessor,
  type IdGenerator,
  RandomIdGenerator,
} from '@opentelemetry/sdk-trace-base';
import type { OpenTelemetryOptions } from './config.ts';
import type { FinishedTrace, Mark } from './finished-trace.ts';
import { openExporter } from './open-exporter.ts';
import type { SpanIdentity } from './span-identity.ts';
import type { TraceSink, TraceWriter } from './writer.ts';

/** How long a receiver that does not answer may hold up the end. */
const CLOSE_TIMEOUT_MS = 5000;

const propagator = new W3CTraceContextPropagator();
const getter = {
  keys: (headers: TraceStart['headers']) => Object.keys(headers),
  get: (headers: TraceStart['headers'], key: string) => headers[key],
};

/** Random numbers, but for a span whose numbers were given away before. */
class SpanNumbers implements IdGenerator {
  readonly #random = new RandomIdGenerator();
  /** Of the span that is being made; undefined for random ones. */
  given: SpanIdentity | undefined = undefined;

  readonly generateTraceId = () => this.given?.traceId ?? this.#random.generateTraceId();

  readonly generateSpanId = () => this.given?.spanId ?? this.#random.generateSpanId();
}

interface SpanWriterInit {
  readonly numbers: SpanNumbers;
  readonly options: OpenTelemetryOptions;
  readonly provider: BasicTracerProvider;
  readonly clock: Pick<Clock, 'nowMicros'>;
}

export class SpanWriter implements TraceWriter, TraceSink {
  /** Spans hold no tensors. */
  readonly takesTensors = false;
  readonly #options: OpenTelemetryOptions;
  readonly #provider: BasicTracerProvider;
  readonly #tracer: Tracer;
  readonly #numbers: SpanNumbers;
  readonly #clock: Pick<Clock, 'nowMicros'>;

  private constructor({ numbers, options, provider, clock }: SpanWriterInit) {
    this.#numbers = numbers;
    this.#options = options;
    this.#provider = provider;
    this.#tracer = provider.getTracer('nereid');
    this.#clock = clock;
  }

  static async open(
    options: OpenTelemetryOptions,
    { clock, logger }: { readonly clock: Pick<Clock, 'nowMicros'>; readonly logger: Logger },
  ): Promise<SpanWriter> {
    const processor = new BatchSpanProcessor(await openExporter(options, logger), {
      maxQueueSize: options.maxQueueSize,
      maxExportBatchSize: Math.min(options.maxExportBatchSize, options.maxQueueSize),
      scheduledDelayMillis: options.scheduleDelayMs,
    });
    const resource = defaultResource()
      .merge(resourceFromAttributes(Object.fromEntries(options.resource)))
      .merge(detectResources({ detectors: [envDetector] }));
    const numbers = new SpanNumbers();
    const provider = new BasicTracerProvider({
      resource,
      sampler: new AlwaysOnSampler(),
      spanProcessors: [processor],
      idGenerator: numbers,
    });
    return new SpanWriter({ numbers, options, provider, clock });
  }

  contextOf(headers: TraceStart['headers']): Context | undefined {
    if (headers.traceparent === undefined) return undefined;
    const context = propagator.extract(ROOT_CONTEXT, headers, getter);
    return api.getSpanContext(context) === undefined ? undefined : context;
  }

  identify(context: unknown): SpanIdentity {
    const parent = isContext(context) ? api.getSpanContext(context) : undefined;
    return {
      traceId: parent?.traceId ?? this.#numbers.generateTraceId(),
      spanId: this.#numbers.generateSpanId(),
    };
  }

  describe(): TraceSettingValues {
    const { url, protocol, resource, maxQueueSize, scheduleDelayMs, maxExportBatchSize } = this.#options;
    return {
      url,
      protocol,
      resource: [...resource].map(([name, value]) => `${name}=${value}`),
      bsp_max_queue_size: String(maxQueueSize),
      bsp_schedule_delay: String(scheduleDelayMs),
      bsp_max_export_batch_size: String(maxExportBatchSize),
    };
  }

  open(): TraceSink {
    return this;
  }

  add(trace: FinishedTrace): void {
    // The two clocks drift: what they differ by is asked for each trace, so that within one every length is exact.
    const wallMicros = Date.now() * 1000 - this.#clock.nowMicros();
    const spans = new SpanTree({ tracer: this.#tracer, trace, wallMicros });
    this.#numbers.given = trace.identity;
    const root = spans.add('InferRequest', trace.front, isContext(trace.context) ? trace.context : ROOT_CONTEXT);
    this.#numbers.given = undefined;
    const model = spans.add(trace.modelName, trace.request, root, modelAttributes(trace));
    spans.add('compute', trace.compute, model, batchAttributes(trace));
    spans.end();
  }

  flush(): void {}

  async close(): Promise<void> {
    const timeout = new Promise<void>((resolve) => setTimeout(resolve, CLOSE_TIMEOUT_MS).unref());
    // Why a receiver took nothing was logged by the exporter.
    await Promise.race([this.#provider.shutdown().catch(() => {}), timeout]);
  }
}

/** The spans of one trace. */
class SpanTree {
  readonly #init: { readonly tracer: Tracer; readonly trace: FinishedTrace; readonly wallMicros: number };
  readonly #open: { readonly span: Span; readonly end: HrTime }[] = [];

  constructor(init: { readonly tracer: Tracer; readonly trace: FinishedTrace; readonly wallMicros: number }) {
    this.#init = init;
  }

  /**
   * Adds a span that lasts from the first to the last of its marks, which are its events.
   * @returns the context of its children; that of the parent when there are no marks, and so no span
   */
  add(name: string, marks: readonly Mark[], parent: Context, attributes: SpanAttributes = {}): Context {
    const [first] = marks;
    if (first === undefined) return parent;
    const { tracer, trace } = this.#init;
    const kind = this.#open.length === 0 ? SpanKind.SERVER : SpanKind.INTERNAL;
    const span = tracer.startSpan(name, { kind, attributes, startTime: this.#at(first.micros) }, parent);
    for (const mark of marks) span.addEvent(mark.name, this.#at(mark.micros));
    if (trace.error !== undefined) span.setStatus({ code: SpanStatusCode.ERROR, message: trace.error.message });
    this.#open.push({ span, end: this.#at(Math.max(...marks.map(({ micros }) => micros))) });
    return api.setSpan(parent, span);
  }

  end(): void {
    for (const { span, end } of this.#open.reverse()) span.end(end);
  }

  #at(micros: number): HrTime {
    const wall = micros + this.#init.wallMicros;
    const seconds = Math.floor(wall / 1e6);
    // Nanoseconds since 1970 are beyond what a double holds exactly.
    return [seconds, Math.floor((wall - seconds * 1e6) * 1000)];
  }
}

type SpanAttributes = Readonly<Record<string, string | number>>;

function modelAttributes({ id, modelName, modelVersion, requestId }: FinishedTrace): SpanAttributes {
  return {
    'triton.model_name': modelName,
    'triton.model_version': modelVersion === '' ? -1 : Number(modelVersion),
    'triton.trace_id': id,
    'triton.trace_parent_id': 0,
    ...(requestId !== '' && { 'triton.request_id': requestId }),
  };
}

/** Requests of one batch have its number, instance and model in common. */
function batchAttributes({ batch }: FinishedTrace): SpanAttributes {
  if (batch === undefined) return {};
  return {
    'nereid.batch_id': batch.id,
    'nereid.batch_size': batch.batchSize,
    'nereid.batch_request_count': batch.requestCount,
    'nereid.batch_reason': batch.reason,
    'nereid.instance': batch.instance,
  };
}

/** Whether this writer made it. */
function isContext(value: unknown): value is Context {
  return typeof value === 'object' && value !== null && 'getValue' in value;
}
