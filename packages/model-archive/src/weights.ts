/** Weights as files hold them: state dicts of torch.save, and safetensors. Tensors only: no code of a file is executed. */
import { constants } from 'node:buffer';
import type { Datatype } from '@nereid/core';
import { ModelArchiveError } from './errors.ts';
import { type OpenFile, withFile } from './file.ts';
import type { ArchiveLimits } from './limits.ts';
import { sniffModelFile } from './sniff.ts';
import { readSafetensors } from './weights-safetensors.ts';
import { readStateDict } from './weights-state-dict.ts';

/** One tensor of a file of weights. */
export interface WeightTensor {
  /** As in the state dict. */
  readonly name: string;
  readonly datatype: Datatype;
  readonly shape: readonly number[];
  /** Contiguous, little-endian; a view of what was read. Not aligned to anything. */
  readonly data: Uint8Array;
}

/**
 * Reads every tensor of a file that `torch.save(model.state_dict())` or safetensors wrote, into memory.
 *
 * @param limits  members of an archive may by default be as large as a buffer
 * @throws {ModelArchiveError} `wrong-kind` when it is another file or has a tensor that is not dense or of a datatype that torch models do not take;
 *   `corrupt`, `truncated`, `unreadable`, `limit`
 */
export async function readWeights(path: string, limits: ArchiveLimits = {}): Promise<readonly WeightTensor[]> {
  const found = await sniffModelFile(path, limits);
  const large = { maxMemberBytes: constants.MAX_LENGTH, ...limits };
  switch (found.kind) {
    case 'safetensors':
      return withFile(path, readSafetensors);
    case 'eager-pickle':
      return withFile(path, (file: OpenFile) => readStateDict(file, large));
    default:
      throw new ModelArchiveError(
        'wrong-kind',
        `'${path}' holds no weights: expected a state dict, written by torch.save(model.state_dict(), file), or a safetensors file, but ${found.summary}`,
      );
  }
}
