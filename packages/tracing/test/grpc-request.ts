/** The request of the fixture over gRPC, from a client that reads the .proto. */
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

/** Sends one request for the model `m` on a connection of its own; resolves with the name of the status. */
export async function inferOverGrpc(place: string, id: string, headers: Record<string, string>): Promise<string> {
  if (GRPCInferenceService === undefined) throw new Error('the .proto has no GRPCInferenceService');
  const client = new GRPCInferenceService(place, grpc.credentials.createInsecure());
  const metadata = new grpc.Metadata();
  for (const [name, value] of Object.entries(headers)) metadata.set(name, value);
  const inputs = [{ name: 'x', datatype: 'FP32', shape: [1, 2], contents: { fp32_contents: [1, 2.5] } }];
  const code = await new Promise<number>((resolve) => {
    const request = { model_name: 'm', id, inputs };
    // biome-ignore lint/suspicious/noExplicitAny: the methods of a client are made from the .proto
    const call = (client as any).ModelInfer(request, metadata, () => {}) as grpc.ClientUnaryCall;
    call.on('status', (status) => resolve(status.code));
  });
  client.close();
  return grpc.status[code] ?? '';
}
