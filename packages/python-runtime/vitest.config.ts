import { suite } from '../../vitest.base.ts';

/** One file at a time: each starts Python processes, and importing torch takes seconds of a core. */
export default suite({ fileParallelism: false, testTimeout: 120_000, hookTimeout: 120_000 });
