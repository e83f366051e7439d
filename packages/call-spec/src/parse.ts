/**
 * Reads the two JSON strings of a call spec, as `torch.export` writes them: `[protocol, node]`, where
 *
 *     node = { "type": T, "context": C, "children_spec": [node…] }
 *
 * `type` null is a leaf, `builtins.tuple`, `builtins.list` and `builtins.dict` are containers; a dict's keys are in `context`, as an array
 * or (what torch writes) as a string that holds one. The input tree is a tuple of the positional tuple and the keyword dict.
 *
 * Two differences from Triton's reader: empty containers are valid, so keyword-only programs load; `collections.OrderedDict` is a dict.
 */
import { CallSpecError, type CallSpecReason } from './errors.ts';
import { type CallSpecLimits, DEFAULT_LIMITS } from './limits.ts';
import type { CallSpec, SpecNode } from './tree.ts';

/** The two strings of a package's `get_call_spec()`. */
export interface CallSpecSource {
  readonly inputs: string;
  readonly outputs: string;
}

/** What `torch.utils._pytree` has written since call specs exist. */
const PROTOCOL = 1;

const CONTAINERS = new Map<string, 'tuple' | 'list' | 'dict'>([
  ['builtins.tuple', 'tuple'],
  ['builtins.list', 'list'],
  ['builtins.dict', 'dict'],
  ['collections.OrderedDict', 'dict'],
]);

/**
 * Parses both strings of a call spec.
 *
 * @throws {CallSpecError} with one problem that names the path of the node, e.g. `inputs[0][2]`: child 2 of child 0 of the input tree
 * Source: `torch.utils._pytree.treespec_dumps`; triton pytorch_backend `src/pt2/call_spec.cc`.
 */
export function parseCallSpec(source: CallSpecSource, limits: CallSpecLimits = {}): CallSpec {
  const bounds = { ...DEFAULT_LIMITS, ...limits };
  const inputs = parseTree(source.inputs, 'inputs', bounds);
  return { ...splitInputs(inputs), result: parseTree(source.outputs, 'outputs', bounds) };
}

function splitInputs(root: SpecNode): Pick<CallSpec, 'args' | 'kwargs'> {
  if (root.kind === 'tuple' && root.children.length === 2) {
    const [args, kwargs] = root.children;
    if (args?.kind === 'tuple' && kwargs?.kind === 'dict') return { args, kwargs };
  }
  return refuse(
    'input-root',
    `inputs: expected a tuple of a tuple (positional arguments) and a dict (keyword arguments), got ${describe(root)}. ` +
      'Only programs exported by torch.export.export are called this way; export the model with it.',
  );
}

function describe(node: SpecNode): string {
  switch (node.kind) {
    case 'leaf':
      return 'a leaf';
    case 'dict':
      return `a dict with ${node.keys.length} keys`;
    case 'tuple':
    case 'list':
      return `a ${node.kind} of ${node.children.length} (${node.children.map(({ kind }) => kind).join(', ')})`;
    default:
      return node satisfies never;
  }
}

function parseTree(text: string, name: 'inputs' | 'outputs', limits: Required<CallSpecLimits>): SpecNode {
  if (text.length > limits.maxLength) {
    refuse('limit', `${name}: ${text.length} characters, at most ${limits.maxLength} are read (option maxLength).`);
  }
  const document = parseJson(text, name);
  if (!Array.isArray(document) || document.length !== 2) {
    return refuse('not-a-spec', `${name}: expected an array of two, [protocol, node], got ${show(document)}.`);
  }
  const [protocol, root]: unknown[] = document;
  if (protocol !== PROTOCOL) {
    refuse(
      'protocol',
      `${name}: unsupported call spec protocol ${show(protocol)}, expected ${PROTOCOL}. ` +
        'Export the model again with a PyTorch release that writes it, or use a newer Nereid.',
    );
  }
  return new TreeParser(limits).node(root, name, 0);
}

function parseJson(text: string, name: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    return refuse('not-json', `${name}: not JSON: ${cause instanceof Error ? cause.message : String(cause)}.`);
  }
}

class TreeParser {
  readonly #limits: Required<CallSpecLimits>;
  #nodes = 0;

  constructor(limits: Required<CallSpecLimits>) {
    this.#limits = limits;
  }

  node(value: unknown, path: string, depth: number): SpecNode {
    this.#checkLimits(path, depth);
    if (!isRecord(value)) return refuse('not-a-node', `${path}: expected an object, got ${show(value)}.`);
    if (typeof value.type !== 'string') return { kind: 'leaf' };

    const kind = CONTAINERS.get(value.type);
    switch (kind) {
      case 'tuple':
      case 'list':
        parseContext(value.context, path);
        return { kind, children: this.#children(value, path, depth) };
      case 'dict': {
        const keys = parseKeys(value.context, path);
        const children = this.#children(value, path, depth);
        if (keys.length !== children.length) {
          refuse('children', `${path}: a dict of ${keys.length} keys with ${children.length} children.`);
        }
        return { kind, keys, children };
      }
      case undefined:
        return refuse(
          'node-type',
          `${path}: container type ${show(value.type)} is not supported, only tuple, list, dict and OrderedDict are. ` +
            'Wrap the module in one whose forward takes and returns those, and export the wrapper.',
        );
      default:
        return kind satisfies never;
    }
  }

  #children(value: Record<string, unknown>, path: string, depth: number): SpecNode[] {
    const children: unknown = value.children_spec;
    if (!Array.isArray(children)) {
      return refuse('children', `${path}: children_spec must be an array, got ${show(children)}.`);
    }
    return children.map((child: unknown, index) => this.node(child, `${path}[${index}]`, depth + 1));
  }

  #checkLimits(path: string, depth: number): void {
    const { maxDepth, maxNodes } = this.#limits;
    if (depth > maxDepth) refuse('limit', `${path}: nested deeper than ${maxDepth} (option maxDepth).`);
    this.#nodes += 1;
    if (this.#nodes > maxNodes) refuse('limit', `${path}: more than ${maxNodes} nodes (option maxNodes).`);
  }
}

/** The array that a context is or holds; `undefined` where there is none. */
function parseContext(context: unknown, path: string): unknown[] | undefined {
  const value = typeof context === 'string' ? parseContextString(context, path) : context;
  if (value === null || value === undefined) return undefined;
  if (Array.isArray(value)) return value;
  return refuse('context', `${path}: context must be null, an array or a string that holds one, got ${show(context)}.`);
}

function parseContextString(context: string, path: string): unknown {
  try {
    return JSON.parse(context);
  } catch {
    return refuse('context', `${path}: the context string is not JSON: ${show(context)}.`);
  }
}

function parseKeys(context: unknown, path: string): string[] {
  const values = parseContext(context, path);
  if (values === undefined) {
    return refuse('context', `${path}: a dict needs its keys in the context, got ${show(context)}.`);
  }
  const keys = new Set<string>();
  for (const value of values) {
    if (typeof value !== 'string') {
      return refuse(
        'context',
        `${path}: dict keys must be strings, got ${show(value)}. Use strings as keys of the dicts that forward takes and returns.`,
      );
    }
    if (keys.has(value)) refuse('duplicate-key', `${path}: the key ${show(value)} stands twice in one dict.`);
    keys.add(value);
  }
  return [...keys];
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A value as messages show it: JSON, cut after 60 characters. */
function show(value: unknown): string {
  const text = JSON.stringify(value) ?? 'nothing';
  return text.length <= 60 ? text : `${text.slice(0, 60)}…`;
}

function refuse(reason: CallSpecReason, message: string): never {
  throw new CallSpecError({ reason, message });
}
