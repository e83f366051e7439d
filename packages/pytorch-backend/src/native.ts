import { PyTorchBackendError } from './errors.ts';

/** The addon. */
export type Native = Pick<
  typeof import('@nereid/native'),
  | 'buildInfo'
  | 'initModel'
  | 'loadAoti'
  | 'loadOperators'
  | 'loadTorchScript'
  | 'openSequence'
  | 'releaseBuffers'
  | 'releaseSequence'
>;

/**
 * Loads the addon on first use, so that importing this package never fails for want of it.
 * @throws {PyTorchBackendError} UNAVAILABLE `addon`, with what was tried and what to run
 */
export async function loadNative(): Promise<Native> {
  try {
    return await import('@nereid/native');
  } catch (thrown) {
    const text = thrown instanceof Error ? thrown.message : String(thrown);
    throw new PyTorchBackendError({ code: 'UNAVAILABLE', reason: 'addon', message: text, cause: thrown });
  }
}
