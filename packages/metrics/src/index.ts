export type { ProcessSample } from './process-monitor.ts';
export { type MetricsSelection, type RenderOptions, renderMetrics } from './render.ts';
export { createMetricsServer, type MetricsAddress, type MetricsServer, type MetricsServerOptions } from './server.ts';
