/**
 * What every server is sent: one row of the example MLP, FP32 [1, 64] in and [1, 10] out; or, where a size in bytes is named, an FP32 tensor of that size, which
 * the model 'double' adds to itself. All binary.
 */
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = join(fileURLToPath(import.meta.url), '..', '..', '..');
export const repository = join(root, 'examples', 'model_repository');
export const modelFile = join(repository, 'mlp', '1', 'model.pt2');
/** Written by `scripts/export_models.py native_torchscript`. */
export const doubleFile = join(root, '.cache', 'models', 'native_torchscript', 'double.pt');

const row = Float32Array.from({ length: 64 }, (_, index) => Math.sin(index));
const mlp = { model: 'mlp', input: 'INPUT__0', shape: [1, 64], bytes: new Uint8Array(row.buffer) };

function double(byteLength) {
  const values = Float32Array.from({ length: byteLength / 4 }, (_, index) => Math.sin(index));
  return { model: 'double', input: 'x', shape: [values.length], bytes: new Uint8Array(values.buffer) };
}

const workload = (byteLength) => (byteLength === 0 ? mlp : double(byteLength));

export const { bytes: input } = mlp;
export const path = '/v2/models/mlp/infer';

const headerOf = ({ input: name, shape, bytes }) =>
  JSON.stringify({
    inputs: [{ name, shape, datatype: 'FP32', parameters: { binary_data_size: bytes.byteLength } }],
    outputs: [{ name: 'OUTPUT__0', parameters: { binary_data: true } }],
  });

export const requestHeader = headerOf(mlp);

/** Whole request as bytes, for keep-alive connections; 0 is the MLP's. */
export function requestBytes(host, byteLength = 0) {
  const work = workload(byteLength);
  const header = headerOf(work);
  const body = Buffer.concat([Buffer.from(header), work.bytes]);
  const head = [
    `POST /v2/models/${work.model}/infer HTTP/1.1`,
    `Host: ${host}`,
    'Content-Type: application/octet-stream',
    `Inference-Header-Content-Length: ${Buffer.byteLength(header)}`,
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

export const batch = batchOf(0);

/** The work as the addon takes it; 0 is the MLP's. */
export function batchOf(byteLength) {
  const { bytes, shape } = workload(byteLength);
  return { buffers: [bytes], rows: [1], shapes: [shape.length, ...shape] };
}

export const grpcPath = (method) => `/inference.GRPCInferenceService/${method}`;

/** The same request as a gRPC message, behind its prefix; 0 is the MLP's. */
export function grpcMessage(byteLength = 0) {
  const { model, input: name, shape, bytes } = workload(byteLength);
  const field = (number, content) => Buffer.concat([varint(number * 8 + 2), varint(content.length), content]);
  const text = (number, value) => field(number, Buffer.from(value));
  const tensor = Buffer.concat([text(1, name), text(2, 'FP32'), field(3, Buffer.concat(shape.map(varint)))]);
  const body = Buffer.concat([text(1, model), field(5, tensor), text(6, '\n\x09OUTPUT__0'), field(7, bytes)]);
  const prefix = Buffer.alloc(5);
  prefix.writeUInt32BE(body.length, 1);
  return Buffer.concat([prefix, body]);
}

function varint(value) {
  const bytes = [];
  for (; value > 127; value = Math.floor(value / 128)) bytes.push((value % 128) | 128);
  return Buffer.of(...bytes, value);
}
