import type { ModelVersionPolicy } from '@nereid/model-config';
import type { ModelVersion } from './model.ts';

export interface SelectedVersions {
  /** Versions to load, ascending. May be empty. */
  readonly selected: readonly ModelVersion[];
  /** Versions that the policy lists and that do not exist, in the order of the list. */
  readonly absent: readonly string[];
}

/**
 * Applies a version policy to the versions on disk. "Latest" means the greatest number, not the youngest directory.
 *
 * @param available  ascending by number, as a scan gives them
 * @param policy  the latest one version when absent, or when it makes no choice
 */
export function selectVersions(
  available: readonly ModelVersion[],
  policy: ModelVersionPolicy | undefined,
): SelectedVersions {
  if (policy?.specific !== undefined) return selectSpecific(available, policy.specific.versions);
  if (policy?.all !== undefined) return { selected: available, absent: [] };
  const count = policy?.latest?.numVersions ?? 1;
  return { selected: available.slice(Math.max(0, available.length - count)), absent: [] };
}

function selectSpecific(available: readonly ModelVersion[], listed: readonly number[]): SelectedVersions {
  const wanted = new Set(listed.map((version) => BigInt(version).toString()));
  const existing = new Set(available.map((version) => version.version));
  return {
    selected: available.filter((version) => wanted.has(version.version)),
    absent: [...wanted].filter((version) => !existing.has(version)),
  };
}
