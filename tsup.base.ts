import { defineConfig, type Options } from 'tsup';

/** The one build recipe: ESM and declarations for Node 20; a package overrides only what differs. */
export function library(overrides: Options = {}) {
  return defineConfig({
    entry: ['src/index.ts'],
    format: 'esm',
    target: 'node20',
    platform: 'node',
    // Siblings are resolved from their built declarations, so a build also proves that those are usable.
    dts: { compilerOptions: { customConditions: [], noEmit: false, emitDeclarationOnly: true } },
    sourcemap: true,
    clean: true,
    splitting: true,
    treeshake: true,
    ...overrides,
  });
}
