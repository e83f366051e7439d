import { fileURLToPath } from 'node:url';
import { testModel } from '@nereid/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type GrpcExchange, GrpcReplayer, readGrpcExchanges } from '../src/grpc-recording.ts';
import { GRPC_DIFFERENCES } from '../src/known-differences.ts';
import { type NereidProcess, startNereid } from '../src/nereid-process.ts';
import { differences } from '../src/recording.ts';

const exchanges = readGrpcExchanges(fileURLToPath(new URL('../golden/grpc.jsonl', import.meta.url)));

/** Statistics and configuration may say more than the original's; everything else says exactly as much. */
const mayHaveMore = (exchange: GrpcExchange) => () => /^Model(Statistics|Config)$/.test(exchange.rpc);

let server: NereidProcess;
let replayer: GrpcReplayer;
beforeAll(async () => {
  server = await startNereid([testModel('golden_repository')]);
  replayer = new GrpcReplayer(server.grpcPlace);
}, 60_000);
afterAll(async () => {
  replayer?.[Symbol.dispose]();
  await server?.stop();
});

describe('answers over gRPC as the original did', () => {
  // One after another, in the recorded order: sequences and statistics remember what came before.
  test.each(exchanges.map((exchange) => [exchange.name, exchange] as const))('%s', async (_, exchange) => {
    const known = GRPC_DIFFERENCES.find(({ name }) => name === exchange.name);
    const actual = await replayer.send(exchange);
    const expected = { ...exchange.answer, ...(known?.code !== undefined && { code: known.code }) };
    expect(actual.code, JSON.stringify(actual)).toBe(expected.code);
    if (known?.code !== undefined) return;
    const found = differences(expected, actual, mayHaveMore(exchange)).filter(
      (line) => !known?.paths?.some((path) => line.startsWith(path)),
    );
    expect(found, JSON.stringify(actual)).toEqual([]);
  });
});

test('the list of differences names only calls that exist', () => {
  const names = new Set(exchanges.map(({ name }) => name));
  expect(GRPC_DIFFERENCES.filter(({ name }) => !names.has(name))).toEqual([]);
});
