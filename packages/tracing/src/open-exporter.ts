import type { Logger } from '@nereid/core';
import type { ExportResult } from '@opentelemetry/core';
import { ExportResultCode } from '@opentelemetry/core';
import type { ReadableSpan, SpanExporter } from '@opentelemetry/sdk-trace-base';
import type { OpenTelemetryOptions } from './config.ts';

/** Opens the way to a receiver; only the packages of the protocol in use are loaded. */
export async function openExporter({ protocol, url }: OpenTelemetryOptions, logger: Logger): Promise<SpanExporter> {
  if (protocol === 'grpc') {
    const { OTLPTraceExporter } = await import('@opentelemetry/exporter-trace-otlp-grpc');
    return new LoggedExporter(new OTLPTraceExporter({ url }), { url, logger });
  }
  const { OTLPTraceExporter } = await import('@opentelemetry/exporter-trace-otlp-proto');
  return new LoggedExporter(new OTLPTraceExporter({ url }), { url, logger });
}

/** Logs when spans begin to be lost, and when they arrive again. */
class LoggedExporter implements SpanExporter {
  readonly #exporter: SpanExporter;
  readonly #to: { readonly url: string; readonly logger: Logger };
  #isFailing = false;

  constructor(exporter: SpanExporter, to: { readonly url: string; readonly logger: Logger }) {
    this.#exporter = exporter;
    this.#to = to;
  }

  export(spans: ReadableSpan[], done: (result: ExportResult) => void): void {
    this.#exporter.export(spans, (result) => {
      this.#note(result);
      done(result);
    });
  }

  shutdown(): Promise<void> {
    return this.#exporter.shutdown();
  }

  async forceFlush(): Promise<void> {
    await this.#exporter.forceFlush?.();
  }

  #note({ code, error }: ExportResult): void {
    const { url, logger } = this.#to;
    const isFailing = code === ExportResultCode.FAILED;
    if (isFailing === this.#isFailing) return;
    this.#isFailing = isFailing;
    if (isFailing)
      logger.warn(
        { err: error },
        `spans are lost, as '${url}' does not take them: ${error?.message ?? 'no reason given'}`,
      );
    else logger.info({}, `'${url}' takes spans again`);
  }
}
