/** Node.js, processor and cores. */
import { availableParallelism, cpus } from 'node:os';
import { readHost } from '@nereid/model-archive';
import { usableCores } from '@nereid/pytorch-backend';
import packageJson from '../../package.json' with { type: 'json' };
import type { Finding } from './finding.ts';

const NAPI_VERSION = 9;

export interface NodeVersions {
  readonly node: string;
  readonly napi: string;
}

export function checkNode(versions: NodeVersions): Finding {
  const required = packageJson.engines.node.replace('>=', '');
  const found = `${versions.node}, Node-API ${versions.napi}`;
  const isOld = olderThan(versions.node, required) || Number(versions.napi) < NAPI_VERSION;
  if (!isOld) return { name: 'Node.js', state: 'ok', found };
  return { name: 'Node.js', state: 'problem', found, remedy: `install Node.js ${required} or newer` };
}

function olderThan(version: string, required: string): boolean {
  const [a, b] = [version, required].map((text) => text.split('.').map(Number));
  const difference = [0, 1, 2].map((i) => (a?.[i] ?? 0) - (b?.[i] ?? 0)).find((each) => each !== 0);
  return difference !== undefined && difference < 0;
}

/** What compiled packages ask for, from the widest. */
const SETS: readonly (readonly [name: string, flag: string])[] = [
  ['AMX', 'amx_tile'],
  ['AVX512_VNNI', 'avx512_vnni'],
  ['AVX512', 'avx512f'],
  ['AVX2', 'avx2'],
  ['NEON', 'asimd'],
];

export async function checkProcessor(): Promise<Finding> {
  const { machine, platform, cpuFlags } = await readHost();
  const place = `${platform}, ${machine}`;
  if (cpuFlags === undefined)
    return { name: 'Processor', state: 'ok', found: `${place}; its instruction sets cannot be read` };
  const sets = SETS.filter(([, flag]) => cpuFlags.has(flag)).map(([name]) => name);
  if (sets.length > 0) return { name: 'Processor', state: 'ok', found: `${place}, ${sets.join(', ')}` };
  const remedy = 'compile packages with the environment variable ATEN_CPU_CAPABILITY=default set';
  return {
    name: 'Processor',
    state: 'note',
    found: `${place}, without vector instructions that PyTorch compiles for`,
    remedy,
  };
}

export function checkCores(): Finding {
  const usable = usableCores();
  const all = cpus().length;
  const affinity = availableParallelism();
  const limits = [
    ...(affinity < all ? [`the affinity mask leaves ${affinity}`] : []),
    ...(usable < affinity ? [`the quota of the control group leaves ${usable}`] : []),
  ];
  const found = [`${usable} usable of ${all}`, ...limits].join('; ');
  return { name: 'Cores', state: 'ok', found };
}
