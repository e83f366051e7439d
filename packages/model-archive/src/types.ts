import type { Datatype } from '@nereid/core';

/** A dimension that may vary between calls: `min` ≤ size ≤ `max`; `max` null means that the file states no upper bound. */
export interface DimRange {
  readonly min: number;
  readonly max: number | null;
  /** Dimensions with the same symbol always have the same size, across all inputs and outputs. Absent where the file does not say. */
  readonly symbol?: string;
}

/** A fixed size, or a range. */
export type DeclaredDim = number | DimRange;

/** What a file declares of one tensor. Absent fields are not stated by the file. */
export interface DeclaredTensor {
  /** `INPUT__2`, `OUTPUT__0`: the number is its position among the inputs or outputs of the compiled model. */
  readonly ordinalName: string;
  /** `ARGS[2][keyA]`, `RESULT[k]`; absent when unknown or ambiguous. */
  readonly forwardName?: string;
  /** The compiler's name of an input, e.g. `arg3_1`. */
  readonly compiledName?: string;
  readonly datatype?: Datatype;
  /** Torch's name of the datatype, also of those that no client can send, e.g. `complex64`. */
  readonly torchDtype?: string;
  readonly shape?: readonly DeclaredDim[];
  /**
   * False when the model was compiled for an input that is not row-major without gaps. Given a row-major one, as requests carry, it
   * computes with wrong elements. Absent where the file does not say.
   */
  readonly contiguous?: boolean;
  /** True for an output that is None: the package never writes it. */
  readonly isNone?: true;
  /** Kind of device that the tensor must be on: `cpu`, `cuda` … */
  readonly device?: string;
}

/** What a compiled package was made for. Absent fields are not stated by the file. */
export interface CompileTarget {
  /** `cpu`, `cuda`, `xpu`, `mps`. */
  readonly device?: string;
  /** As Python's `sys.platform`: `linux`, `darwin`, `win32`. */
  readonly platform?: string;
  /** As Python's `platform.machine()`: `x86_64`, `aarch64`, `arm64`, `AMD64`. */
  readonly machine?: string;
  /** Vector instructions, as torch names them: `AVX2`, `AVX512 AVX512_VNNI`, `ASIMD`. */
  readonly cpuIsa?: string;
  /** Of the GPU, e.g. `90`. */
  readonly computeCapability?: string;
}

/** What a `.pt2` package of AOTInductor says of itself. */
export interface AotiInspection {
  /** Names of all models in the archive, in its order. */
  readonly models: readonly string[];
  /** The model that the rest is about. */
  readonly model: string;
  readonly target: CompileTarget;
  /** True when the package holds sources only: loading it runs the machine's C++ compiler. */
  readonly needsCompiler: boolean;
  readonly inputs?: readonly DeclaredTensor[];
  readonly outputs?: readonly DeclaredTensor[];
  /** Constants (weights) that the compiled model holds. */
  readonly constantCount?: number;
  /** Parameters and buffers among them that the compiler did not make itself: at least so many were lifted by torch.export. */
  readonly parameterCount?: number;
  /** The two strings that the loader's `get_call_spec()` gives. */
  readonly callSpec?: { readonly inputs: string; readonly outputs: string };
  /** What could not be told and why, and what the model's owner should know; one sentence each. */
  readonly notes: readonly string[];
}

/** One argument of a TorchScript method. */
export interface TorchScriptArgument {
  readonly name: string;
  /** Type as the archive spells it: `Tensor`, `Optional[Tensor]`, `Dict[str, Tensor]`. */
  readonly type: string;
  /** Source text of the default; absent when the caller must pass a value. */
  readonly default?: string;
}

/** What a TorchScript archive says of itself. */
export interface TorchScriptInspection {
  /** Qualified class name of the module, e.g. `__torch__.Net`. */
  readonly className: string;
  /** Arguments of forward without self; absent when the module has no forward or its source is not there. */
  readonly arguments?: readonly TorchScriptArgument[];
  /** Return type of forward as the archive spells it; absent together with `arguments`. */
  readonly returnType?: string;
  /** Types of the tensors or values that forward returns: one for a tensor, each of a tuple or named tuple; absent when their number is open. */
  readonly returns?: readonly string[];
  /** Value of the module's training flag; absent when it has none (frozen modules). */
  readonly training?: boolean;
  /** All methods of the class. */
  readonly methods: readonly string[];
}
