/** A report on a file, for people. */
import type { DeclaredTensor } from '@nereid/model-archive';
import { formatBytes } from '../output/bytes.ts';
import { printable } from '../output/printable.ts';
import type { Paint } from '../output/style.ts';
import { renderTable } from '../output/table.ts';
import type { AotiReport, FileReport, TorchScriptReport } from './file-report.ts';
import { equalDims, formatDims } from './shape.ts';

/** Ends with a newline. */
export function fileText(report: FileReport, paint: Paint): string {
  const problems = report.problems.map((problem) => `${paint('red', 'problem:')} ${printable(problem)}\n`).join('');
  return `${paint('bold', printable(report.summary))}\n${problems}${body(report, paint)}`;
}

function body(report: FileReport, paint: Paint): string {
  if (report.kind === 'aoti') return aotiText(report, paint);
  if (report.kind === 'torchscript') return torchScriptText(report);
  return report.remedy === '' ? '' : `${paint('yellow', 'remedy:')} ${printable(report.remedy)}\n`;
}

function aotiText(report: AotiReport, paint: Paint): string {
  const { target, inputs = [], outputs = [], notes, models, model } = report;
  const others = models.filter((name) => name !== model);
  const facts = [
    ['Platform', report.platform],
    ['Size', formatBytes(report.byteSize)],
    ['Model', others.length === 0 ? model : `${model} (--model shows another: ${others.join(', ')})`],
    ['Device', target.device ?? ''],
    ['Machine', [target.platform, target.machine].filter((part) => part !== undefined).join(', ')],
    ['CPU ISA', isaText(report)],
    ['GPU compute', target.computeCapability ?? ''],
    ['Constants', report.constantCount === undefined ? '' : String(report.constantCount)],
    ['Contents', report.needsCompiler ? 'sources only: loading needs a C++ compiler on the server' : ''],
  ];
  const equal = equalDims([...inputs, ...outputs]).map((places) => `Of equal size: ${places}.`);
  return [
    renderTable(facts.filter(([, value]) => value !== '')),
    tensorsText('Inputs', inputs, paint),
    tensorsText('Outputs', outputs, paint),
    ...[...equal, ...notes].map((note) => `${paint('dim', 'note:')} ${printable(note)}\n`),
  ].join('');
}

function isaText({ target, cpuIsaSupported }: AotiReport): string {
  if (target.cpuIsa === undefined) return '';
  if (cpuIsaSupported === undefined) return target.cpuIsa;
  return `${target.cpuIsa} (this machine ${cpuIsaSupported ? 'has it' : 'does not have it'})`;
}

function tensorsText(title: string, tensors: readonly DeclaredTensor[], paint: Paint): string {
  if (tensors.length === 0) return '';
  const rows = tensors.map(({ ordinalName, forwardName = '', datatype, torchDtype, shape, device = '' }) => [
    ordinalName,
    forwardName,
    datatype ?? (torchDtype === undefined ? '?' : `torch.${torchDtype}`),
    shape === undefined ? '?' : formatDims(shape),
    device,
  ]);
  return `${title}\n${renderTable(rows, { head: ['Name', 'Forward name', 'Datatype', 'Shape', 'Device'], paint })}`;
}

function torchScriptText(report: TorchScriptReport): string {
  const facts = [
    ['Platform', report.platform],
    ['Size', formatBytes(report.byteSize)],
    ['Class', report.className],
    ['Forward', signatureText(report)],
    ['Training', report.training ? 'yes; the server switches it to evaluation' : ''],
    ['Methods', report.methods.filter((name) => name !== 'forward').join(', ')],
  ];
  return renderTable(facts.filter(([, value]) => value !== ''));
}

/** `forward(x: Tensor, scale: float = 1.5) -> Tensor`. */
export function signatureText({
  arguments: taken,
  returnType = '?',
}: Pick<TorchScriptReport, 'arguments' | 'returnType'>): string {
  if (taken === undefined) return 'not stated by the file';
  const list = taken.map(
    ({ name, type, default: value }) => `${name}: ${type}${value === undefined ? '' : ` = ${value}`}`,
  );
  return `forward(${list.join(', ')}) -> ${returnType}`;
}
