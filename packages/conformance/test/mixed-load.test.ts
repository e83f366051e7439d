/** Load on all models at once while one of them crashes again and again. `NEREID_MIXED_LOAD_SECONDS` makes it longer than three minutes. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { runClient } from '../src/client-checks.ts';
import type { NereidProcess } from '../src/nereid-process.ts';
import { childrenOf, growthPerMinute, type MemorySample, MemoryWatch, openDescriptors } from '../src/process-memory.ts';
import { CRASHING_REPOSITORY, LOOP_PROBE, startTwelveModels } from '../src/twelve-models.ts';

const SECONDS = Number(process.env.NEREID_MIXED_LOAD_SECONDS ?? 180);
/** Heap and allocator level off in the first half; what the second adds is growth. */
const WARM_SECONDS = SECONDS / 2;
/** Part of its size by which a process may grow in the second half and still count as level. */
const TOLERANCE = 0.03;
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
let memory: readonly { readonly pid: number; readonly samples: readonly MemorySample[] }[];
let descriptorsBefore: number;
let idleP99Ms: number;
const pidOf = ({ process: { pid } }: NereidProcess): number => pid ?? Number.NaN;

/** Loop delays since the last call, in milliseconds. */
async function loopDelays(): Promise<{ readonly medianMs: number; readonly p99Ms: number; readonly maxMs: number }> {
  const count = () => server.output().split('{"loop":').length;
  const before = count();
  server.process.kill('SIGUSR2');
  await vi.waitFor(() => expect(count()).toBeGreaterThan(before), { timeout: 10_000 });
  const line =
    server
      .output()
      .split('\n')
      .findLast((text) => text.startsWith('{"loop":')) ?? '';
  return JSON.parse(line).loop;
}

beforeAll(
  async () => {
    directory = mkdtempSync(join(tmpdir(), 'nereid-mixed-'));
    const args = ['--model-repository', CRASHING_REPOSITORY];
    server = await startTwelveModels(directory, { args, nodeArgs: ['--import', LOOP_PROBE] });
    await loopDelays();
    descriptorsBefore = openDescriptors(pidOf(server));
    const pids = [pidOf(server), ...childrenOf(pidOf(server), 'runtime.py')];
    const watches = pids.map((pid) => ({ pid, watch: new MemoryWatch(pid, 500) }));
    const idle = monitorEventLoopDelay({ resolution: 5 });
    idle.enable();
    report = JSON.parse(await runClient('mixed_load.py', [new URL(server.url).host, String(SECONDS)]));
    idleP99Ms = idle.percentile(99) / 1e6;
    memory = watches.map(({ pid, watch }) => ({ pid, samples: watch.stop() }));
  },
  (SECONDS + 180) * 1000,
);
afterAll(async () => {
  await server?.stop();
  rmSync(directory, { recursive: true });
});

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

  test('does not make the server or the process of a healthy model grow', () => {
    const level = memory.map(({ pid, samples }) => ({
      pid,
      samples: samples.filter(({ seconds }) => seconds > WARM_SECONDS),
    }));
    // The crashing model's first process has ended long before.
    const watched = level.filter(({ samples }) => samples.length > 0);
    expect(watched).toHaveLength(2);
    for (const { pid, samples } of watched) {
      const size = samples[0]?.residentMiB ?? Number.NaN;
      const growth = growthPerMinute(samples) * ((SECONDS - WARM_SECONDS) / 60);
      expect(growth, `growth of process ${pid} from ${size.toFixed(1)} MiB on`).toBeLessThan(TOLERANCE * size);
    }
  });

  test('leaves no descriptor behind', async () => {
    await expect.poll(() => openDescriptors(pidOf(server)), { timeout: 10_000 }).toBeLessThanOrEqual(descriptorsBefore);
  });

  test('keeps the event loop responsive', async () => {
    const { medianMs, p99Ms } = await loopDelays();
    expect(medianMs).toBeLessThan(LATE_MS / 10);
    expect(p99Ms).toBeLessThan(LATE_MS + 3 * idleP99Ms);
  });

  test('lets the server end in order', async () => {
    expect(await server.stop()).toBe(0);
  });
});
