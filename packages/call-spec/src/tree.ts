/** Where a tensor (or a burnt-in value) stands in the arguments or the result. */
export interface LeafNode {
  readonly kind: 'leaf';
}

export interface SequenceNode {
  readonly kind: 'tuple' | 'list';
  readonly children: readonly SpecNode[];
}

/** `keys[i]` belongs to `children[i]`; insertion order, which is the order of the leaves. An OrderedDict is a dict. */
export interface DictNode {
  readonly kind: 'dict';
  readonly keys: readonly string[];
  readonly children: readonly SpecNode[];
}

/** One node of a call spec. Containers may be empty and then have no leaves. */
export type SpecNode = LeafNode | SequenceNode | DictNode;

/** How a program is called: the trees of its positional arguments, its keyword arguments and its result. */
export interface CallSpec {
  readonly args: SequenceNode;
  readonly kwargs: DictNode;
  readonly result: SpecNode;
}
