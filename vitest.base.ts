import { defineConfig, type ViteUserConfig } from 'vitest/config';

/** The one test recipe: siblings are taken from source, so a test never runs against a stale build. */
export function suite(test: NonNullable<ViteUserConfig['test']> = {}) {
  return defineConfig({
    resolve: { conditions: ['@nereid/source'] },
    // Vitest hands these to Node as well, where `import` would turn every `require` of a package with two builds into one of its ESM build.
    ssr: { resolve: { conditions: ['@nereid/source', 'node', 'module', 'default'] } },
    test: {
      include: ['test/**/*.test.ts'],
      benchmark: { include: ['bench/**/*.bench.ts'] },
      testTimeout: 20_000,
      reporters: ['default', ['json', { outputFile: 'test-results.json' }]],
      ...test,
    },
  });
}
