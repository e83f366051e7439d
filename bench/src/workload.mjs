/** The request that every server is sent: one row of the example MLP, FP32 [1, 64] in and [1, 10] out, both binary. */
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = join(fileURLToPath(import.meta.url), '..', '..', '..');
export const repository = join(root, 'examples', 'model_repository');
export const modelFile = join(repository, 'mlp', '1', 'model.pt2');
export const path = '/v2/models/mlp/infer';

const row = Float32Array.from({ length: 64 }, (_, index) => Math.sin(index));
export const input = new Uint8Array(row.buffer);

export const requestHeader = JSON.stringify({
  inputs: [{ name: 'INPUT__0', shape: [1, 64], datatype: 'FP32', parameters: { binary_data_size: 256 } }],
  outputs: [{ name: 'OUTPUT__0', parameters: { binary_data: true } }],
});

/** Whole request as bytes, for keep-alive connections. */
export function requestBytes(host) {
  const body = Buffer.concat([Buffer.from(requestHeader), input]);
  const head = [
    `POST ${path} HTTP/1.1`,
    `Host: ${host}`,
    'Content-Type: application/octet-stream',
    `Inference-Header-Content-Length: ${Buffer.byteLength(requestHeader)}`,
    `Content-Length: ${body.byteLength}`,
  ].join('\r\n');
  return Buffer.concat([Buffer.from(`${head}\r\n\r\n`), body]);
}

/** What the addon is told about the MLP. */
export const instanceOptions = {
  name: 'bench',
  intraOpThreads: 1,
  inferenceMode: true,
  optimizedExecution: true,
  inputs: [{ datatype: 11, key: '' }],
  outputs: [{ index: 0, key: '' }],
  batching: true,
};

export const batch = { buffers: [input], rows: [1], shapes: [2, 1, 64] };

export const grpcPath = (method) => `/inference.GRPCInferenceService/${method}`;

/** The same request as a gRPC message, behind its prefix. */
export function grpcMessage() {
  const field = (number, bytes) =>
    Buffer.concat([
      Buffer.of(
        number * 8 + 2,
        (bytes.length % 128) | (bytes.length > 127 ? 128 : 0),
        ...(bytes.length > 127 ? [bytes.length >> 7] : []),
      ),
      bytes,
    ]);
  const text = (number, value) => field(number, Buffer.from(value));
  const tensor = Buffer.concat([text(1, 'INPUT__0'), text(2, 'FP32'), field(3, Buffer.of(1, 64))]);
  const body = Buffer.concat([
    text(1, 'mlp'),
    field(5, tensor),
    text(6, '\n\x09OUTPUT__0'),
    field(7, Buffer.from(input)),
  ]);
  const prefix = Buffer.alloc(5);
  prefix.writeUInt32BE(body.length, 1);
  return Buffer.concat([prefix, body]);
}
