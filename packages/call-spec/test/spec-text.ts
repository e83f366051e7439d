/** Writes call specs the way torch does. */
import type { CallSpecSource, SpecNode } from '../src/index.ts';

export const leaf: SpecNode = { kind: 'leaf' };
export const tuple = (...children: SpecNode[]): SpecNode => ({ kind: 'tuple', children });
export const list = (...children: SpecNode[]): SpecNode => ({ kind: 'list', children });
export const dict = (entries: Record<string, SpecNode>): SpecNode => ({
  kind: 'dict',
  keys: Object.keys(entries),
  children: Object.values(entries),
});

/** The JSON of one tree, without the protocol. */
function nodeJson(node: SpecNode): unknown {
  if (node.kind === 'leaf') return { type: null, context: null, children_spec: [] };
  return {
    type: `builtins.${node.kind}`,
    context: node.kind === 'dict' ? JSON.stringify(node.keys) : 'null',
    children_spec: node.children.map(nodeJson),
  };
}

export function specText(node: SpecNode): string {
  return JSON.stringify([1, nodeJson(node)]);
}

/** A whole call spec; by default one tensor in, one out. */
export function source({ args = tuple(leaf), kwargs = dict({}), result = leaf } = {}): CallSpecSource {
  return { inputs: specText(tuple(args, kwargs)), outputs: specText(result) };
}
