/** Requests of the fixture over gRPC, from a client that reads the .proto. */
import { fileURLToPath } from 'node:url';
import grpc from '@grpc/grpc-js';
import { loadSync } from '@grpc/proto-loader';

const proto = (path: string) => fileURLToPath(new URL(path, import.meta.url));
const definition = grpc.loadPackageDefinition(
  loadSync(proto('../../grpc/proto/grpc_service.proto'), {
    keepCase: true,
    includeDirs: [proto('../../model-config/proto')],
  }),
);
// What a loaded definition has depends on the .proto, which TypeScript does not read.
const { GRPCInferenceService } = definition.inference as unknown as Record<string, grpc.ServiceClientConstructor>;

interface InferCall {
  readonly id: string;
  readonly metadata: Record<string, string>;
  readonly modelName: string;
}

function clientOf(place: string): grpc.Client {
  if (GRPCInferenceService === undefined) throw new Error('the .proto has no GRPCInferenceService');
  return new GRPCInferenceService(place, grpc.credentials.createInsecure());
}

/** A request of one row. */
export function requestOf(modelName: string, id: string, values: readonly number[] = [1, 2.5]) {
  const inputs = [{ name: 'x', datatype: 'FP32', shape: [1, 2], contents: { fp32_contents: values } }];
  return { model_name: modelName, id, inputs };
}

/** Sends one request on a connection of its own; resolves with the name of the status. */
export async function inferOverGrpc(place: string, { id, metadata: headers, modelName }: InferCall): Promise<string> {
  const client = clientOf(place);
  const metadata = new grpc.Metadata();
  for (const [name, value] of Object.entries(headers)) metadata.set(name, value);
  const request = requestOf(modelName, id);
  const code = await new Promise<number>((resolve) => {
    // biome-ignore lint/suspicious/noExplicitAny: the methods of a client are made from the .proto
    const call = (client as any).ModelInfer(request, metadata, () => {}) as grpc.ClientUnaryCall;
    call.on('status', (status) => resolve(status.code));
  });
  client.close();
  return grpc.status[code] ?? '';
}

interface StreamAnswer {
  readonly error_message: string;
  readonly infer_response: { readonly id: string } | null;
}

/** Sends requests on one stream and no more; resolves with all that comes back. */
export async function streamOverGrpc(place: string, requests: readonly object[]): Promise<StreamAnswer[]> {
  const client = clientOf(place);
  const answers: StreamAnswer[] = [];
  // biome-ignore lint/suspicious/noExplicitAny: the methods of a client are made from the .proto
  const call = (client as any).ModelStreamInfer() as grpc.ClientDuplexStream<object, StreamAnswer>;
  const over = new Promise<void>((resolve, reject) => call.on('end', resolve).on('error', reject));
  call.on('data', (answer) => answers.push(answer));
  for (const request of requests) call.write(request);
  call.end();
  await over;
  client.close();
  return answers;
}
