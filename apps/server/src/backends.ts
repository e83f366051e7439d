import type { Backend } from '@nereid/core';
import type { ModelConfig } from '@nereid/model-config';
import { PythonRuntimeBackend } from '@nereid/python-runtime';
import { PyTorchBackend } from '@nereid/pytorch-backend';
import type { ServerOptions } from './options.ts';

/** Runs every kind of PyTorch model: Python source (`runtime: "model.py"`) in processes of its own, everything else on LibTorch in this one. */
export function pytorchBackend({
  customOps,
  defaultMaxBatchSize,
  maxUnreleasedResponses,
  maxConcurrentStreams,
}: Pick<
  ServerOptions,
  'customOps' | 'defaultMaxBatchSize' | 'maxUnreleasedResponses' | 'maxConcurrentStreams'
>): Backend<ModelConfig> {
  const native = new PyTorchBackend({ customOps, defaultMaxBatchSize });
  const python = new PythonRuntimeBackend({ maxUnreleasedResponses, maxConcurrentStreams });
  return {
    name: native.name,
    // Source tells nothing of its tensors.
    complete: async (context) => (python.accepts(context.config) ? context.config : native.complete(context)),
    load: (context) => (python.accepts(context.config) ? python : native).load(context),
  };
}
