/**
 * Maps with at most `limit` calls pending; results in the order of the items. Rejects with the first rejection.
 * @internal
 */
export async function mapLimited<T, R>(
  items: readonly T[],
  options: { readonly limit: number; readonly map: (item: T) => Promise<R> },
): Promise<R[]> {
  const results: R[] = new Array(items.length);
  const pending = items.entries();
  const lane = async (): Promise<void> => {
    for (const [index, item] of pending) results[index] = await options.map(item);
  };
  await Promise.all(Array.from({ length: Math.min(options.limit, items.length) }, lane));
  return results;
}
