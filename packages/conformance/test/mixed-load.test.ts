/** Load on all models at once while one of them crashes again and again. `NEREID_MIXED_LOAD_SECONDS` makes it longer than three minutes. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { runClient } from '../src/client-checks.ts';
import type { NereidProcess } from '../src/nereid-process.ts';
import { childrenOf, growthPerSecond, type MemorySample, MemoryWatch, openDescriptors } from '../src/process-memory.ts';
import { PROBE_ARGS, type ProbeLine, ServerProbe } from '../src/server-probe.ts';
import { CRASHING_REPOSITORY, startTwelveModels } from '../src/twelve-models.ts';

const SECONDS = Number(process.env.NEREID_MIXED_LOAD_SECONDS ?? 180);
/** Part of itself by which what is measured may grow in the second half and still count as level; caches and allocators fill up in the first. */
const TOLERANCE = 0.05;
const EVERY_MS = 2000;
/** What a run of a model on the event loop would exceed at once, beyond what this machine makes processes wait. */
const LATE_MS = 100;

/** What `mixed_load.py` prints. */
interface LoadReport {
  readonly answered: Readonly<Record<string, number>>;
  readonly failed: number;
  readonly failures: readonly string[];
  readonly slowestMs: number;
  readonly crashes: Readonly<Record<string, readonly (string | null)[]>>;
  readonly refusals: readonly string[];
}

let directory: string;
let server: NereidProcess;
let report: LoadReport;
let probed: readonly ProbeLine[];
let python: readonly (readonly MemorySample[])[];
let descriptorsBefore: number;
let idleP99Ms: number;
const pidOf = ({ process: { pid } }: NereidProcess): number => pid ?? Number.NaN;

beforeAll(
  async () => {
    directory = mkdtempSync(join(tmpdir(), 'nereid-mixed-'));
    const args = ['--model-repository', CRASHING_REPOSITORY];
    server = await startTwelveModels(directory, { args, nodeArgs: PROBE_ARGS });
    descriptorsBefore = openDescriptors(pidOf(server));
    const watches = childrenOf(pidOf(server), 'runtime.py').map((pid) => new MemoryWatch(pid, EVERY_MS));
    const probe = new ServerProbe(server, EVERY_MS);
    const idle = monitorEventLoopDelay({ resolution: 5 });
    idle.enable();
    const places = [new URL(server.url).host, server.grpcPlace];
    report = JSON.parse(await runClient('mixed_load.py', [...places, String(SECONDS)]));
    idleP99Ms = idle.percentile(99) / 1e6;
    probed = probe.stop();
    python = watches.map((watch) => watch.stop());
  },
  (SECONDS + 180) * 1000,
);
afterAll(async () => {
  await server?.stop();
  rmSync(directory, { recursive: true });
});

/** Growth over the second half of the samples, as a part of what there was when it began. */
function growth(samples: readonly { readonly seconds: number; readonly value: number }[]): number {
  const half = samples.slice(samples.length / 2);
  const [first, last] = [half[0], half.at(-1)];
  if (first === undefined || last === undefined) return Number.NaN;
  return (growthPerSecond(half) * (last.seconds - first.seconds)) / first.value;
}

const middle = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;

describe('mixed load with a crashing model beside it', () => {
  test('fails no request on the other models', () => {
    expect(report.failures).toEqual([]);
    expect(report.failed).toBe(0);
    expect(Object.keys(report.answered)).toHaveLength(13);
    for (const [model, count] of Object.entries(report.answered)) {
      if (model !== 'crashing') expect(count, model).toBeGreaterThan(SECONDS);
    }
  });

  test('tells the clients of the crashing model how it ended, with the traceback', () => {
    const { crashes } = report;
    const expected = {
      raise: /ValueError: told to raise\n {2}at model\.py:\d+, in forward/,
      leave: /ended with exit code 7; its last lines:\n {2}about to leave/,
      'fall over':
        /ended by signal SIGSEGV; its last lines:\n {2}Fatal Python error[\s\S]*model\.py", line \d+ in fall_over/,
    };
    for (const [how, message] of Object.entries(expected)) {
      expect(crashes[how]?.length, how).toBeGreaterThan(0);
      for (const said of crashes[how] ?? []) expect(said).toMatch(message);
    }
  });

  test('starts the crashing model again each time, later and later, and says so meanwhile', () => {
    const delays = [...server.output().matchAll(/it is started again in ([\d.]+) s model=crashing/g)].map(([, s]) =>
      Number(s),
    );
    expect(delays).toHaveLength((report.crashes.leave?.length ?? 0) + (report.crashes['fall over']?.length ?? 0));
    const rising = delays.slice(0, 7);
    expect(rising).toEqual(rising.toSorted((a, b) => a - b));
    expect(rising.at(-1)).toBeGreaterThan(2 * (rising[0] ?? 0));
    for (const refusal of report.refusals) expect(refusal).toMatch(/(exit code 7|SIGSEGV); it is started again/);
  });

  test.each(['usedMiB', 'residentMiB'] as const)('does not make the server grow: %s', (measure) => {
    expect(growth(probed.map((line) => ({ seconds: line.seconds, value: line[measure] })))).toBeLessThan(TOLERANCE);
  });

  test('neither ends nor makes grow the Python process of a healthy model', () => {
    const longest = python.toSorted((a, b) => b.length - a.length)[0] ?? [];
    expect(longest.at(-1)?.seconds).toBeGreaterThan(SECONDS - 10);
    expect(growth(longest.map(({ seconds, residentMiB }) => ({ seconds, value: residentMiB })))).toBeLessThan(
      TOLERANCE,
    );
  });

  test('leaves no descriptor behind', async () => {
    await expect.poll(() => openDescriptors(pidOf(server)), { timeout: 10_000 }).toBeLessThanOrEqual(descriptorsBefore);
  });

  test('keeps the event loop responsive', () => {
    expect(middle(probed.map(({ medianMs }) => medianMs))).toBeLessThan(LATE_MS / 10);
    expect(middle(probed.map(({ p99Ms }) => p99Ms))).toBeLessThan(LATE_MS + 3 * idleP99Ms);
  });

  test('lets the server end in order', async () => {
    expect(await server.stop()).toBe(0);
  });
});
