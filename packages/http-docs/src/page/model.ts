/** What the panels of a model work with. */

import { type ModelConfig, type ModelMetadata, modelPath, type Server } from './server.ts';
import { elementCount, firstShape, hasJsonForm } from './tensors.ts';

export interface ShownModel {
  readonly server: Server;
  readonly metadata: ModelMetadata;
  /** Undefined where the server does not tell it. */
  readonly config: ModelConfig | undefined;
  /** `/v2/models/NAME`, or that of the version that was chosen. */
  readonly path: string;
}

export async function openModel(server: Server, name: string, version: string): Promise<ShownModel> {
  const path = modelPath(name, version);
  const [metadata, config] = await Promise.all([
    server.document<ModelMetadata>({ path }),
    // A server may keep configurations to those with a key, and the rest of the page does without.
    server.document<ModelConfig>({ path: `${path}/config` }).catch(() => undefined),
  ]);
  return { server, metadata, config, path };
}

export const isDecoupled = ({ config }: ShownModel): boolean => config?.model_transaction_policy?.decoupled === true;

export const isOptional = ({ config }: ShownModel, input: string): boolean =>
  config?.input?.some(({ name, optional }) => name === input && optional === true) ?? false;

/** Parameters to begin with: a sequence of one request, where the model has sequences. */
export const firstParameters = ({ config }: ShownModel): string =>
  config?.sequence_batching === undefined ? '' : '{"sequence_id": 1, "sequence_start": true, "sequence_end": true}';

const MAX_GENERATE_VALUES = 1024;

/** Whether plain JSON by name is a way to ask the model. */
export function takesGenerate({ metadata: { inputs } }: ShownModel): boolean {
  return inputs.every(
    ({ datatype, shape }) => hasJsonForm(datatype) && elementCount(firstShape(shape)) <= MAX_GENERATE_VALUES,
  );
}
