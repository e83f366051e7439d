import { describeSearch, findLibtorch, TORCH_RELEASE } from '../../lib/find-libtorch.js';
import { Problem } from './problem.mjs';

/**
 * The LibTorch to build against: in `directory`, or the one that the search finds.
 * @throws {Problem} with every place that was looked at
 */
export function requireLibtorch(directory) {
  const search = findLibtorch(directory === undefined ? {} : { directory });
  if (search.found) return search.found;
  throw new Problem(
    [
      `No usable LibTorch was found: install it with pip install "torch==${TORCH_RELEASE}.*", or name its directory with --libtorch or NEREID_LIBTORCH.`,
      ...describeSearch(search).map((line) => `  ${line}`),
    ].join('\n'),
  );
}
