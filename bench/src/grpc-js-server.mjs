/**
 * The usual way to serve gRPC from Node.js: grpc-js with messages from the .proto, the input's bytes to the addon's instance thread and the result back. No checks, no
 * scheduling. Prints its address as a URL.
 */
import { fileURLToPath } from 'node:url';
import grpc from '@grpc/grpc-js';
import { loadSync } from '@grpc/proto-loader';
import { loadAoti } from '@nereid/native';
import { instanceOptions, modelFile } from './workload.mjs';

const path = (relative) => fileURLToPath(new URL(relative, import.meta.url));
const { inference } = grpc.loadPackageDefinition(
  loadSync(path('../../packages/grpc/proto/grpc_service.proto'), {
    keepCase: true,
    includeDirs: [path('../../packages/model-config/proto')],
  }),
);

const waiting = [];
const model = await loadAoti({ path: modelFile, modelName: 'model', numRunners: 1, device: -1 });
const instance = model.createInstance({
  ...instanceOptions,
  onComplete(error, outcome) {
    const answer = waiting.shift();
    answer(error, outcome && new Uint8Array(outcome.outputs[0].data));
  },
});
const [rows, shapes] = [[1], [2, 1, 64]];

function infer(request, done) {
  waiting.push((error, bytes) => {
    if (error) done(error);
    else
      done(null, {
        model_name: 'mlp',
        model_version: '1',
        id: request.id,
        outputs: [{ name: 'OUTPUT__0', datatype: 'FP32', shape: [1, 10] }],
        raw_output_contents: [bytes],
      });
  });
  instance.execute({ buffers: [request.raw_input_contents[0]], rows, shapes });
}

const server = new grpc.Server();
server.addService(inference.GRPCInferenceService.service, {
  ModelInfer: (call, callback) => infer(call.request, callback),
  ModelStreamInfer: (call) => {
    call.on('data', (request) => infer(request, (_, response) => call.write({ infer_response: response })));
    call.on('end', () => call.end());
  },
});
server.bindAsync('127.0.0.1:0', grpc.ServerCredentials.createInsecure(), (error, port) => {
  if (error) throw error;
  console.log(`http://127.0.0.1:${port}`);
});
