/** Every changeset can be read, and names packages that exist. */
import { readdirSync, readFileSync } from 'node:fs';
import parseChangeset from '@changesets/parse';
import { inRoot } from './setup/paths.mjs';

const folder = inRoot('.changeset');
const parse = parseChangeset.default ?? parseChangeset;

const names = new Set(
  ['packages', 'apps', '.'].flatMap((parent) =>
    readdirSync(inRoot(parent), { withFileTypes: true }).flatMap((entry) => nameOf(inRoot(parent, entry.name))),
  ),
);

function nameOf(directory) {
  try {
    return [JSON.parse(readFileSync(`${directory}/package.json`, 'utf8')).name];
  } catch {
    return [];
  }
}

function faultOf(file) {
  try {
    const { releases, summary } = parse(readFileSync(`${folder}/${file}`, 'utf8'));
    if (releases.length === 0) return 'names no package';
    if (summary === '') return 'says nothing';
    const stranger = releases.find(({ name }) => !names.has(name));
    return stranger && `names '${stranger.name}', which is no package of this repository`;
  } catch (error) {
    return error.message.split('\n')[0];
  }
}

const files = readdirSync(folder).filter((file) => file.endsWith('.md') && file !== 'README.md');
const faults = files.flatMap((file) => {
  const fault = faultOf(file);
  return fault === undefined ? [] : [`.changeset/${file}: ${fault}`];
});
for (const fault of faults) console.error(fault);
process.exitCode = faults.length === 0 ? 0 : 1;
