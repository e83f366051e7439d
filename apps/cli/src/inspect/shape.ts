import type { DeclaredDim, DeclaredTensor } from '@nereid/model-archive';

/** `[1..8, 64]`; `[2.., 3]` where the file states no upper bound. */
export function formatDims(shape: readonly DeclaredDim[]): string {
  return `[${shape.map(formatDim).join(', ')}]`;
}

function formatDim(dim: DeclaredDim): string {
  return typeof dim === 'number' ? String(dim) : `${dim.min}..${dim.max ?? ''}`;
}

/** For each symbol that stands in several places, those places: `dimension 0 of INPUT__0, OUTPUT__0`. */
export function equalDims(tensors: readonly DeclaredTensor[]): string[] {
  const places = new Map<string, Map<number, string[]>>();
  for (const { ordinalName, shape = [] } of tensors) {
    for (const [index, dim] of shape.entries()) {
      if (typeof dim === 'number' || dim.symbol === undefined) continue;
      const byIndex = places.get(dim.symbol) ?? new Map<number, string[]>();
      byIndex.set(index, [...(byIndex.get(index) ?? []), ordinalName]);
      places.set(dim.symbol, byIndex);
    }
  }
  return [...places.values()]
    .filter((byIndex) => [...byIndex.values()].flat().length > 1)
    .map((byIndex) => [...byIndex].map(([index, names]) => `dimension ${index} of ${names.join(', ')}`).join('; '));
}
