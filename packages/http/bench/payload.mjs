// The request and the answer of a small model: 64 floats in, 10 floats out, both as binary data.
const header = Buffer.from(
  '{"inputs":[{"name":"INPUT__0","shape":[1,64],"datatype":"FP32","parameters":{"binary_data_size":256}}],' +
    '"parameters":{"binary_data_output":true}}',
);
const body = Buffer.concat([header, Buffer.alloc(256)]);
export const REQUEST = Buffer.concat([
  Buffer.from(
    `POST /v2/models/mlp/infer HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/octet-stream\r\n` +
      `Inference-Header-Content-Length: ${header.length}\r\nContent-Length: ${body.length}\r\n\r\n`,
  ),
  body,
]);

const answerHeader =
  '{"model_name":"mlp","model_version":"1","outputs":[{"name":"OUTPUT__0","datatype":"FP32","shape":[1,10],' +
  '"parameters":{"binary_data_size":40}}]}';
export const ANSWER = {
  headerLength: answerHeader.length,
  body: Buffer.concat([Buffer.from(answerHeader), Buffer.alloc(40)]),
};
