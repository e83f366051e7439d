/**
 * Holds the pages that map cases to tests (`docs/qa-*.md`) against the tests. A test is named as `package/file` › `title`: the file is
 * test/<file>.test.ts of the package (or src/<file>.ts for rules that several packages run, or test/<file>.cc), the title that of a test, a
 * describe, or a row of a table in it. A row without a test says why: "needs a GPU", "needs a download" or "not served".
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { inRoot } from './setup/paths.mjs';

const REFERENCE = /`([\w/-]+)` › `([^`]+)`/g;
const WITHOUT = /needs a GPU|needs a download|not served/;

const isFolder = (folder) => existsSync(inRoot(folder, 'package.json'));

/** Paths of the files that `pytorch-backend/torchscript` may stand for, of those that exist. */
function filesOf(reference) {
  const [name, ...rest] = reference.split('/');
  const folder = [`packages/${name}`, `apps/${name}`, name].find(isFolder);
  const file = rest.join('/');
  return [`test/${file}.test.ts`, `src/${file}.ts`, `test/${file}.cc`]
    .map((path) => `${folder}/${path}`)
    .filter((path) => existsSync(inRoot(path)));
}

/** Whether the text of a test file holds the title as a string, or as the name of a C++ test. */
function holdsTitle(file, title) {
  const text = readFileSync(inRoot(file), 'utf8');
  if (file.endsWith('.cc')) return text.includes(`TEST(${title})`);
  const inSingleQuotes = title.replaceAll("'", "\\'");
  return [`'${inSingleQuotes}'`, `"${title}"`, `\`${title}\``].some((literal) => text.includes(literal));
}

function faultsOfRow(row) {
  const references = [...row.matchAll(REFERENCE)];
  if (references.length === 0 && !WITHOUT.test(row)) return ['names no test, and no reason why there is none'];
  return references.flatMap(([, reference, title]) => {
    const files = filesOf(reference);
    if (files.length === 0) return [`there is no test file '${reference}'`];
    return files.some((file) => holdsTitle(file, title)) ? [] : [`'${files.join("', '")}' has no test '${title}'`];
  });
}

const pages = readdirSync(inRoot('docs')).filter((name) => /^qa-.*\.md$/.test(name));
let faults = 0;
for (const page of pages) {
  const lines = readFileSync(inRoot('docs', page), 'utf8').split('\n');
  for (const [index, line] of lines.entries()) {
    const isHead = /^\|\s*-/.test(lines[index + 1] ?? '') || /^\|\s*-/.test(line);
    if (!line.startsWith('|') || isHead) continue;
    for (const fault of faultsOfRow(line)) {
      console.error(`docs/${page}:${index + 1}: ${fault}`);
      faults += 1;
    }
  }
}
console.log(`${pages.length} pages of test tables, ${faults} faults`);
process.exitCode = faults === 0 ? 0 : 1;
