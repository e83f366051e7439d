import {
  type Locate,
  type ModelConfig,
  modelConfigToJson,
  modelConfigToText,
  parseModelConfig,
} from '@nereid/model-config';
import { format, PbtxtError } from '@nereid/pbtxt';
import { scanModelDirectory } from '@nereid/repository';
import type { ConfigOptions } from '../commands/config.ts';
import { CliError } from '../errors.ts';
import { type Io, printLine } from '../io.ts';
import { printableLines } from '../output/printable.ts';
import { writeOrExplain } from '../output/write-file.ts';
import { type CompletedInPlace, completeAlone, completeInPlace, LEFT_TO_A_RUN } from './complete.ts';
import { printDiagnostics } from './diagnostics.ts';
import { type ConfigSource, readConfigSource } from './source.ts';

/** `nereid config`. @returns 1 when the configuration has errors */
export async function runConfig(argument: string, options: ConfigOptions, io: Io): Promise<number> {
  if (options.write && !options.format) throw new CliError('usage', '--write goes with --format');
  const source = await readConfigSource(argument, io);
  return options.format ? runFormat(source, options, io) : runCheck(source, options, io);
}

async function runCheck(source: ConfigSource, options: ConfigOptions, io: Io): Promise<number> {
  const { config: parsed, diagnostics, locate } = parseModelConfig(source.text, { format: source.format });
  const completed = parsed && !options.parseOnly ? await complete(parsed, { source, locate }) : undefined;
  const config = completed?.config ?? parsed;
  const hasErrors = printDiagnostics([...diagnostics, ...(completed?.diagnostics ?? [])], source, io);
  if (completed?.problem !== undefined) printLine(io.stderr, printableLines(completed.problem));
  if (hasErrors || config === undefined || completed?.problem !== undefined) return 1;
  if (completed?.needsRun) printLine(io.stderr, `${source.label}: ${LEFT_TO_A_RUN}`);
  printLine(io.stdout, options.json ? modelConfigToJson(config) : modelConfigToText(config));
  return 0;
}

async function complete(
  config: ModelConfig,
  { source, locate }: { readonly source: ConfigSource; readonly locate: Locate },
): Promise<CompletedInPlace> {
  const { modelDirectory } = source;
  if (modelDirectory === undefined) return completeAlone(config, locate);
  return completeInPlace(config, { model: await scanModelDirectory(modelDirectory), locate });
}

async function runFormat(source: ConfigSource, { write }: ConfigOptions, io: Io): Promise<number> {
  const { path, label, text } = source;
  if (source.format === 'json') throw new CliError('usage', `--format is for text format, and '${label}' is JSON`);
  if (write && path === undefined) throw new CliError('usage', '--write needs a file, not standard input');
  const formatted = formatOrPrint(source, io);
  if (formatted === undefined) return 1;
  if (!write || path === undefined) {
    io.stdout.write(formatted);
    return 0;
  }
  if (formatted !== text) await writeOrExplain(path, formatted);
  printLine(io.stdout, formatted === text ? `${label} was laid out already` : `${label} rewritten`);
  return 0;
}

/** Undefined when the text has errors, which are printed then. */
function formatOrPrint(source: ConfigSource, io: Io): string | undefined {
  try {
    return format(source.text);
  } catch (thrown) {
    if (!(thrown instanceof PbtxtError)) throw thrown;
    printDiagnostics(thrown.diagnostics, source, io);
    return undefined;
  }
}
