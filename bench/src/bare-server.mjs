/**
 * The least a server can do: `node:http`, the body's last bytes to the addon's instance thread, a constant header and the result back. No checks, no routes, no
 * scheduling, no JSON. Prints its port.
 */
import { createServer } from 'node:http';
import { loadAoti } from '@nereid/native';
import { instanceOptions, modelFile } from './workload.mjs';

const header = Buffer.from(
  '{"model_name":"mlp","model_version":"1","outputs":[{"name":"OUTPUT__0","datatype":"FP32","shape":[1,10],"parameters":{"binary_data_size":40}}]}',
);
const headers = {
  'Content-Type': 'application/octet-stream',
  'Inference-Header-Content-Length': String(header.byteLength),
  'Content-Length': String(header.byteLength + 40),
};

const waiting = [];
const model = await loadAoti({ path: modelFile, modelName: 'model', numRunners: 1, device: -1 });
const instance = model.createInstance({
  ...instanceOptions,
  onComplete(error, outcome) {
    const response = waiting.shift();
    if (error) {
      response.writeHead(500).end();
      return;
    }
    response.writeHead(200, headers);
    response.cork();
    response.write(header);
    response.end(new Uint8Array(outcome.outputs[0].data));
    response.uncork();
  },
});

const rows = [1];
const shapes = [2, 1, 64];
const server = createServer((request, response) => {
  const chunks = [];
  request.on('data', (chunk) => chunks.push(chunk));
  request.on('end', () => {
    const body = chunks.length === 1 ? chunks[0] : Buffer.concat(chunks);
    waiting.push(response);
    instance.execute({ buffers: [body.subarray(body.byteLength - 256)], rows, shapes });
  });
});
server.listen(0, '127.0.0.1', () => console.log(`http://127.0.0.1:${server.address().port}`));
