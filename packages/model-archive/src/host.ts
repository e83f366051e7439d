/** Compares what a package was compiled for with the machine at hand. */
import { readFile } from 'node:fs/promises';
import { machine, platform } from 'node:os';
import type { CompileTarget } from './types.ts';

/** The machine, in the terms of a `CompileTarget`. */
export interface Host {
  /** `linux`, `darwin`, `win32`. */
  readonly platform: string;
  /** `x86_64`, `aarch64`, `arm64`. */
  readonly machine: string;
  /** Instruction set flags of the CPU as Linux names them; absent where they cannot be read. */
  readonly cpuFlags?: ReadonlySet<string>;
}

/** This machine; the flags come from `/proc/cpuinfo`. */
export async function readHost(): Promise<Host> {
  const facts = { platform: platform(), machine: machine() };
  if (facts.platform !== 'linux') return facts;
  const cpuFlags = parseCpuFlags(await readFile('/proc/cpuinfo', 'utf8').catch(() => ''));
  return cpuFlags === undefined ? facts : { ...facts, cpuFlags };
}

/** Flags of the first CPU in the text of `/proc/cpuinfo` (`flags` on x86, `Features` on ARM); undefined when it states none. */
export function parseCpuFlags(cpuinfo: string): ReadonlySet<string> | undefined {
  const line = /^(?:flags|features)\s*:\s*(.+)$/im.exec(cpuinfo)?.[1];
  return line === undefined ? undefined : new Set(line.trim().split(/\s+/));
}

/** Torch's name of a vector instruction set → the flags that its compiled kernels rely on. Source: `torch/_inductor/cpu_vec_isa.py`. */
const ISA_FLAGS: ReadonlyMap<string, readonly string[]> = new Map([
  ['AVX2', ['avx2', 'fma', 'f16c']],
  ['AVX512', ['avx512f', 'avx512dq', 'avx512vl', 'avx512bw', 'fma']],
  ['AVX512_VNNI', ['avx512_vnni']],
  ['AMX_TILE', ['amx_tile', 'amx_bf16', 'amx_int8']],
  ['ASIMD', ['asimd']],
  ['NEON', ['asimd']],
  ['ZVECTOR', ['vxe']],
]);

/** What a package's instruction set needs of a CPU. */
export interface IsaSupport {
  readonly supported: boolean;
  /** Flags that the CPU lacks. */
  readonly missing: readonly string[];
}

/**
 * Whether a CPU with these flags runs code compiled for `isa`, e.g. `AVX512 AVX512_VNNI`. Names that are not known here need nothing.
 */
export function isaSupported(isa: string, cpuFlags: ReadonlySet<string>): IsaSupport {
  const needed = isa.split(/\s+/).flatMap((name) => ISA_FLAGS.get(name.toUpperCase()) ?? []);
  const missing = [...new Set(needed)].filter((flag) => !cpuFlags.has(flag));
  return { supported: missing.length === 0, missing };
}

/**
 * Why a package cannot run on a machine: one sentence per difference, naming both sides. Empty when nothing stated forbids it.
 * The kind of device is not compared: it depends on the model instance.
 */
export function compareTarget(target: CompileTarget, host: Host): string[] {
  const problems: string[] = [];
  if (target.platform !== undefined && target.platform !== host.platform) {
    problems.push(
      `The package was compiled on platform '${target.platform}', this machine is '${host.platform}'. ${AGAIN}`,
    );
  }
  if (target.machine !== undefined && canonical(target.machine) !== canonical(host.machine)) {
    problems.push(`The package was compiled for '${target.machine}', this machine is '${host.machine}'. ${AGAIN}`);
  } else if (target.cpuIsa !== undefined && host.cpuFlags !== undefined) {
    const { missing } = isaSupported(target.cpuIsa, host.cpuFlags);
    if (missing.length > 0) {
      problems.push(
        `The package was compiled for ${target.cpuIsa}, this CPU lacks ${missing.join(', ')}. Compile it on this machine, ` +
          'or with the environment variable ATEN_CPU_CAPABILITY=avx2 (or default) set.',
      );
    }
  }
  return problems;
}

const AGAIN = 'Compile the model again on a machine like this one.';

/** The two names that platforms have for each of the usual machines. */
function canonical(name: string): string {
  const lower = name.toLowerCase();
  if (lower === 'amd64') return 'x86_64';
  return lower === 'arm64' ? 'aarch64' : lower;
}
