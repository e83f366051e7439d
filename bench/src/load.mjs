/**
 * Closed-loop load on one server: N keep-alive connections, each sends its next request when the answer to the last is whole. Raw sockets and prepared bytes, and
 * answers read into one buffer, so that the generator costs the shared cores as little as it can.
 *
 * usage: node load.mjs URL CONNECTIONS SECONDS [TENSOR_BYTES]      prints one JSON line, see report.mjs
 */
import { connect } from 'node:net';
import { Report } from './report.mjs';
import { requestBytes } from './workload.mjs';

const [url, connections, seconds, tensorBytes = 0] = process.argv.slice(2);
const { hostname, port } = new URL(url);
const request = requestBytes(`${hostname}:${port}`, Number(tensorBytes));
const LENGTH = /\r\ncontent-length: *(\d+)/i;
/** Shared by all connections: what was read is looked at before the next one is. */
const buffer = Buffer.allocUnsafeSlow(1024 * 1024);
const report = new Report(Number(seconds));

/** One connection: counts an answer when as many bytes have come as its head announces. A head comes in one piece. */
function drive() {
  let sent = 0;
  let missing = 0;
  const send = () => {
    sent = performance.now();
    socket.write(request);
  };
  const take = (length) => {
    if (missing === 0) {
      const end = buffer.subarray(0, length).indexOf('\r\n\r\n');
      const head = buffer.latin1Slice(0, end);
      if (!head.startsWith('HTTP/1.1 200')) report.failed();
      missing = end + 4 + Number(LENGTH.exec(head)?.[1] ?? 0);
    }
    missing -= length;
    if (missing > 0) return true;
    missing = 0;
    report.answered(sent);
    if (report.isOpen) send();
    else socket.end();
    return true;
  };
  const onread = { buffer, callback: take };
  const socket = connect({ host: hostname, port: Number(port), noDelay: true, onread });
  socket.on('connect', send);
  socket.on('error', () => report.failed());
}

for (let i = 0; i < Number(connections); i++) drive();
