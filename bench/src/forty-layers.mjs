/** A model whose cost is that of its calls and hardly grows with the batch, under the name and with the tensors that the loads ask for. */
import { cpSync, mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { root } from './workload.mjs';

const CONFIG = `platform: "pytorch_libtorch"
max_batch_size: 64
input [ { name: "INPUT__0" data_type: TYPE_FP32 dims: [ 64 ] } ]
output [ { name: "OUTPUT__0" data_type: TYPE_FP32 dims: [ 10 ] } ]
parameters { key: "INTRA_OP_THREAD_COUNT" value { string_value: "1" } }
`;

/** Writes a repository, the caller's to remove. */
export function fortyLayers(addition) {
  const path = mkdtempSync(join(tmpdir(), 'nereid-bench-'));
  mkdirSync(join(path, 'mlp', '1'), { recursive: true });
  cpSync(join(root, '.cache', 'models', 'forty_layers', 'model.pt'), join(path, 'mlp', '1', 'model.pt'));
  writeFileSync(join(path, 'mlp', 'config.pbtxt'), CONFIG + addition);
  return path;
}
