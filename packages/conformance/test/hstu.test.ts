import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type NereidProcess, startNereid } from '../src/nereid-process.ts';

const REPOSITORY = fileURLToPath(new URL('../../../examples/hstu/model_repository', import.meta.url));

interface Recommendation {
  readonly items: readonly number[];
  readonly scores: readonly number[];
  readonly best: readonly number[];
}

let directory = '';
let server: NereidProcess;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'nereid-hstu-'));
  const faulty = join(directory, 'faulty');
  await copyOf(join(faulty, 'no_tables'), (version) => rm(join(version, 'tables'), { recursive: true }));
  await copyOf(join(faulty, 'damaged'), (version) => writeFile(join(version, 'tables', 'items.npy'), 'no table'));
  server = await startNereid([REPOSITORY, faulty]);
}, 60_000);

afterAll(async () => {
  await server?.stop();
  await rm(directory, { recursive: true });
});

/** A model directory that is the example's with something changed in its version. */
async function copyOf(target: string, change: (version: string) => Promise<void> = async () => {}): Promise<void> {
  await cp(join(REPOSITORY, 'hstu'), target, { recursive: true });
  await change(join(target, '1'));
}

/** Gives item 44 the row of item 400, and the other way round. */
async function exchangeRows(file: string): Promise<void> {
  const bytes = await readFile(file);
  const rowBytes = 32 * Float32Array.BYTES_PER_ELEMENT;
  const data = bytes.length - 501 * rowBytes;
  const [a, b] = [44, 400].map((item) => bytes.subarray(data + item * rowBytes, data + (item + 1) * rowBytes));
  const kept = Buffer.from(a ?? []);
  a?.set(b ?? []);
  b?.set(kept);
  await writeFile(file, bytes);
}

async function recommend(url: string, rows: readonly (readonly number[])[], model = 'hstu'): Promise<Recommendation[]> {
  const inputs = [{ name: 'INPUT__0', datatype: 'INT64', shape: [rows.length, rows[0]?.length], data: rows.flat() }];
  const response = await fetch(`${url}/v2/models/${model}/infer`, { method: 'POST', body: JSON.stringify({ inputs }) });
  const answer = (await response.json()) as { outputs: { data: number[] }[]; error?: string };
  if (answer.error !== undefined) throw new Error(answer.error);
  const [scores = [], best = []] = answer.outputs.map((output) => output.data);
  return rows.map((items, i) => ({
    items,
    scores: scores.slice(i * 10, i * 10 + 10),
    best: best.slice(i * 10, i * 10 + 10),
  }));
}

function expectSame(actual: Recommendation | undefined, expected: Recommendation): void {
  expect(actual?.best).toEqual(expected.best);
  for (const [i, score] of expected.scores.entries()) expect(actual?.scores[i]).toBeCloseTo(score, 3);
}

describe('a package whose embeddings lie outside', () => {
  let expected: Recommendation[] = [];
  beforeAll(async () => {
    expected = JSON.parse(await readFile(join(REPOSITORY, 'hstu', 'expected.json'), 'utf8'));
  });

  test('answers as PyTorch does with the embeddings inside', async () => {
    expect(expected.length).toBeGreaterThan(2);
    for (const each of expected) expectSame((await recommend(server.url, [each.items]))[0], each);
  });

  test('passes over ids that are no items, so that histories of several lengths make one batch', async () => {
    const rows = expected.map(({ items }) => [
      ...items,
      ...Array.from({ length: 64 - items.length }, (_, i) => (i % 2) * 5000),
    ]);
    const answers = await recommend(server.url, rows);
    for (const [i, each] of expected.entries()) expectSame(answers[i], each);
  });

  test('answers one that has no items at all', async () => {
    expect((await recommend(server.url, [[0, 0, -1]]))[0]?.best).toHaveLength(10);
  });
});

interface IndexEntry {
  readonly name: string;
  readonly state: string;
  readonly reason?: string;
}

async function index(url: string): Promise<readonly IndexEntry[]> {
  return (await (await fetch(`${url}/v2/repository/index`, { method: 'POST' })).json()) as IndexEntry[];
}

describe('its set-up', () => {
  test.each([
    ['no tables', 'no_tables', /triton_pytorch_model_init threw: .*no_tables\/1\/tables/],
    ['a table that is damaged', 'damaged', /damaged\/1\/tables\/items\.npy" is no \.npy file of version 1/],
  ])('fails the load for %s', async (_, model, reason) => {
    const entry = (await index(server.url)).find(({ name }) => name === model);
    expect(entry).toMatchObject({ state: 'UNAVAILABLE', reason: expect.stringMatching(reason) });
  });

  test('without the table that the package asks for leaves a model that names it', async () => {
    const repository = join(directory, 'without');
    await copyOf(join(repository, 'hstu'), (version) => rm(join(version, 'tables', 'items.npy')));
    await using alone = await startNereid([repository]);
    await expect(recommend(alone.url, [[41, 42]])).rejects.toThrow("no table 'items' is loaded");
  }, 30_000);

  test('refuses two models whose tables differ under one name', async () => {
    const repository = join(directory, 'two');
    await copyOf(join(repository, 'as_trained'));
    await copyOf(join(repository, 'exchanged'), (version) => exchangeRows(join(version, 'tables', 'items.npy')));
    await using two = await startNereid([repository]);
    const models = await index(two.url);
    expect(models.map(({ state }) => state).sort()).toEqual(['READY', 'UNAVAILABLE']);
    const reasons = models.map(({ reason }) => reason).join('');
    expect(reasons).toMatch(/table 'items' of ".*" has the name of another model's: ".*"/);
  }, 30_000);
});

test('other rows are served by the same package', async () => {
  const repository = join(directory, 'exchanged');
  await copyOf(join(repository, 'hstu'), (version) => exchangeRows(join(version, 'tables', 'items.npy')));
  await using alone = await startNereid([repository]);
  const answers = await Promise.all([server, alone].map(({ url }) => recommend(url, [[41, 42, 43]])));
  expect(answers.map(([answer]) => answer?.best[0])).toEqual([44, 400]);
}, 30_000);
