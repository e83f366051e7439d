import type { WeightsOptions } from '../commands/weights.ts';
import { withServer } from '../connection/open-client.ts';
import { type Io, printLine } from '../io.ts';

/** `nereid weights`. */
export async function runWeights(
  { model, file, options }: { readonly model: string; readonly file: string; readonly options: WeightsOptions },
  io: Io,
): Promise<number> {
  const { url, modelVersion: version, timeout } = options;
  const { updated, kept, ignored } = await withServer({ url, timeoutMs: timeout * 1000 }, (client) =>
    client.updateWeights({ model, version }, file),
  );
  printLine(io.stdout, `${updated.length} weights of '${model}' were exchanged`);
  if (kept.length > 0) printLine(io.stdout, `kept their values: ${kept.join(', ')}`);
  if (ignored.length > 0) printLine(io.stdout, `not used by the package: ${ignored.join(', ')}`);
  return 0;
}
