export { type OpenTelemetryOptions, parseTraceConfig, type TraceConfig, type TraceConfigText } from './config.ts';
export { TracingError, type TracingErrorReason } from './errors.ts';
export type { SettingValues, TraceLevel, TraceMode } from './setting-values.ts';
export { createTracer, type Tracer, type TracerOptions } from './tracer.ts';
