/**
 * Completes `backend`, `platform` and `default_model_filename` from each other and from the files of a version.
 *
 * The steps are tried in order and the first that fires ends the search: TensorFlow, TensorRT, ONNX Runtime, OpenVINO, PyTorch, Python, then a
 * custom backend named by the model (`name.backend`). Files are looked at only when neither platform nor file name is given.
 * Differences to Triton: the files are those of a version that will be loaded, not of the first directory by name; `libtorch` is taken as
 * `pytorch_libtorch`; for backend `pytorch` without a platform the file name decides, then the files, before TorchScript is assumed.
 */
import type { Finding } from './finding.ts';
import type { ModelConfig } from './generated/types.ts';

/** An entry of a version directory, links followed. */
export interface VersionFile {
  readonly name: string;
  readonly isDirectory: boolean;
}

export interface DeduceOptions {
  /** Name of the model, i.e. of its directory. */
  readonly modelName: string;
  /** Content of the version directory that will be loaded. */
  readonly files: readonly VersionFile[];
  /** Backends that the server can run; default `['pytorch']`. Models for another framework are refused unless it is listed. */
  readonly backends?: readonly string[] | undefined;
}

/** The completed configuration, and why the model has no backend that could run it. */
export interface Deduction {
  readonly config: ModelConfig;
  readonly findings: readonly Finding[];
}

type Step = (config: ModelConfig, files: Files) => Partial<ModelConfig> | undefined;

const STEPS: readonly Step[] = [tensorflow, tensorrt, onnxruntime, openvino, pytorch, python];

/** `runtime` of a PyTorch model that is Python source. */
const PYTHON_RUNTIME = 'model.py';

const FRAMEWORKS: ReadonlyMap<string, string> = new Map([
  ['tensorflow', 'TensorFlow'],
  ['tensorrt', 'TensorRT'],
  ['onnxruntime', 'ONNX Runtime'],
  ['openvino', 'OpenVINO'],
  ['python', 'Triton Python'],
]);

/** Deduces the backend of a model. The given configuration is not changed. Source: triton core `src/model_config_utils.cc`, `AutoCompleteBackendFields`. */
export function deduceBackend(config: ModelConfig, options: DeduceOptions): Deduction {
  if (config.platform === 'ensemble') return { config, findings: [] };
  const files = new Files(isUnnamed(config) ? options.files : []);
  for (const step of STEPS) {
    const change = step(config, step === pytorch ? new Files(options.files) : files);
    if (change !== undefined) return refuseForeign({ ...config, ...change }, options);
  }
  if (config.backend === '' && isUnnamed(config)) return deduceCustom(config, options.modelName);
  return refuseForeign(config, options);
}

/** Neither platform nor file name is given: then the files may tell. */
function isUnnamed(config: ModelConfig): boolean {
  return config.platform === '' && config.defaultModelFilename === '';
}

class Files {
  readonly #files: readonly VersionFile[];

  constructor(files: readonly VersionFile[]) {
    this.#files = files;
  }

  has(name: string, kind: 'file' | 'directory' | 'either' = 'file'): boolean {
    return this.#files.some((f) => f.name === name && (kind === 'either' || f.isDirectory === (kind === 'directory')));
  }
}

function tensorflow(config: ModelConfig, files: Files): Partial<ModelConfig> | undefined {
  const { platform, backend, defaultModelFilename: filename } = config;
  if (backend !== '' && backend !== 'tensorflow') return undefined;
  if (platform.startsWith('tensorflow_')) return named('tensorflow', config, platform, defaultFilename[platform] ?? '');
  if (platform !== '') return undefined;
  if (filename === 'model.savedmodel' || files.has('model.savedmodel', 'directory')) {
    return named('tensorflow', config, 'tensorflow_savedmodel', 'model.savedmodel');
  }
  if (filename === 'model.graphdef' || files.has('model.graphdef')) {
    return named('tensorflow', config, 'tensorflow_graphdef', 'model.graphdef');
  }
  return undefined;
}

const defaultFilename: Readonly<Record<string, string>> = {
  tensorflow_savedmodel: 'model.savedmodel',
  tensorflow_graphdef: 'model.graphdef',
};

function tensorrt(config: ModelConfig, files: Files): Partial<ModelConfig> | undefined {
  const fires =
    config.platform === 'tensorrt_plan' || config.defaultModelFilename === 'model.plan' || files.has('model.plan');
  return config.backend === '' && fires ? named('tensorrt', config, 'tensorrt_plan', 'model.plan') : undefined;
}

