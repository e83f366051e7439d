import type { RequestTrace } from '@nereid/core';
import type { Call } from './call.ts';
import type { GrpcSettings } from './options.ts';

/** Now, on the clock of traces; undefined while none are made. */
export function traceTime({ tracer }: GrpcSettings): number | undefined {
  return tracer?.isOn ? tracer.nowMicros() : undefined;
}

/** Begins the trace of a request that has been read; undefined when none is made. */
export function beginTrace(
  { tracer }: GrpcSettings,
  request: {
    readonly modelName: string;
    readonly modelVersion: string;
    readonly call: Call;
    readonly cameMicros: number;
  },
): RequestTrace | undefined {
  const { modelName, modelVersion, call, cameMicros } = request;
  const { headers } = call;
  const trace = tracer?.begin({ protocol: 'grpc', modelName, modelVersion, headers, startedMicros: cameMicros });
  trace?.received();
  return trace;
}
