/** Which lines are logged, of all models and of single ones. */
import type { LogSettings } from '@nereid/core';
import { UsageError } from './errors.ts';

/** Severities of pino. */
export const LEVELS = { debug: 20, info: 30, warn: 40, error: 50 } as const;

/** The least severe lines that are logged of a model. */
export type ModelLogLevel = 'error' | 'warning' | 'info' | 'verbose';

const LEAST: Readonly<Record<ModelLogLevel, number>> = {
  error: LEVELS.error,
  warning: LEVELS.warn,
  info: LEVELS.info,
  verbose: LEVELS.debug,
};

/** @param own  level of the model that the line is about; undefined when it has none of its own */
export function chosenLevel(level: number, own: ModelLogLevel | undefined, settings: LogSettings): boolean {
  if (own !== undefined) return level >= LEAST[own];
  if (level >= LEVELS.error) return settings.error;
  if (level >= LEVELS.warn) return settings.warning;
  return level >= LEVELS.info ? settings.info : settings.verboseLevel > 0;
}

/**
 * Reads `NAME=LEVEL` of `--log-model-level`; the last of a model counts.
 * @throws {UsageError} for another form or level
 */
export function readModelLevels(texts: readonly string[]): ReadonlyMap<string, ModelLogLevel> {
  return new Map(
    texts.map((text) => {
      const at = text.lastIndexOf('=');
      const level = text.slice(at + 1).toLowerCase();
      if (at > 0 && isModelLevel(level)) return [text.slice(0, at), level];
      const levels = Object.keys(LEAST).join(', ');
      throw new UsageError(`option '--log-model-level' takes MODEL=LEVEL with a level of ${levels}, got '${text}'`);
    }),
  );
}

function isModelLevel(text: string): text is ModelLogLevel {
  return Object.hasOwn(LEAST, text);
}
