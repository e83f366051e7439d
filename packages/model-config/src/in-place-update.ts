import { createModelConfig } from './create.ts';
import type { ModelConfig, ModelInstanceGroup } from './generated/types.ts';
import { modelConfigToJson } from './json/print.ts';

/**
 * Whether a loaded model can take over the new configuration without being loaded again: they differ in instance groups and version
 * policy at most. Both must be complete; that the files of the version are unchanged is for the caller to know.
 */
export function canUpdateInPlace(before: ModelConfig, after: ModelConfig): boolean {
  return comparable(before) === comparable(after);
}

function comparable({ versionPolicy: _, ...config }: ModelConfig): string {
  return modelConfigToJson({ ...config, instanceGroup: [] });
}

/**
 * What makes instances of two groups interchangeable, as text: everything but the name and the count. An update keeps as many instances as both
 * configurations have of one signature.
 */
export function instanceGroupSignature(group: ModelInstanceGroup): string {
  return modelConfigToJson({ ...createModelConfig(), instanceGroup: [{ ...group, name: '', count: 0 }] });
}
