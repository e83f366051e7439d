import { join } from 'node:path';
import { testModel } from '@nereid/testing';
import { examples } from './nereid.ts';

/** An AOTInductor package whose files state everything, and one of its models. */
export interface Package {
  readonly name: string;
  readonly file: string;
  readonly model?: string;
}

export const PACKAGES: readonly Package[] = [
  { name: 'mlp', file: join(examples, 'mlp', '1', 'model.pt2') },
  { name: 'example_nested', file: join(examples, 'nested', '1', 'model.pt2') },
  { name: 'nested', file: join(testModel('archive_nested'), 'model.pt2') },
  { name: 'burnt_in', file: join(testModel('archive_several'), 'model.pt2'), model: 'burnt_in' },
  { name: 'keyword_only', file: join(testModel('archive_several'), 'model.pt2'), model: 'keyword_only' },
  { name: 'add', file: join(testModel('backend_aoti'), 'add.pt2') },
  { name: 'complex', file: join(testModel('backend_aoti'), 'complex.pt2') },
  { name: 'mean', file: join(testModel('backend_aoti'), 'mean.pt2') },
  { name: 'static', file: join(testModel('backend_aoti'), 'static.pt2') },
];

/** Arguments of `inspect` that choose the package's model. */
export function inspectArguments({ file, model }: Package): string[] {
  return model === undefined ? [file] : [file, '--model', model];
}
