import { InferenceServerError } from '@nereid/core';
import type { ModelConfig, ModelOutput } from '@nereid/model-config';
import { readLimited, resolveInside } from '@nereid/repository';

/** Labels by output name; the index in a list is the class. */
export type Labels = ReadonlyMap<string, readonly string[]>;

/**
 * Reads the label files of a configuration: one label per line, blank lines count.
 * @throws {InferenceServerError} UNSUPPORTED when a file lies outside the model directory, else as reading it fails
 */
export async function readLabels(
  config: ModelConfig,
  place: { readonly modelDirectory: string; readonly maxBytes: number },
): Promise<Labels> {
  const labels = new Map<string, readonly string[]>();
  for (const output of config.output) {
    if (output.labelFilename !== '') labels.set(output.name, await readLabelFile(output, place));
  }
  return labels;
}

async function readLabelFile(
  output: ModelOutput,
  place: { readonly modelDirectory: string; readonly maxBytes: number },
): Promise<readonly string[]> {
  try {
    const path = await resolveInside(place.modelDirectory, output.labelFilename);
    return toLines(await readLimited(path, place.maxBytes));
  } catch (thrown) {
    const { code, message } = InferenceServerError.from(thrown);
    throw new InferenceServerError(code, `label_filename of output '${output.name}': ${message}`, { cause: thrown });
  }
}

function toLines(bytes: Buffer): readonly string[] {
  const lines = bytes.toString('utf8').split(/\r?\n/);
  if (lines.at(-1) === '') lines.pop();
  return lines;
}
