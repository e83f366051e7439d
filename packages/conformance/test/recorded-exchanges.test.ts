import { fileURLToPath } from 'node:url';
import { testModel } from '@nereid/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { DIFFERENCES } from '../src/known-differences.ts';
import { type NereidProcess, startNereid } from '../src/nereid-process.ts';
import { type Answer, differences, type Exchange, readExchanges, replay } from '../src/recording.ts';

const exchanges = readExchanges(fileURLToPath(new URL('../golden/http.jsonl', import.meta.url)));

/** Statistics and configuration may say more than the original's; everything else says exactly as much. */
const mayHaveMore = (exchange: Exchange) => () => /\/(stats|config)$/.test(exchange.path);

let server: NereidProcess;
beforeAll(async () => {
  server = await startNereid([testModel('golden_repository')]);
}, 60_000);
afterAll(() => server?.stop());

/** Lines that say how the answer differs from the recorded one, the known differences of this exchange left out. */
function unexpected(exchange: Exchange, actual: Answer): string[] {
  const known = DIFFERENCES.find(({ name }) => name === exchange.name);
  const { status, headers, json, text, binary } = exchange.answer;
  const found: string[] = [];
  if (actual.status !== (known?.status ?? status))
    found.push(`status: expected ${known?.status ?? status}, got ${actual.status}`);
  if (status < 400 && actual.headers['content-type'] !== headers['content-type']) {
    found.push(`content-type: expected ${headers['content-type']}, got ${actual.headers['content-type']}`);
  }
  for (const name of ['content-encoding', 'inference-header-content-length']) {
    if (status < 400 && name in headers !== name in actual.headers)
      found.push(`${name}: expected ${headers[name]}, got ${actual.headers[name]}`);
  }
  if (json !== undefined)
    found.push(
      ...differences(json, actual.json, mayHaveMore(exchange)).filter(
        (line) => !known?.paths?.some((path) => line.startsWith(path)),
      ),
    );
  else if (status < 400 && text !== actual.text)
    found.push(`text: expected ${JSON.stringify(text)}, got ${JSON.stringify(actual.text)}`);
  if (binary !== actual.binary) found.push(`binary: expected ${binary}, got ${actual.binary}`);
  return found;
}

describe('answers as the original did', () => {
  // One after another, in the recorded order: statistics count what came before.
  test.each(exchanges.map((exchange) => [exchange.name, exchange] as const))('%s', async (_, exchange) => {
    const actual = await replay(server.url, exchange);
    expect(unexpected(exchange, actual), JSON.stringify(actual)).toEqual([]);
  });
});

describe('the list of differences', () => {
  test('names only exchanges that exist', () => {
    const names = new Set(exchanges.map(({ name }) => name));
    expect(DIFFERENCES.filter(({ name }) => !names.has(name))).toEqual([]);
  });
});

test('every recorded exchange is replayed', () => {
  expect(exchanges).toHaveLength(235);
});
