import { parseMessage, type Span } from '@nereid/pbtxt';
import { type ConfigDiagnostic, hasErrors, type Locate, toDiagnostic } from './diagnostic.ts';
import { modelConfigFromMessage } from './from-message.ts';
import type { ModelConfig } from './generated/types.ts';
import { readJson } from './json/read.ts';
import { modelConfigType } from './schema.ts';

export interface ParseOptions {
  /** `pbtxt`, the default, is text format as in config.pbtxt; `json` the form of the config endpoint and of a load override. */
  readonly format?: 'pbtxt' | 'json' | undefined;
}

export interface ParsedModelConfig {
  /** As written, with the schema's defaults: nothing is deduced, normalised or checked. Absent when the text has errors. */
  readonly config?: ModelConfig;
  /** Everything found, in the order of the text. */
  readonly diagnostics: readonly ConfigDiagnostic[];
  readonly locate: Locate;
}

/** What a reader of one format makes of a text. */
export interface ReadMessage {
  /** Absent when the text has errors. */
  readonly message?: object | undefined;
  readonly diagnostics: readonly ConfigDiagnostic[];
  /** Place of exactly the value at a path. */
  locate(path: string): Span | undefined;
}

/**
 * Reads the text of a model configuration. In text format an empty text is an empty configuration.
 * Never throws: faults of the text, unknown fields (with the nearest name) and values that cannot be kept exactly are diagnostics.
 */
export function parseModelConfig(text: string, options: ParseOptions = {}): ParsedModelConfig {
  const read: ReadMessage = options.format === 'json' ? readJson(text) : parseMessage(modelConfigType(), text);
  const locate: Locate = (path) => locateNearest(path, read);
  if (read.message === undefined) return { diagnostics: read.diagnostics, locate };
  const { config, problems } = modelConfigFromMessage(read.message);
  const diagnostics = [
    ...read.diagnostics,
    ...problems.map((problem) => toDiagnostic('unsupported-value', problem, locate)),
  ];
  return { ...(!hasErrors(diagnostics) && { config }), diagnostics, locate };
}

/** A missing value is shown at what should hold it: `input[0].dims` at `input[0]`. */
function locateNearest(path: string, { locate }: ReadMessage): Span | undefined {
  for (let at = path; at !== ''; at = parentPath(at)) {
    const span = locate(at);
    if (span !== undefined) return span;
  }
  return undefined;
}

const LAST_SEGMENT = /(?:\.?[^.[\]]+|\["(?:[^"\\]|\\.)*"\]|\[\d+\])$/;

function parentPath(path: string): string {
  const last = LAST_SEGMENT.exec(path);
  return last === null ? '' : path.slice(0, last.index);
}
