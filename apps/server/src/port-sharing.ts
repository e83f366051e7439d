/** `--reuse-http-port` and `--reuse-grpc-port`: several processes on one port. */
import type { FlagValues } from './flags/table.ts';

const PROTOCOLS = ['http', 'grpc'] as const;
type Protocol = (typeof PROTOCOLS)[number];

/** Whether the port of a protocol is to be shared, and can be. */
export function sharesPort(values: FlagValues, protocol: Protocol): boolean {
  return values[`reuse-${protocol}-port`] && canSharePorts(process.versions.node);
}

/** One sentence for each port that is to be shared and cannot be. */
export function portWarnings(values: FlagValues, node: string = process.versions.node): readonly string[] {
  if (canSharePorts(node)) return [];
  return PROTOCOLS.filter((protocol) => values[`reuse-${protocol}-port`]).map(
    (protocol) =>
      `--reuse-${protocol}-port has no effect: Node.js ${node} cannot share a port; 22.12, 23.1 and newer ones can`,
  );
}

/** Whether `listen` of this version of Node.js knows `reusePort`. */
function canSharePorts(node: string): boolean {
  const [major = 0, minor = 0] = node.split('.').map(Number);
  return major > 23 || (major === 23 && minor >= 1) || (major === 22 && minor >= 12);
}
