/** What front ends know of tracing: they tell when bytes came and went, and how a request was answered; what becomes of it is the tracer's. */
import type { Responder } from './request.ts';

/** A request of which a trace may be made. */
export interface TraceStart {
  readonly protocol: 'http' | 'grpc';
  readonly modelName: string;
  /** Decimal version, or '' for the latest. */
  readonly modelVersion: string;
  /** When the request began to come in, in microseconds on the tracer's clock; now by default. */
  readonly startedMicros?: number;
  /** Headers or metadata by their names in lower case, which may hold a trace context. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
}

/** The trace of one request, told by its front end. It is complete once it was ended and its request, if it got that far, is answered. */
export interface RequestTrace {
  /** The request has come in whole. */
  received(): void;
  /** A responder to make the request with; it hands every answer on to `responder` at once. To be called once, right before the request is made. */
  watch(responder: Responder): Responder;
  /** The answer begins to leave; of several answers the first. Later calls do nothing. */
  sending(): void;
  /**
   * Nothing more is sent. Later calls do nothing.
   * @param thrown  why the request was refused, if it was
   */
  end(thrown?: unknown): void;
}

/** Settings by their names on the wire; numbers are texts. */
export type TraceSettingValues = Readonly<Record<string, string | readonly string[]>>;

/** New values by name; null, like no value at all, goes back to what holds without the setting. */
export type TraceSettingChanges = ReadonlyMap<string, readonly string[] | null>;

/** Chooses the requests of which traces are made; one for every protocol of a server. */
export interface RequestTracer {
  /** Whether there is a request of which a trace would be made. To be asked before everything else, so that tracing costs nothing while it is off. */
  readonly isOn: boolean;
  /** Microseconds on the clock of the traces, the engine's. */
  nowMicros(): number;
  /** Counts a request. @returns its trace; undefined when none is made */
  begin(start: TraceStart): RequestTrace | undefined;
  /** What holds for a model, or for all that have no settings of their own. */
  settings(modelName?: string): TraceSettingValues;
  /**
   * Changes settings, all or none, and counts anew.
   * @returns what holds now
   * @throws {InferenceServerError} INVALID_ARG for values that make no sense; UNSUPPORTED for settings that are fixed
   */
  update(changes: TraceSettingChanges, modelName?: string): TraceSettingValues;
}
