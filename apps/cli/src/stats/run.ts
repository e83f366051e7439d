/** `nereid stats`. */
import { modelPath } from '@nereid/client';
import type { StatsOptions } from '../commands/stats.ts';
import { withServer } from '../connection/open-client.ts';
import { CliError } from '../errors.ts';
import { type Io, printLine } from '../io.ts';
import { paintFor } from '../output/style.ts';
import { statisticsText } from './text.ts';

export async function runStats(model: string | undefined, options: StatsOptions, io: Io): Promise<number> {
  const { url, modelVersion: version, timeout, json = false } = options;
  if (model === undefined && version !== undefined)
    throw new CliError('usage', '--model-version needs the name of a model');
  await withServer({ url, timeoutMs: timeout * 1000 }, async (client) => {
    if (json) {
      const path = model === undefined ? '/v2/models' : modelPath({ model, version });
      const { body } = await client.request({ method: 'GET', path: `${path}/stats` });
      printLine(io.stdout, JSON.stringify(JSON.parse(Buffer.from(body).toString('utf8')), null, 2));
      return;
    }
    const entries = await client.statistics(model === undefined ? {} : { model: { model, version } });
    if (entries.length === 0) printLine(io.stdout, 'the server has no models that are ready');
    else io.stdout.write(entries.map((entry) => statisticsText(entry, paintFor(io.stdout, io))).join('\n'));
  });
  return 0;
}
