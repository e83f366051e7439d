/** `nereid stats`. */
import type { StatsOptions } from '../commands/stats.ts';
import { CliError } from '../errors.ts';
import { modelPath } from '../infer/client.ts';
import { asObject, parseDocument } from '../infer/document.ts';
import { ServerClient } from '../infer/server-client.ts';
import { type Io, printLine } from '../io.ts';
import { paintFor } from '../output/style.ts';
import { readStatistics } from './read.ts';
import { statisticsText } from './text.ts';

export async function runStats(model: string | undefined, options: StatsOptions, io: Io): Promise<number> {
  const { url, modelVersion: version, timeout, json = false } = options;
  if (model === undefined && version !== undefined)
    throw new CliError('usage', '--model-version needs the name of a model');
  const client = new ServerClient({ url, timeoutMs: timeout * 1000 });
  const path = model === undefined ? '/v2/models' : modelPath({ model, version });
  const { body } = await client.call(`${path}/stats`, { method: 'GET' });
  const document = parseDocument(body.toString('utf8'));
  const entries = asObject(document)?.model_stats;
  if (!Array.isArray(entries)) {
    throw new CliError(
      'server',
      'the answer of the server is no statistics; is it a server of the v2 inference protocol?',
    );
  }
  if (json) printLine(io.stdout, JSON.stringify(document, null, 2));
  else if (entries.length === 0) printLine(io.stdout, 'the server has no models that are ready');
  else
    io.stdout.write(entries.map((entry) => statisticsText(readStatistics(entry), paintFor(io.stdout, io))).join('\n'));
  return 0;
}
