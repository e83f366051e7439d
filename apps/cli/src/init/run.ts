/** `nereid init`: a model directory from a model file. */
import { constants } from 'node:fs';
import { copyFile, lstat, mkdir, realpath, rm, symlink } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { proposeByFile } from '@nereid/pytorch-backend';
import { nameAfterFile } from '@nereid/server';
import type { InitOptions } from '../commands/init.ts';
import { CliError } from '../errors.ts';
import { printOpen } from '../inspect/run.ts';
import { inspectServable } from '../inspect/servable.ts';
import { type ModelReport, writeConfig } from '../inspect/write-config.ts';
import { type Io, printLine } from '../io.ts';
import { writeFault, writeOrExplain } from '../output/write-file.ts';

/** @returns 1 when something is left to fill in */
export async function runInit(path: string, options: InitOptions, io: Io): Promise<number> {
  const report = await inspectServable(path, { model: options.model });
  const place = placeOf(report, options);
  if (!options.force) await refuseExisting(place, path);
  const model = report.kind === 'aoti' ? report.model : undefined;
  const proposal = await proposeByFile(path, { model, run: options.run });
  const { text, open } = writeConfig({ ...report, path: place.file }, proposal);
  await placeFile(path, { place, link: options.link ?? false });
  await writeOrExplain(place.config, text);
  printLine(io.stdout, `${shown(place.config)} written`);
  printLine(io.stdout, `${shown(place.file)} ${options.link ? 'linked' : 'copied'}`);
  if (printOpen(open, io)) return 1;
  printLine(io.stdout, `serve it: nereid serve --model-repository ${shown(options.output)}`);
  return 0;
}

interface Place {
  readonly directory: string;
  readonly config: string;
  /** Of the model. */
  readonly file: string;
}

function placeOf({ path, kind }: ModelReport, { name = nameAfterFile(path), output }: InitOptions): Place {
  if (!/^[^/\\\0]+$/.test(name) || /^\.+$/.test(name)) {
    throw new CliError('usage', `--name '${name}' cannot name a model: it names a directory`);
  }
  const directory = join(output, name);
  const file = join(directory, '1', kind === 'aoti' ? 'model.pt2' : 'model.pt');
  return { directory, config: join(directory, 'config.pbtxt'), file };
}

/** @throws {CliError} `unreadable` when one of the files to write is there; the model file itself may be where it belongs */
async function refuseExisting(place: Place, path: string): Promise<void> {
  const taken = [place.config, ...((await isSame(path, place.file)) ? [] : [place.file])];
  for (const file of taken) {
    if ((await lstat(file).catch(() => undefined)) === undefined) continue;
    throw new CliError('unreadable', `'${file}' is there already: --force overwrites it, --name makes another model`);
  }
}

async function placeFile(
  path: string,
  { place, link }: { readonly place: Place; readonly link: boolean },
): Promise<void> {
  try {
    await mkdir(join(place.directory, '1'), { recursive: true });
    if (await isSame(path, place.file)) return;
    await rm(place.file, { force: true });
    if (link) await symlink(await realpath(path), place.file);
    else await copyFile(path, place.file, constants.COPYFILE_FICLONE);
  } catch (error) {
    throw new CliError('unreadable', `cannot write '${place.file}': ${writeFault(error)}`, { cause: error });
  }
}

/** Whether both paths lead to one file, which must then be neither refused nor removed. */
async function isSame(path: string, other: string): Promise<boolean> {
  const [a, b] = await Promise.all([path, other].map((each) => realpath(each).catch(() => undefined)));
  return a !== undefined && a === b;
}

function shown(path: string): string {
  return relative('', path) || path;
}
