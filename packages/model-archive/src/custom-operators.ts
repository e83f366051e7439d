import { withFile } from './file.ts';
import type { ArchiveLimits } from './limits.ts';
import { requireKind } from './sniff.ts';
import { openZip } from './zip.ts';

/** Namespaces of the operators that come with torch. */
const OF_TORCH = new Set([
  'aten',
  'prim',
  'prims',
  'quantized',
  '_quantized',
  'mkldnn',
  'mkldnn_prepacked',
  'onednn',
  'prepacked',
  'sparse',
  'profiler',
  'inductor',
  'static_runtime',
  'tensorexpr',
  'torch',
  'cuda',
  'c10d',
  'c10d_functional',
  '_c10d_functional',
  'symm_mem',
  'rngprims',
  'onnx',
]);

/**
 * Operators outside torch that the code of a TorchScript archive calls, e.g. `torchvision::nms`, ascending. A library must bring them before the
 * archive loads. Found in the text of the code: one that only a string mentions is listed as well.
 *
 * @throws {ModelArchiveError} `wrong-kind` when it is no TorchScript archive, or what `sniffModelFile` throws
 */
export function listCustomOperators(path: string, limits: ArchiveLimits = {}): Promise<readonly string[]> {
  return withFile(path, async (file) => {
    await requireKind(file, 'torchscript', limits);
    const archive = await openZip(file, limits);
    const found = new Set<string>();
    for (const name of archive.names.filter((member) => /^code\/.*\.py$/.test(member))) {
      const code = (await archive.read(name)).toString('utf8');
      for (const [, namespace = '', operator = ''] of code.matchAll(/(?<![\w.])ops\.(\w+)\.(\w+)\(/g)) {
        if (!OF_TORCH.has(namespace)) found.add(`${namespace}::${operator}`);
      }
    }
    return [...found].sort();
  });
}
