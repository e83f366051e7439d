// CPU time per request of this front end over a bare node:http handler that answers the same bytes, with an engine that does nothing.
// usage: node bench/overhead.mjs [ROUNDS] [SECONDS]     (after a build)
// Each round runs all servers one after another at 16 and 64 connections; the table shows the median round and the spread of the ratio to the bare handler in the same round.
import { fork } from 'node:child_process';
import { connect } from 'node:net';
import { REQUEST } from './payload.mjs';

const KINDS = ['bare', 'factory', 'router'];
const CONNECTIONS = [1, 16, 64];
const rounds = Number(process.argv[2] ?? 15);
const seconds = Number(process.argv[3] ?? 0.4);

/** Enough for the compiler to be done. */
const WARM_UP_SECONDS = 5;

/** Sends requests one after another on each of `count` connections for a while; how many were answered. */
async function load(port, count, duration = seconds) {
  let answered = 0;
  let isOver = false;
  const run = () =>
    new Promise((resolve, reject) => {
      const socket = connect(port, '127.0.0.1', () => socket.write(REQUEST));
      let expected = 0;
      let received = 0;
      socket.setNoDelay(true);
      socket.on('error', reject);
      socket.on('data', (piece) => {
        // The length of one answer is learnt from the first; all are equal but for the date, whose length is fixed.
        if (expected === 0) expected = lengthOf(piece);
        received += piece.length;
        if (received < expected) return;
        received -= expected;
        answered++;
        if (isOver) socket.end(resolve);
        else socket.write(REQUEST);
      });
    });
  const connections = Array.from({ length: count }, run);
  setTimeout(() => {
    isOver = true;
  }, duration * 1000);
  await Promise.all(connections);
  return answered;
}

function lengthOf(piece) {
  const text = piece.toString('latin1');
  if (!text.startsWith('HTTP/1.1 200')) throw new Error(text);
  return (
    text.indexOf('\r\n\r\n') +
    4 +
    Number(/content-length: (\d+)/i.exec(text.replace(/inference-header-content-length/i, ''))[1])
  );
}

const ask = (child) =>
  new Promise((resolve) => {
    child.once('message', resolve);
    child.send('cpu');
  });

const servers = await Promise.all(
  KINDS.map(async (kind) => {
    const child = fork(new URL('./server.mjs', import.meta.url), [kind], { execArgv: process.execArgv });
    const { port } = await new Promise((resolve) => child.once('message', resolve));
    await load(port, 16, WARM_UP_SECONDS);
    return { kind, child, port };
  }),
);

const rows = [];
for (const connections of CONNECTIONS) {
  const measured = new Map(KINDS.map((kind) => [kind, []]));
  for (let round = 0; round < rounds; round++) {
    for (const { kind, child, port } of servers) {
      const before = await ask(child);
      const start = performance.now();
      const requests = await load(port, connections);
      const after = await ask(child);
      const elapsed = (performance.now() - start) / 1000;
      measured
        .get(kind)
        .push({ micros: (after.cpuMicros - before.cpuMicros) / requests, perSecond: requests / elapsed });
    }
  }
  const bare = measured.get('bare');
  for (const [kind, samples] of measured) {
    const ratios = samples.map((sample, round) => sample.micros / bare[round].micros).sort((a, b) => a - b);
    const micros = samples.map((sample) => sample.micros).sort((a, b) => a - b);
    const perSecond = samples.map((sample) => sample.perSecond).sort((a, b) => a - b);
    const middle = Math.floor(rounds / 2);
    rows.push({
      connections,
      server: kind,
      'requests/s': Math.round(perSecond[middle]),
      'CPU µs/request': Number(micros[middle].toFixed(1)),
      'CPU ratio to bare': Number(ratios[middle].toFixed(3)),
      spread: `${ratios[0].toFixed(2)}–${ratios.at(-1).toFixed(2)}`,
    });
  }
}
console.table(rows);
for (const { child } of servers) child.disconnect();
