import { loadNative } from './native.ts';

/**
 * Ordinals of the GPUs that instances may use; undefined when the addon was built against a LibTorch for the CPU, or cannot be loaded, which the load of a
 * model then tells.
 */
export async function usableGpus(): Promise<readonly number[] | undefined> {
  const native = await loadNative().catch(() => undefined);
  const build = native?.buildInfo();
  return build?.cuda ? build.gpus.map((_, ordinal) => ordinal) : undefined;
}
