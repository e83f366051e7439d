/**
 * A client that keeps to the rules, in a process of its own: small inferences over HTTP and gRPC, one at a time on each, a few milliseconds apart. Told `start` and
 * `stop` by the process that forked it; answers `stop` with the latencies in between.
 */
import { Agent, request } from 'node:http';
import { connect } from 'node:http2';
import { setTimeout as wait } from 'node:timers/promises';

const [http, grpc] = process.argv.slice(2);
const GAP_MS = 3;

const body = JSON.stringify({ inputs: [{ name: 'x', datatype: 'UINT8', shape: [3], data: [1, 2, 3] }] });
const agent = new Agent({ keepAlive: true, maxSockets: 1 });
const session = connect(grpc);
session.on('error', () => {});

function overHttp() {
  const options = { method: 'POST', agent, headers: { 'content-length': body.length } };
  return new Promise((resolve) => {
    const call = request(`${http}/v2/models/identity/infer`, options, (response) => {
      response.resume().on('end', () => resolve(response.statusCode === 200));
    });
    call.on('error', () => resolve(false));
    call.end(body);
  });
}

const field = (number, bytes) => Buffer.concat([Buffer.of(number * 8 + 2, bytes.length), Buffer.from(bytes)]);
const input = Buffer.concat([field(1, 'x'), field(2, 'UINT8'), field(3, [3])].map((part) => Buffer.from(part)));
const message = Buffer.concat([field(1, 'identity'), field(5, input), field(7, [1, 2, 3])]);
const framed = Buffer.concat([Buffer.of(0, 0, 0, 0, message.length), message]);

function overGrpc() {
  return new Promise((resolve) => {
    const path = '/inference.GRPCInferenceService/ModelInfer';
    const stream = session.request({
      ':method': 'POST',
      ':path': path,
      'content-type': 'application/grpc',
      te: 'trailers',
    });
    let status;
    const look = (headers) => {
      status = headers['grpc-status'] ?? status;
    };
    stream
      .on('response', look)
      .on('trailers', look)
      .on('error', () => {});
    stream.on('close', () => resolve(status === '0'));
    stream.resume();
    stream.end(framed);
  });
}

let isRunning = false;
let failures = 0;

async function load(send) {
  const latencies = [];
  while (isRunning) {
    const start = performance.now();
    if (!(await send())) failures++;
    latencies.push(performance.now() - start);
    await wait(GAP_MS);
  }
  latencies.sort((a, b) => a - b);
  const at = (part) => latencies[Math.min(latencies.length - 1, Math.floor(part * latencies.length))];
  return { count: latencies.length, p50: at(0.5), p99: at(0.99), max: at(1) };
}

let running;
process.on('message', async (word) => {
  if (word === 'start') {
    isRunning = true;
    failures = 0;
    running = Promise.all([load(overHttp), load(overGrpc)]);
    process.send('started');
  } else {
    isRunning = false;
    const [overHttp, overGrpc] = await running;
    process.send({ http: overHttp, grpc: overGrpc, failures });
  }
});
process.on('disconnect', () => process.exit());
