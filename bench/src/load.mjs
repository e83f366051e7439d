/**
 * Closed-loop load on one server: N keep-alive connections, each sends its next request when the answer to the last is whole. Raw sockets and prepared bytes, so
 * that the generator costs the shared cores as little as it can.
 *
 * usage: node load.mjs URL CONNECTIONS SECONDS      prints one JSON line: requests, seconds, latencies in microseconds, failures
 */
import { connect } from 'node:net';
import { requestBytes } from './workload.mjs';

const [url, connections, seconds] = [process.argv[2], Number(process.argv[3]), Number(process.argv[4])];
const { hostname, port } = new URL(url);
const request = requestBytes(`${hostname}:${port}`);
const LENGTH = /content-length: *(\d+)/i;

const latencies = [];
let failures = 0;
let running = true;

/** One connection: counts an answer when as many bytes have come as its head announces. */
function drive() {
  const socket = connect({ host: hostname, port: Number(port), noDelay: true });
  let sent = 0;
  let missing = 0;
  const send = () => {
    sent = performance.now();
    socket.write(request);
  };
  socket.on('connect', send);
  socket.on('data', (chunk) => {
    if (missing === 0) {
      const end = chunk.indexOf('\r\n\r\n');
      const head = chunk.latin1Slice(0, end);
      if (!head.startsWith('HTTP/1.1 200')) failures += 1;
      missing = end + 4 + Number(LENGTH.exec(head)?.[1] ?? 0);
    }
    missing -= chunk.byteLength;
    if (missing > 0) return;
    missing = 0;
    latencies.push((performance.now() - sent) * 1000);
    if (running) send();
    else socket.end();
  });
  socket.on('error', () => {
    failures += 1;
  });
}

const start = performance.now();
for (let i = 0; i < connections; i++) drive();
setTimeout(() => {
  running = false;
  const elapsed = (performance.now() - start) / 1000;
  latencies.sort((a, b) => a - b);
  const at = (quantile) =>
    Math.round(latencies[Math.min(latencies.length - 1, Math.floor(latencies.length * quantile))]);
  console.log(
    JSON.stringify({
      requestsPerSecond: Math.round(latencies.length / elapsed),
      p50: at(0.5),
      p99: at(0.99),
      failures,
    }),
  );
  process.exit(0);
}, seconds * 1000);
