import { describe, expect, it } from 'vitest';
import { createModelConfig, deduceBackend, type VersionFile } from '../src/index.ts';

const file = (name: string): VersionFile => ({ name, isDirectory: false });
const directory = (name: string): VersionFile => ({ name, isDirectory: true });
const [PT, PT2] = [file('model.pt'), file('model.pt2')];
const ALL = ['pytorch', 'tensorflow', 'tensorrt', 'onnxruntime', 'openvino', 'python'];

interface Given {
  readonly backend?: string;
  readonly platform?: string;
  readonly defaultModelFilename?: string;
  readonly runtime?: string;
}

function deduce(given: Given, files: readonly VersionFile[], modelName = 'm') {
  const { config, findings } = deduceBackend(createModelConfig(given), { modelName, files, backends: ALL });
  expect(findings).toEqual([]);
  return [config.backend, config.platform, config.defaultModelFilename];
}

describe('deduceBackend', () => {
  it.each<[given: Given, files: readonly VersionFile[], deduced: [string, string, string]]>([
    // PyTorch
    [{}, [PT], ['pytorch', 'pytorch_libtorch', '']],
    [{}, [PT2], ['pytorch', 'torch_aoti', 'model.pt2']],
    [{}, [PT2, PT], ['pytorch', 'pytorch_libtorch', '']],
    [{ platform: 'pytorch_libtorch' }, [], ['pytorch', 'pytorch_libtorch', '']],
    [{ platform: 'libtorch' }, [], ['pytorch', 'pytorch_libtorch', '']],
    [{ platform: 'torch_aoti' }, [], ['pytorch', 'torch_aoti', 'model.pt2']],
    [{ defaultModelFilename: 'model.pt' }, [], ['pytorch', 'pytorch_libtorch', 'model.pt']],
    [{ defaultModelFilename: 'model.pt2' }, [], ['pytorch', 'torch_aoti', 'model.pt2']],
    [{ backend: 'pytorch' }, [], ['pytorch', 'pytorch_libtorch', 'model.pt']],
    [{ backend: 'pytorch' }, [PT], ['pytorch', 'pytorch_libtorch', 'model.pt']],
    [{ backend: 'pytorch' }, [PT2], ['pytorch', 'torch_aoti', 'model.pt2']],
    [{ backend: 'pytorch', defaultModelFilename: 'big.pt2' }, [PT], ['pytorch', 'torch_aoti', 'big.pt2']],
    [{ backend: 'pytorch', defaultModelFilename: 'big.pt' }, [PT2], ['pytorch', 'pytorch_libtorch', 'big.pt']],
    [{ backend: 'pytorch', platform: 'torch_aoti' }, [PT], ['pytorch', 'torch_aoti', 'model.pt2']],
    [{ backend: 'pytorch', platform: 'pytorch_libtorch' }, [PT2], ['pytorch', 'pytorch_libtorch', '']],
    [{ backend: 'pytorch', runtime: 'model.py' }, [PT2], ['pytorch', 'pytorch_libtorch', '']],
    // Other frameworks
    [{}, [directory('model.savedmodel')], ['tensorflow', 'tensorflow_savedmodel', 'model.savedmodel']],
    [{ backend: 'tensorflow' }, [file('model.graphdef')], ['tensorflow', 'tensorflow_graphdef', 'model.graphdef']],
    [{ platform: 'tensorflow_graphdef' }, [], ['tensorflow', 'tensorflow_graphdef', 'model.graphdef']],
    [{}, [file('model.plan'), PT], ['tensorrt', 'tensorrt_plan', 'model.plan']],
    [{ platform: 'tensorrt_plan' }, [], ['tensorrt', 'tensorrt_plan', 'model.plan']],
    [{}, [directory('model.onnx')], ['onnxruntime', 'onnxruntime_onnx', 'model.onnx']],
    [{ defaultModelFilename: 'model.xml' }, [], ['openvino', '', 'model.xml']],
    [{}, [file('model.py')], ['python', '', 'model.py']],
    [{ platform: 'caffe' }, [PT], ['', 'caffe', '']],
    [{ backend: 'mine' }, [PT], ['mine', '', '']],
    [{ platform: 'ensemble' }, [PT], ['', 'ensemble', '']],
  ])('%j with %j becomes %j', (given, files, deduced) => {
    expect(deduce(given, files)).toEqual(deduced);
  });

  it.each(['model.pt', 'model.graphdef', 'model.plan', 'model.py'])('a directory named %s is no model file', (name) => {
    const { findings } = deduceBackend(createModelConfig(), { modelName: 'm', files: [directory(name)] });
    expect(findings.map(({ message }) => message)).toEqual([expect.stringContaining('Could not determine backend')]);
  });

  it('takes the backend from the name of a model when nothing else tells it: all after the first dot', () => {
    expect(deduce({}, [], 'foo.identity')).toEqual(['identity', '', 'model.identity']);
    expect(deduce({}, [], 'a.b.c')).toEqual(['b.c', '', 'model.b.c']);
    expect(deduce({}, [PT], 'foo.identity')).toEqual(['pytorch', 'pytorch_libtorch', '']);
  });

  it.each(['foo', 'foo.'])('refuses model %s without files, naming the expected form', (modelName) => {
    const { findings } = deduceBackend(createModelConfig(), { modelName, files: [] });
    expect(findings).toEqual([
      { path: 'backend', message: expect.stringContaining(`Could not determine backend for model '${modelName}'`) },
    ]);
    expect(findings[0]?.message).toContain('model.<backend_name>');
  });

  it('tells the author of an ensemble what is missing', () => {
    const { findings } = deduceBackend(createModelConfig({ ensembleScheduling: {} }), { modelName: 'e', files: [] });
    expect(findings[0]?.message).toContain('add platform: "ensemble"');
  });

  it.each([
    ['model.onnx', 'ONNX Runtime'],
    ['model.plan', 'TensorRT'],
    ['model.graphdef', 'TensorFlow'],
    ['model.xml', 'OpenVINO'],
    ['model.py', 'Triton Python'],
  ])('refuses %s as a %s model when the server has no backend for it', (name, framework) => {
    const { findings } = deduceBackend(createModelConfig(), { modelName: 'm', files: [file(name)] });
    expect(findings).toEqual([{ path: 'backend', message: expect.stringContaining(`is a ${framework} model`) }]);
  });
});
