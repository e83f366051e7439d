/** `nereid doctor`. */
import type { DoctorOptions } from '../commands/doctor.ts';
import { type Io, printLine } from '../io.ts';
import { printable } from '../output/printable.ts';
import { type Format, type Paint, paintFor } from '../output/style.ts';
import type { Finding } from './finding.ts';
import { checkAddon, checkLibtorch } from './libtorch.ts';
import { checkCores, checkNode, checkProcessor } from './machine.ts';
import { checkPython } from './python.ts';

/** @returns 1 when something keeps models from being served */
export async function runDoctor({ json, libtorch }: DoctorOptions, io: Io): Promise<number> {
  const { env } = io;
  const findings = [
    checkNode({ node: process.versions.node, napi: process.versions.napi ?? '0' }),
    ...checkLibtorch({ directory: libtorch, env }),
    await checkAddon(),
    await checkProcessor(),
    checkCores(),
    await checkPython({ env, cwd: process.cwd() }),
  ];
  const problems = findings.filter(({ state }) => state === 'problem').length;
  if (json) printLine(io.stdout, JSON.stringify({ ok: problems === 0, findings }, null, 2));
  else io.stdout.write(reportText(findings, paintFor(io.stdout, io)));
  return problems > 0 ? 1 : 0;
}

const COLORS: Readonly<Record<Finding['state'], Format>> = { ok: 'green', note: 'yellow', problem: 'red' };

function reportText(findings: readonly Finding[], paint: Paint): string {
  const width = Math.max(...findings.map(({ name }) => name.length));
  return findings.map((finding) => findingText(finding, { width, paint })).join('');
}

function findingText(
  { name, state, found, details = [], remedy }: Finding,
  { width, paint }: { readonly width: number; readonly paint: Paint },
): string {
  const head = `${paint(COLORS[state], state.padEnd('problem'.length))}  ${name.padEnd(width)}  ${printable(found)}`;
  const indent = ' '.repeat('problem'.length + width + 4);
  const rest = [
    ...details.map(printable),
    ...(remedy === undefined ? [] : [`${paint('bold', 'to do:')} ${printable(remedy)}`]),
  ];
  return [head, ...rest.map((line) => `${indent}${line}`), ''].join('\n');
}
