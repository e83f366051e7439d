/** Text of config.pbtxt for PyTorch models, from short descriptions of their tensors. */

export interface ConfigText {
  /** `pytorch_libtorch` by default; null writes neither backend nor platform. */
  readonly platform?: string | null;
  /** 0 by default. */
  readonly maxBatchSize?: number;
  /** `name TYPE dim dim…`, or an object's text whole when it begins with a brace. */
  readonly input: readonly string[];
  readonly output: readonly string[];
  readonly parameters?: Readonly<Record<string, string>>;
  /** What else the file holds. */
  readonly more?: string;
}

/** The text of a configuration. */
export function configText(config: ConfigText): string {
  const { platform = 'pytorch_libtorch', maxBatchSize = 0, parameters = {}, more = '' } = config;
  return [
    platform === null ? '' : `backend: "pytorch"\nplatform: "${platform}"`,
    `max_batch_size: ${maxBatchSize}`,
    tensors('input', config.input),
    tensors('output', config.output),
    ...Object.entries(parameters).map(
      ([key, value]) => `parameters { key: "${key}" value { string_value: "${value}" } }`,
    ),
    more,
  ]
    .filter((line) => line !== '')
    .join('\n');
}

function tensors(field: string, specs: readonly string[]): string {
  const texts = specs.map((spec) => {
    if (spec.startsWith('{')) return spec;
    const [name, type, ...dims] = spec.split(' ');
    return `{ name: "${name}" data_type: ${type} dims: [ ${dims.join(', ')} ] }`;
  });
  return texts.length === 0 ? '' : `${field} [ ${texts.join(', ')} ]`;
}
