/** What the metadata of a call decides before its messages are looked at: whether it may be made, and what of it the model gets to see. */
import { type ApiCategory, withForwarded } from '@nereid/serving';
import { GrpcError } from './errors.ts';
import type { RequestHeaders } from './http2/headers.ts';
import { type DecodedInferRequest, decodeInferRequest, type InferLimits } from './infer/request.ts';
import type { GrpcSettings } from './options.ts';

const CATEGORIES: ReadonlyMap<string, ApiCategory> = new Map(
  Object.entries({
    ServerLive: 'health',
    ServerReady: 'health',
    ModelReady: 'health',
    ServerMetadata: 'metadata',
    ModelMetadata: 'metadata',
    ModelInfer: 'inference',
    ModelStreamInfer: 'inference',
    ModelConfig: 'model-config',
    ModelStatistics: 'statistics',
    RepositoryIndex: 'model-repository',
    RepositoryModelLoad: 'model-repository',
    RepositoryModelUnload: 'model-repository',
    SystemSharedMemoryStatus: 'shared-memory',
    SystemSharedMemoryRegister: 'shared-memory',
    SystemSharedMemoryUnregister: 'shared-memory',
    CudaSharedMemoryStatus: 'shared-memory',
    CudaSharedMemoryRegister: 'shared-memory',
    CudaSharedMemoryUnregister: 'shared-memory',
    TraceSetting: 'trace',
    LogSettings: 'logging',
  } as const).map(([name, category]) => [`/inference.GRPCInferenceService/${name}`, category]),
);

/** All of the standard health service. */
const HEALTH = '/grpc.health.v1.Health/';

/** @throws {GrpcError} `restricted` when the call takes a key that its metadata does not have */
export function assertAllowed(path: string, headers: RequestHeaders, { restrictions }: GrpcSettings): void {
  if (restrictions === undefined) return;
  const category = path.startsWith(HEALTH) ? 'health' : CATEGORIES.get(path);
  const missing = category && restrictions.missingHeader(category, headers);
  if (missing === undefined) return;
  throw new GrpcError('restricted', `This protocol is restricted, expecting header '${missing}'`);
}

/** Names of the protocol itself, which are no metadata. */
const TRANSPORT = /^(?::.*|grpc-.*|te|content-type)$/;

/**
 * The metadata that inferences of a call get as parameters; undefined when none is forwarded.
 * @throws {ServingError} `reserved-header`
 */
export function forwardedOf(
  headers: RequestHeaders,
  { forwarding }: GrpcSettings,
): ReadonlyMap<string, string> | undefined {
  return forwarding?.parametersOf(
    Object.entries(headers).flatMap(([name, value]) =>
      value === undefined || TRANSPORT.test(name) ? [] : [name, value],
    ),
  );
}

/** Decodes a request, forwarded metadata among its parameters. @throws {GrpcError} as `decodeInferRequest` does */
export function decodeForwarded(
  bytes: Buffer,
  { limits, forwarded }: { readonly limits: InferLimits; readonly forwarded: ReadonlyMap<string, string> | undefined },
): DecodedInferRequest {
  const decoded = decodeInferRequest(bytes, limits);
  return forwarded === undefined ? decoded : withForwarded(decoded, forwarded);
}
