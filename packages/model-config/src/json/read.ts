import { LineIndex } from '@nereid/pbtxt';
import type { ConfigDiagnostic } from '../diagnostic.ts';
import type { ReadMessage } from '../parse.ts';
import { decodeJson, type JsonProblem } from './decode.ts';
import { type JsonNode, JsonSyntaxError, parseJson } from './parse.ts';

/** Limits of what a client may send; those of `@nereid/pbtxt` for the text form. */
const MAX_BYTES = 4 * 1024 * 1024;
const MAX_DEPTH = 100;
const MAX_DIAGNOSTICS = 1000;

const BYTE_ORDER_MARK = '\ufeff';

/** Reads the JSON form of a configuration as a message of the schema. Never throws. */
export function readJson(text: string): ReadMessage {
  const lines = new LineIndex(text);
  const at = (start: number, end: number) => lines.span(start, end);
  const refuse = (diagnostic: Pick<ConfigDiagnostic, 'reason' | 'message' | 'span'>): ReadMessage => ({
    diagnostics: [{ severity: 'error', ...diagnostic }],
    locate: () => undefined,
  });
  if (Buffer.byteLength(text) > MAX_BYTES) {
    return refuse({ reason: 'too-large', message: `the text is longer than ${MAX_BYTES} bytes`, span: at(0, 0) });
  }
  try {
    const { message, problems, places } = decodeJson(parseJson(withoutMark(text), MAX_DEPTH));
    return {
      message: problems.length === 0 ? message : undefined,
      diagnostics: toDiagnostics(problems, lines),
      locate: (path) => spanOf(places.get(path), lines),
    };
  } catch (thrown) {
    if (!(thrown instanceof JsonSyntaxError)) throw thrown;
    return refuse({ reason: 'invalid-json', message: thrown.message, span: at(thrown.start, thrown.end) });
  }
}

/** A leading byte-order mark becomes white space, so that offsets stay. */
function withoutMark(text: string): string {
  return text.startsWith(BYTE_ORDER_MARK) ? ` ${text.slice(1)}` : text;
}

function spanOf(node: JsonNode | undefined, lines: LineIndex) {
  return node && lines.span(node.start, node.end);
}

function toDiagnostics(problems: readonly JsonProblem[], lines: LineIndex): ConfigDiagnostic[] {
  const shown = problems.slice(0, MAX_DIAGNOSTICS).map(({ start, end, ...problem }): ConfigDiagnostic => {
    return { severity: 'error', ...problem, span: lines.span(start, end) };
  });
  const next = problems[MAX_DIAGNOSTICS];
  if (next === undefined) return shown;
  const message = `more than ${MAX_DIAGNOSTICS} problems; the others are not listed`;
  return [
    ...shown,
    { severity: 'error', reason: 'too-many-problems', message, span: lines.span(next.start, next.end) },
  ];
}
