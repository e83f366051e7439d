import type { Flag } from '../flag.ts';

const NO_GPU = 'this build runs on the CPU';
const NO_CACHE = 'there is no response cache in this version';
const OTHER_CLOUD = 'this front end is not part of Nereid';

const ignored = (why: string) =>
  ({ kind: 'any', default: undefined, group: 'Accepted without effect', help: why, ignored: why }) as const;

/** Options of the original that have no effect here; each says why. */
export const ACCEPTED_FLAGS = {
  'load-model': ignored('models are chosen at start only with --model-control-mode=explicit'),
  'repository-poll-secs': ignored('the repository is read once, at start'),
  'model-namespacing': ignored('a model name must be unique over all repositories'),
  'model-load-gpu-limit': ignored(NO_GPU),
  'enable-peer-access': ignored(NO_GPU),
  'min-supported-compute-capability': ignored(NO_GPU),
  'http-thread-count': ignored('HTTP is served by one event loop'),
  'grpc-infer-thread-count': ignored('gRPC is served by one event loop'),
  'grpc-infer-allocation-pool-size': ignored('requests are not taken from a pool'),
  'allow-gpu-metrics': ignored('there are no metrics of GPUs in this version'),
  'pinned-memory-pool-byte-size': ignored(NO_GPU),
  'cuda-memory-pool-byte-size': ignored(NO_GPU),
  'cuda-virtual-address-size': ignored(NO_GPU),
  'buffer-manager-thread-count': ignored('inputs are gathered on the thread of the model instance'),
  'host-policy': ignored('instances are not bound to cores by this version'),
  'cache-config': ignored(NO_CACHE),
  'cache-directory': ignored(NO_CACHE),
  'response-cache-byte-size': ignored(NO_CACHE),
  'repoagent-directory': ignored('there are no repository agents in this version'),
  'allow-sagemaker': ignored(OTHER_CLOUD),
  'sagemaker-port': ignored(OTHER_CLOUD),
  'sagemaker-safe-port-range': ignored(OTHER_CLOUD),
  'sagemaker-thread-count': ignored(OTHER_CLOUD),
  'allow-vertex-ai': ignored(OTHER_CLOUD),
  'vertex-ai-port': ignored(OTHER_CLOUD),
  'vertex-ai-thread-count': ignored(OTHER_CLOUD),
  'vertex-ai-default-model': ignored(OTHER_CLOUD),
} as const satisfies Record<string, Flag>;
