/**
 * Puts a repository together in which each kind of model stands once, and serves it.
 *
 * usage: node packages/conformance/scripts/twelve-models.mjs [DIRECTORY] [OPTIONS of `nereid serve`]
 *
 * The repository is made in DIRECTORY, which must be new or empty, by default anew in `.cache/twelve-models`: configurations from `repositories/twelve`, model
 * files as `scripts/export_models.py` writes them, libraries compiled here.
 */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { findLibtorch } from '@nereid/native/find-libtorch';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const REPOSITORIES = fileURLToPath(new URL('../repositories', import.meta.url));
const NEREID = join(ROOT, 'apps', 'cli', 'bin', 'nereid.js');
const EXPORTED = join(ROOT, '.cache', 'models');

/** File or version directory of each model, below the exported ones. */
const FILES = {
  torchscript_names: 'backend_torchscript/addsub.pt',
  torchscript_dictionary: 'native_torchscript/keyed.pt',
  torchscript_strings: 'backend_torchscript/shouted.pt',
  torchscript_optional: 'backend_torchscript/masked.pt',
  torchscript_list: 'native_torchscript/tensors.pt',
  aoti_ordinal: 'archive_nested/model.pt2',
  aoti_forward_names: 'archive_nested/model.pt2',
  aoti_batching: 'native_aoti/mlp.pt2',
  aoti_without_config: 'backend_aoti/add.pt2',
  python_weights: 'python_runtime/neuralnet/1',
  custom_operators: 'backend_torchscript/unknown_operator.pt',
  init_library: 'identity/model.pt',
};

function assemble(directory) {
  cpSync(join(REPOSITORIES, 'twelve'), directory, { recursive: true });
  for (const [name, file] of Object.entries(FILES)) {
    const version = join(directory, name, '1');
    const target = file.includes('.') ? join(version, `model.${file.split('.').at(-1)}`) : version;
    cpSync(join(EXPORTED, file), target, { recursive: true });
  }
  cpSync(compiled('plus_one', torchFlags()), join(directory, 'custom_operators', 'plus_one.so'));
  cpSync(compiled('set_up', []), join(directory, 'init_library', 'set_up.so'));
  const row = Float32Array.from({ length: 64 }, (_, i) => i / 64);
  mkdirSync(join(directory, 'aoti_batching', 'warmup'));
  writeFileSync(join(directory, 'aoti_batching', 'warmup', 'row'), row);
}

/** Nothing that somebody named is deleted. */
function emptyDirectory(path) {
  if (existsSync(path) && readdirSync(path).length > 0) throw new Error(`'${path}' is not empty; name a new directory`);
  return resolve(path);
}

function freshDirectory() {
  const directory = join(ROOT, '.cache', 'twelve-models');
  rmSync(directory, { recursive: true, force: true });
  return directory;
}

function exportModels() {
  const names = [...new Set(Object.values(FILES).map((file) => file.split('/')[0]))];
  run('python3', [join(ROOT, 'scripts', 'export_models.py'), ...names]);
}

/** The library of `repositories/libraries/<name>.cc`, once per content and compiler call. */
function compiled(name, flags) {
  const source = join(REPOSITORIES, 'libraries', `${name}.cc`);
  const args = ['-std=c++20', '-O2', '-shared', '-fPIC', source, ...flags];
  const hash = createHash('sha256').update(readFileSync(source)).update(args.join('\0')).digest('hex').slice(0, 16);
  const library = join(ROOT, '.cache', 'libraries', `${name}-${hash}.so`);
  if (existsSync(library)) return library;
  mkdirSync(dirname(library), { recursive: true });
  const mine = `${library}.${process.pid}`;
  run(process.env.CXX ?? 'c++', [...args, '-o', mine]);
  renameSync(mine, library);
  return library;
}

function torchFlags() {
  const { found } = findLibtorch({ cwd: ROOT });
  if (found === undefined)
    throw new Error('LibTorch was not found; `nereid doctor` says where was looked, `npm run setup` installs it');
  const headers = ['include', 'include/torch/csrc/api/include'].map((name) => `-isystem${join(found.directory, name)}`);
  return [...headers, `-L${join(found.directory, 'lib')}`, '-ltorch_cpu'];
}

function run(command, args) {
  const { status, error } = spawnSync(command, args, { cwd: ROOT, stdio: ['ignore', 'inherit', 'inherit'] });
  if (status !== 0) throw new Error(`${command} ${args.join(' ')} ${error ? error.message : `ended with ${status}`}`);
}

const given = process.argv.slice(2);
const hasDirectory = given[0] !== undefined && !given[0].startsWith('-');
const directory = hasDirectory ? emptyDirectory(given[0]) : freshDirectory();
exportModels();
assemble(directory);
// The command takes the place of this script: signals reach it, and its exit code is that of the process.
process.argv.splice(
  1,
  Number.POSITIVE_INFINITY,
  NEREID,
  'serve',
  '--model-repository',
  directory,
  ...given.slice(hasDirectory ? 1 : 0),
);
await import(NEREID);
