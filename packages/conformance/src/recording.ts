/** Recorded exchanges with the original server, and the comparison of an answer of ours with one of them. */
import { readFileSync } from 'node:fs';
import { request } from 'node:http';
import { gunzipSync, inflateSync } from 'node:zlib';

export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly json?: unknown;
  readonly text?: string;
  /** Base64 of what follows the JSON header. */
  readonly binary?: string;
}

export interface Exchange {
  readonly name: string;
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Base64. */
  readonly body: string | null;
  readonly answer: Answer;
}

export function readExchanges(file: string): readonly Exchange[] {
  return readFileSync(file, 'utf8')
    .trim()
    .split('\n')
    .map((line) => parseJson(line) as Exchange);
}

/** Sends the request of an exchange as it was sent to the original: one connection each, Content-Length whenever there is a body. */
export async function replay(url: string, exchange: Exchange): Promise<Answer> {
  const body = exchange.body === null ? undefined : Buffer.from(exchange.body, 'base64');
  const headers = { ...exchange.headers, ...(body && { 'content-length': String(body.byteLength) }) };
  const { hostname, port } = new URL(url);
  return await new Promise<Answer>((resolve, reject) => {
    const call = request(
      { hostname, port, path: exchange.path, method: exchange.method, headers, agent: false },
      (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('error', reject);
        response.on('end', () =>
          resolve(
            readAnswer(response.statusCode ?? 0, response.headers as Record<string, string>, Buffer.concat(chunks)),
          ),
        );
      },
    );
    call.on('error', reject);
    call.end(body);
  });
}

function readAnswer(status: number, headers: Record<string, string>, bytes: Buffer): Answer {
  const encoding = headers['content-encoding'];
  const body = encoding === 'gzip' ? gunzipSync(bytes) : encoding === 'deflate' ? inflateSync(bytes) : bytes;
  const length = headers['inference-header-content-length'];
  if (length !== undefined) {
    const end = Number(length);
    return {
      status,
      headers,
      json: mask(parseJson(body.subarray(0, end).toString())),
      binary: body.subarray(end).toString('base64'),
    };
  }
  try {
    return { status, headers, json: mask(parseJson(body.toString())) };
  } catch {
    return { status, headers, text: body.toString('latin1') };
  }
}

/** JSON as Python reads it: NaN and Infinity are words, and integers beyond a double keep their digits (as text). */
function parseJson(text: string): unknown {
  const readable = text
    .replace(/(?<=[[:,]\s*)(-?Infinity|NaN)(?=\s*[\],}])/g, '"$1"')
    .replace(/(?<=[[:,]\s*)(-?\d{16,})(?=\s*[\],}])/g, '"$1"');
  return JSON.parse(readable);
}

/** Puts `<text>` for error texts and `<ns>` for times, as the recording does. */
function mask(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(mask);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => {
      if (key === 'error' && typeof inner === 'string') return [key, '<text>'];
      if ((key === 'ns' || key === 'last_inference') && typeof inner !== 'object') return [key, '<ns>'];
      return [key, mask(inner)];
    }),
  );
}

/**
 * What of `expected` the answer `actual` lacks or has otherwise, as `path: expected … got …` lines. Members that only `actual` has are allowed at the paths
 * `mayHaveMore` names.
 */
export function differences(
  expected: unknown,
  actual: unknown,
  mayHaveMore: (path: string) => boolean,
  path = '$',
): string[] {
  if (Array.isArray(expected) && Array.isArray(actual)) {
    if (expected.length !== actual.length)
      return [`${path}: expected ${expected.length} entries, got ${actual.length}`];
    return expected.flatMap((entry, index) => differences(entry, actual[index], mayHaveMore, `${path}[${index}]`));
  }
  if (isObject(expected) && isObject(actual)) {
    const missing = Object.keys(expected).filter((key) => !(key in actual));
    const extra = mayHaveMore(path) ? [] : Object.keys(actual).filter((key) => !(key in expected));
    return [
      ...missing.map((key) => `${path}.${key}: expected ${JSON.stringify(expected[key])}, got nothing`),
      ...extra.map((key) => `${path}.${key}: expected nothing, got ${JSON.stringify(actual[key])}`),
      ...Object.keys(expected)
        .filter((key) => key in actual)
        .flatMap((key) => differences(expected[key], actual[key], mayHaveMore, `${path}.${key}`)),
    ];
  }
  return Object.is(expected, actual) || expected === actual
    ? []
    : [`${path}: expected ${JSON.stringify(expected)}, got ${JSON.stringify(actual)}`];
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
