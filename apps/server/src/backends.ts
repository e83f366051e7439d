import type { Backend } from '@nereid/core';
import type { ModelConfig } from '@nereid/model-config';
import { PythonRuntimeBackend } from '@nereid/python-runtime';
import { PyTorchBackend } from '@nereid/pytorch-backend';

/** Runs every kind of PyTorch model: Python source (`runtime: "model.py"`) in processes of its own, everything else on LibTorch in this one. */
export function pytorchBackend(): Backend<ModelConfig> {
  const native = new PyTorchBackend();
  const python = new PythonRuntimeBackend();
  return {
    name: native.name,
    load: (context) => (python.accepts(context.config) ? python : native).load(context),
  };
}
