/**
 * Closed-loop load over gRPC: connections times calls at a time, each sends its next call (or, on a stream, its next message) when the answer to the last
 * is there. `node:http2` and prepared bytes, so that the generator costs the shared cores as little as it can.
 *
 * usage: node grpc-load.mjs URL CONNECTIONS CALLS SECONDS [stream]     prints one JSON line as load.mjs does
 */
import { connect } from 'node:http2';
import { grpcMessage, grpcPath } from './workload.mjs';

const [url, connections, calls, seconds, kind] = process.argv.slice(2);
const message = grpcMessage();
const latencies = [];
let failures = 0;
let running = true;

const head = (path) => ({ ':method': 'POST', ':path': path, 'content-type': 'application/grpc', te: 'trailers' });

function unary(session) {
  const sent = performance.now();
  const stream = session.request(head(grpcPath('ModelInfer')));
  let isAnswered = false;
  stream.on('data', () => {
    isAnswered = true;
  });
  stream.on('trailers', (trailers) => {
    if (trailers['grpc-status'] !== '0') failures += 1;
  });
  stream.on('error', () => {});
  stream.on('end', () => {
    if (!isAnswered) failures += 1;
    latencies.push((performance.now() - sent) * 1000);
    if (running) unary(session);
  });
  stream.end(message);
}

/** One message at a time; an answer is small enough to come in one piece. */
function streaming(session) {
  const stream = session.request(head(grpcPath('ModelStreamInfer')));
  let sent = performance.now();
  stream.on('error', () => {});
  stream.on('data', () => {
    latencies.push((performance.now() - sent) * 1000);
    if (!running) return;
    sent = performance.now();
    stream.write(message);
  });
  stream.write(message);
}

const start = performance.now();
for (let i = 0; i < Number(connections); i++) {
  const session = connect(url);
  session.on('error', () => {
    failures += 1;
  });
  for (let call = 0; call < Number(calls); call++) (kind === 'stream' ? streaming : unary)(session);
}
setTimeout(() => {
  running = false;
  const elapsed = (performance.now() - start) / 1000;
  latencies.sort((a, b) => a - b);
  const at = (quantile) =>
    Math.round(latencies[Math.min(latencies.length - 1, Math.floor(latencies.length * quantile))]);
  const requestsPerSecond = Math.round(latencies.length / elapsed);
  console.log(JSON.stringify({ requestsPerSecond, p50: at(0.5), p99: at(0.99), failures }));
  process.exit(0);
}, Number(seconds) * 1000);
