/** Compression of inference bodies, both ways. */
import { deflate, gunzip, gzip, inflate } from 'node:zlib';
import { HttpError } from './errors.ts';
import { SIZE_ADVICE } from './options.ts';

export type ContentEncoding = 'identity' | 'gzip' | 'deflate';

/** What the client is told when it sent an encoding that is not supported. */
export const SUPPORTED_ENCODINGS = 'gzip, deflate';

function isEncoding(token: string): token is ContentEncoding {
  return token === 'identity' || token === 'gzip' || token === 'deflate';
}

/**
 * Encoding of a request body.
 * @throws {HttpError} UNSUPPORTED `unsupported-encoding` for anything but gzip, deflate, identity and nothing
 */
export function contentEncodingOf(header: string | undefined): ContentEncoding {
  if (header === undefined) return 'identity';
  const token = header.trim().toLowerCase();
  if (token === '') return 'identity';
  if (isEncoding(token)) return token;
  throw new HttpError(
    'unsupported-encoding',
    `Unsupported Content-Encoding '${header}': expected ${SUPPORTED_ENCODINGS} or identity`,
  );
}

/** Encoding for an answer: of those we have, the one with the greatest weight, the first of equals; identity when none is listed. */
export function acceptedEncoding(header: string | undefined): ContentEncoding {
  let best: ContentEncoding = 'identity';
  let bestWeight = 0;
  for (const item of header?.split(',') ?? []) {
    const [token = '', ...parameters] = item.split(';');
    const name = token.trim().toLowerCase();
    const weight = weightOf(parameters);
    if (!isEncoding(name) || weight <= bestWeight) continue;
    best = name;
    bestWeight = weight;
  }
  return best;
}

/** The `q` of a list item; 1 without one, 0 when it is no number. */
function weightOf(parameters: readonly string[]): number {
  const quality = parameters.map((parameter) => parameter.trim().toLowerCase()).find((text) => text.startsWith('q='));
  if (quality === undefined) return 1;
  const weight = Number(quality.slice(2).trim());
  return Number.isNaN(weight) ? 0 : weight;
}

/**
 * Inflates a body, on a thread of Node's pool.
 * @throws {HttpError} `bad-compression` when it is empty or no such stream, `body-too-large` when it inflates to more than `limit` bytes
 */
export function decompress(
  body: Buffer,
  encoding: Exclude<ContentEncoding, 'identity'>,
  limit: number,
): Promise<Buffer> {
  if (body.length === 0) return Promise.reject(new HttpError('bad-compression', `the ${encoding} body is empty`));
  const run = encoding === 'gzip' ? gunzip : inflate;
  return new Promise((resolve, reject) => {
    run(body, { maxOutputLength: limit }, (error, inflated) => {
      if (error === null) resolve(inflated);
      else reject(inflateFailure(error, encoding, limit));
    });
  });
}

function inflateFailure(error: NodeJS.ErrnoException, encoding: ContentEncoding, limit: number): HttpError {
  if (error.code === 'ERR_BUFFER_TOO_LARGE') {
    return new HttpError(
      'body-too-large',
      `the body inflates to more than the limit of ${limit} bytes. ${SIZE_ADVICE}`,
    );
  }
  return new HttpError('bad-compression', `the body is no valid ${encoding} stream: ${error.message}`, {
    cause: error,
  });
}

/** Compresses an answer, on a thread of Node's pool. */
export function compress(body: Buffer, encoding: Exclude<ContentEncoding, 'identity'>): Promise<Buffer> {
  const run = encoding === 'gzip' ? gzip : deflate;
  return new Promise((resolve, reject) => {
    run(body, (error, deflated) => (error === null ? resolve(deflated) : reject(error)));
  });
}