function onnxruntime(config: ModelConfig, files: Files): Partial<ModelConfig> | undefined {
  const byName = config.platform === 'onnxruntime_onnx' || config.defaultModelFilename === 'model.onnx';
  const fires = config.backend === '' && (byName || files.has('model.onnx', 'either'));
  return fires ? named('onnxruntime', config, 'onnxruntime_onnx', 'model.onnx') : undefined;
}

function openvino(config: ModelConfig, files: Files): Partial<ModelConfig> | undefined {
  const fires = config.backend === '' && (config.defaultModelFilename === 'model.xml' || files.has('model.xml'));
  return fires ? named('openvino', config, config.platform, 'model.xml') : undefined;
}

function python(config: ModelConfig, files: Files): Partial<ModelConfig> | undefined {
  const fires = config.backend === '' && (config.defaultModelFilename === 'model.py' || files.has('model.py'));
  return fires ? named('python', config, config.platform, 'model.py') : undefined;
}

function named(backend: string, config: ModelConfig, platform: string, filename: string): Partial<ModelConfig> {
  return {
    backend,
    platform: config.platform || platform,
    defaultModelFilename: config.defaultModelFilename || filename,
  };
}

function pytorch(config: ModelConfig, files: Files): Partial<ModelConfig> | undefined {
  if (config.backend !== 'pytorch' && !(config.backend === '' && isPyTorch(config, files))) return undefined;
  const given = config.platform === 'libtorch' ? 'pytorch_libtorch' : config.platform;
  const platform = given || (isPackage(config, files) ? 'torch_aoti' : 'pytorch_libtorch');
  return {
    backend: 'pytorch',
    platform,
    defaultModelFilename: config.defaultModelFilename || pytorchFilename(config, platform),
  };
}

function isPyTorch(config: ModelConfig, files: Files): boolean {
  const { platform, defaultModelFilename: filename } = config;
  if (['pytorch_libtorch', 'libtorch', 'torch_aoti'].includes(platform)) return true;
  if (filename === 'model.pt' || filename === 'model.pt2') return true;
  return isUnnamed(config) && (files.has('model.pt') || files.has('model.pt2'));
}

/** Whether the model is an AOTInductor package rather than TorchScript; `model.pt` wins where both are. */
function isPackage({ defaultModelFilename: filename, runtime }: ModelConfig, files: Files): boolean {
  if (runtime === PYTHON_RUNTIME) return false;
  if (filename !== '') return filename.endsWith('.pt2');
  return !files.has('model.pt') && files.has('model.pt2');
}

/**
 * TorchScript's `model.pt` is filled in only where the platform was deduced for a given backend: clients see the difference.
 * For a Python module the name stays empty, or its file of weights would be opened as TorchScript.
 */
function pytorchFilename({ platform, backend, runtime }: ModelConfig, deduced: string): string {
  if (runtime === PYTHON_RUNTIME) return '';
  if (deduced === 'torch_aoti') return 'model.pt2';
  return platform === '' && backend === 'pytorch' ? 'model.pt' : '';
}

function deduceCustom(config: ModelConfig, modelName: string): Deduction {
  const dot = modelName.indexOf('.');
  const backend = dot < 0 ? '' : modelName.slice(dot + 1);
  if (backend !== '') return { config: { ...config, backend, defaultModelFilename: `model.${backend}` }, findings: [] };
  const remedy = config.ensembleScheduling
    ? `add platform: "ensemble"`
    : `put a file model.pt or model.pt2 into the version directory, set 'backend' or 'platform', or name the file model.<backend_name> and the model <name>.<backend_name>`;
  return {
    config,
    findings: [{ path: 'backend', message: `Could not determine backend for model '${modelName}': ${remedy}` }],
  };
}

function refuseForeign(config: ModelConfig, { modelName, backends = ['pytorch'] }: DeduceOptions): Deduction {
  const framework = FRAMEWORKS.get(config.backend);
  if (framework === undefined || backends.includes(config.backend)) return { config, findings: [] };
  const message = `model '${modelName}' is a ${framework} model (backend '${config.backend}'), which this server has no backend for: it runs ${backends.join(', ')}. Export the model with PyTorch (model.pt or model.pt2), or serve it elsewhere`;
  return { config, findings: [{ path: 'backend', message }] };
}
