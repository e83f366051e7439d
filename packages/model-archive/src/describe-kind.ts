/** One sentence for each kind of file: what it is, and what to do to serve it. */
import type { OpenFile } from './file.ts';
import type { Pickled } from './pickled.ts';
import type { FileContent } from './sniff.ts';

const SCRIPT = 'torch.jit.script(model.eval()).save("model.pt")';
const COMPILE =
  'torch._inductor.aoti_compile_and_package(torch.export.export(model.eval(), args), package_path="model.pt2")';
const EXPORT_ONE = `In Python: ${SCRIPT} for platform pytorch_libtorch, or ${COMPILE} for platform torch_aoti.`;

/** The sentences for a file. In a remedy `FILE` stands for the path, so that its lines of Python can be pasted. */
export function describeKind(content: FileContent, file: OpenFile): { summary: string; remedy?: string } {
  const { what, remedy } = describe(content);
  const summary = `'${file.path}' is ${what}.`;
  return remedy === undefined
    ? { summary }
    : { summary, remedy: remedy.replaceAll('FILE', () => pythonString(file.path)) };
}

/** JSON's escapes are Python's. */
function pythonString(text: string): string {
  return JSON.stringify(text);
}

interface Description {
  readonly what: string;
  readonly remedy?: string;
}

function describe(content: FileContent): Description {
  switch (content.kind) {
    case 'torchscript':
      return { what: 'a TorchScript archive (platform pytorch_libtorch, usually model.pt)' };
    case 'aoti': {
      const models = content.models.map((model) => `'${model}'`).join(', ');
      return {
        what: `an AOTInductor package of ${models} (platform torch_aoti, usually model.pt2)`,
      };
    }
    case 'exported-program':
      return {
        what: 'an exported program that is not compiled yet (torch.export.save)',
        remedy:
          'Compile it, in Python: program = torch.export.load(FILE); ' +
          'torch._inductor.aoti_compile_and_package(program, package_path="model.pt2").',
      };
    case 'eager-pickle':
    case 'legacy-pickle':
    case 'pickle':
      return describePickled(content.kind, content.pickled);
    case 'onnx':
      return { what: 'an ONNX model', remedy: `It needs another backend; start from the PyTorch model. ${EXPORT_ONE}` };
    case 'safetensors':
      return {
        what: 'a safetensors file: weights without the code that uses them',
        remedy: `Load the weights into their module (model.load_state_dict(safetensors.torch.load_file(FILE))), then export that. ${EXPORT_ONE}`,
      };
    case 'git-lfs-pointer':
      return { what: 'a Git LFS pointer, not the file it points to', remedy: 'Fetch the file: git lfs pull.' };
    case 'html':
      return {
        what: 'an HTML page, probably the answer to a download that failed or needs a login',
        remedy: 'Open it to see why and download the model again.',
      };
    case 'empty':
      return {
        what: 'empty (0 bytes)',
        remedy: 'The copy or export did not finish; check the free disk space and do it again.',
      };
    case 'truncated-zip':
      return {
        what: 'a zip archive that was cut off',
        remedy: 'Copy or download it again and compare the sizes.',
      };
    case 'damaged-zip':
      return { what: 'a damaged zip archive', remedy: 'Copy or download it again, or export the model again.' };
    case 'zip':
      return { what: 'a zip archive, but not one that PyTorch writes for a model', remedy: EXPORT_ONE };
    case 'other':
      return {
        what: `no kind of model file that is known here (first bytes ${content.firstBytes})`,
        remedy: EXPORT_ONE,
      };
    default:
      return content satisfies never;
  }
}

const WRITERS = {
  'eager-pickle': 'torch.save',
  'legacy-pickle': 'torch.save in its format before PyTorch 1.6',
  pickle: 'pickle.dump',
};

function describePickled(kind: keyof typeof WRITERS, { contains, className, keys = [] }: Pickled): Description {
  const by = `written by ${WRITERS[kind]}`;
  const plain = kind === 'pickle';
  const load = plain ? 'pickle.load(open(FILE, "rb"))' : 'torch.load(FILE, weights_only=True)';
  switch (contains) {
    case 'state-dict':
      return {
        what: `a state dict, weights without the code that uses them, ${by} (keys ${show(keys)})`,
        remedy: `Load the weights into their module (model.load_state_dict(${load})), then export that. ${EXPORT_ONE}`,
      };
    case 'checkpoint':
      return {
        what: `a checkpoint, a dict with weights in it, ${by} (keys ${show(keys)})`,
        remedy: `Load its weights into their module (model.load_state_dict(${load}[KEY])), then export that. ${EXPORT_ONE}`,
      };
    case 'module':
      return {
        what: `a pickled module of class ${className}, whose code is not in the file, ${by}`,
        remedy: `Where that class can be imported: model = ${plain ? load : 'torch.load(FILE, weights_only=False)'}, then export it. ${EXPORT_ONE}`,
      };
    case 'tensor':
      return { what: `a single tensor, ${by}`, remedy: `Export the module that uses it. ${EXPORT_ONE}` };
    case 'object':
      return { what: `a pickled object of class ${className}, ${by}`, remedy: EXPORT_ONE };
    case 'other':
      return { what: `a pickled value without a model, ${by}`, remedy: EXPORT_ONE };
    case 'unknown':
      return {
        what: `a pickle that is damaged or too large to look into, ${by}`,
        remedy: 'Copy or download it again, or save it again.',
      };
    default:
      return contains satisfies never;
  }
}

function show(keys: readonly string[]): string {
  const shown = keys.slice(0, 4).join(', ');
  return keys.length > 4 ? `${shown} …` : shown;
}
