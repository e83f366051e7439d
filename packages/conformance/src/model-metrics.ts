/** The metrics of single models, read as text: quicker than by the parser of the Prometheus client, which `Scrape` asks. */
import type { NereidProcess } from './nereid-process.ts';

/** Values of one model by the name of the family without its prefix, e.g. `request_success`, with the reason behind it where it has one: `request_failure CANCELED`. */
export type ModelMetrics = Readonly<Record<string, number>>;

export async function modelMetrics({ metricsPlace }: NereidProcess, model: string): Promise<ModelMetrics> {
  const text = await (await fetch(`http://${metricsPlace}/metrics`)).text();
  const line = new RegExp(`^(?:nv_inference|nereid)_(\\w+)\\{([^}]*model="${model}"[^}]*)\\} (\\S+)$`, 'gm');
  return Object.fromEntries(
    [...text.matchAll(line)].map(([, family = '', labels = '', value]) => {
      const reason = /reason="(\w+)"/.exec(labels)?.[1];
      return [reason === undefined ? family : `${family} ${reason}`, Number(value)];
    }),
  );
}
