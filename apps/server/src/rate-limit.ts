/** `--rate-limit` and `--rate-limit-resource`: what executions occupy together. */
import type { RateLimiterOptions, ResourceLimit } from '@nereid/batching';
import { UsageError } from './errors.ts';
import type { FlagValues } from './flags/table.ts';

const LARGEST = 2 ** 31 - 1;

/**
 * The last of a repeated name and device counts.
 * @returns the limiter's options, undefined for none, and one sentence for resources that have no effect
 * @throws {UsageError} for a resource that is none
 */
export function readRateLimit(values: Pick<FlagValues, 'rate-limit' | 'rate-limit-resource'>): {
  readonly rateLimit: RateLimiterOptions | undefined;
  readonly warnings: readonly string[];
} {
  const given = values['rate-limit-resource'];
  const resources = new Map<string, ResourceLimit>();
  for (const resource of given.map(parse)) {
    resources.set(`${resource.device ?? ''}:${resource.name.toLowerCase()}`, resource);
  }
  if (values['rate-limit'] === 'off') {
    const warning = '--rate-limit-resource has no effect without --rate-limit=execution_count';
    return { rateLimit: undefined, warnings: given.length === 0 ? [] : [warning] };
  }
  return { rateLimit: given.length === 0 ? {} : { resources: [...resources.values()] }, warnings: [] };
}

function parse(text: string): ResourceLimit {
  const [, name, count, device] = /^([^:]+):(\d+)(?::(\d+))?$/.exec(text) ?? [];
  const isInRange = Number(count) <= LARGEST && Number(device ?? 0) <= LARGEST;
  if (name === undefined || !isInRange) {
    throw new UsageError(
      `option '--rate-limit-resource' takes name:count or name:count:device, numbers from 0 to ${LARGEST}, got '${text}'`,
    );
  }
  return { name, count: Number(count), device: device === undefined ? undefined : Number(device) };
}
