/** `nereid check`: every problem of repositories and models. */
import { stat } from 'node:fs/promises';
import { basename, relative, resolve } from 'node:path';
import { fsFault, isVersion, listDirectory, type ModelEntry, ModelRepository, mapLimited } from '@nereid/repository';
import type { CheckOptions } from '../commands/check.ts';
import { CliError } from '../errors.ts';
import { type Io, printLine } from '../io.ts';
import { printableLines } from '../output/printable.ts';
import { type Paint, paintFor } from '../output/style.ts';
import { type CheckedModel, checkModel } from './check-model.ts';
import type { CheckProblem } from './problem.ts';

const MODELS_AT_ONCE = 4;

/** @returns 1 when one of the problems is an error */
export async function runCheck(paths: readonly string[], options: CheckOptions, io: Io): Promise<number> {
  for (const library of options.customOps) await assertThere(library, '--custom-ops');
  for (const path of paths) await assertThere(path, 'directory');
  const hasCustomOps = options.customOps.length > 0;
  const models = await mapLimited(await entriesOf(paths), {
    limit: MODELS_AT_ONCE,
    map: async (entry) => checkEntry(entry, hasCustomOps),
  });
  const problems = models.flatMap((model) => model.problems);
  const errors = problems.filter(({ severity }) => severity === 'error').length;
  const summary = { models: models.length, errors, warnings: problems.length - errors };
  const report = { paths, ...summary, problems, checked: models.map(({ problems: _, ...model }) => model) };
  if (options.json) printLine(io.stdout, JSON.stringify(report, null, 2));
  else io.stdout.write(reportText(models, { ...summary, paint: paintFor(io.stdout, io) }));
  return errors > 0 ? 1 : 0;
}

async function assertThere(path: string, what: string): Promise<void> {
  const info = await stat(path).catch((error: unknown) => {
    throw new CliError('unreadable', `cannot read '${path}': ${fsFault(error)}`, { cause: error });
  });
  if (what !== 'directory' || info.isDirectory()) return;
  throw new CliError('usage', `'${path}' is a file: nereid inspect tells about a model file, check takes a directory`);
}

/** A model directory by itself, or what a repository holds. */
type Entry = ModelEntry | { readonly kind: 'directory'; readonly path: string };

/** The model directories themselves, and every model of the repositories, which a server would take together. */
async function entriesOf(paths: readonly string[]): Promise<readonly Entry[]> {
  const repositories: string[] = [];
  const models: Entry[] = [];
  for (const path of paths) {
    if (await isModelDirectory(path)) models.push({ kind: 'directory', path });
    else repositories.push(path);
  }
  if (repositories.length === 0) return models;
  const found = await new ModelRepository({ paths: repositories }).scan();
  if (found.length > 0) return [...models, ...found];
  throw new CliError('not-inspectable', repositories.map(emptyText).join('; '));
}

async function isModelDirectory(path: string): Promise<boolean> {
  const entries = await listDirectory(path);
  return entries.some(({ name, kind }) => name === 'config.pbtxt' || (kind === 'directory' && isVersion(name)));
}

function emptyText(path: string): string {
  return isVersion(basename(resolve(path)))
    ? `'${path}' is a version directory; check the model directory '${resolve(path, '..')}'`
    : `'${path}' holds no models: a repository has a directory for each model, and that one for each version`;
}

function checkEntry(entry: Entry, hasCustomOps: boolean): Promise<CheckedModel> | CheckedModel {
  if (entry.kind === 'directory') return checkModel(entry.path, { hasCustomOps });
  if (entry.kind === 'model') return checkModel(entry.directory, { hasCustomOps });
  const { name, directories, message } = entry;
  return {
    name,
    directory: directories[0] ?? '',
    versions: [],
    problems: [{ severity: 'error', model: name, message }],
  };
}

interface Shown {
  readonly models: number;
  readonly errors: number;
  readonly warnings: number;
  readonly paint: Paint;
}

function reportText(models: readonly CheckedModel[], { errors, warnings, paint }: Shown): string {
  const lines = models.flatMap(({ name, versions, problems }) => {
    const isGood = !problems.some(({ severity }) => severity === 'error');
    const verdict = isGood ? paint('green', 'ok') : paint('red', 'problems');
    const of =
      versions.length === 0 ? '' : ` (${versions.length === 1 ? 'version' : 'versions'} ${versions.join(', ')})`;
    return [
      `${paint('bold', printableLines(name))}${of}: ${verdict}`,
      ...problems.map((problem) => problemText(problem, paint)),
    ];
  });
  const total = `${count(models.length, 'model')}, ${count(errors, 'error')}, ${count(warnings, 'warning')}`;
  return `${lines.join('\n')}\n${total}\n`;
}

function problemText({ severity, version, file, line, column, message }: CheckProblem, paint: Paint): string {
  const places = [
    ...(file === undefined
      ? []
      : [[relative('', file) || file, line, column].filter((part) => part !== undefined).join(':')]),
    ...(version === undefined ? [] : [`version ${version}`]),
  ];
  const head = severity === 'error' ? paint('red', 'error:') : paint('yellow', 'warning:');
  const text = [...places, ''].join(': ') + message;
  return `  ${head} ${printableLines(text).replaceAll('\n', '\n    ')}`;
}

function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`;
}
