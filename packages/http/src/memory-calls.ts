/** Calls about shared memory: what is registered, and how that changes. */
import type { SharedMemoryRegions } from '@nereid/shared-memory';
import { type Answer, jsonAnswer } from './answer.ts';
import { HttpError } from './errors.ts';
import { parseJson } from './parse-json.ts';
import type { MemoryRoute } from './routes.ts';

/**
 * Answers a call.
 * @throws {SharedMemoryError} as the regions do; {HttpError} `bad-body` for a body that does not say what to register
 */
export function answerMemoryCall(
  { kind, memory, region }: MemoryRoute,
  body: string,
  regions: SharedMemoryRegions,
): Answer {
  switch (kind) {
    case 'memory-status':
      return jsonAnswer(
        JSON.stringify(memory === 'system' ? systemStatus(region, regions) : regions.cuda.status(region)),
      );
    case 'memory-register':
      if (memory === 'system') register(region, body, regions);
      else regions.cuda.register(region);
      return jsonAnswer('');
    case 'memory-unregister':
      if (memory === 'system') regions.unregister(region);
      else regions.cuda.unregister();
      return jsonAnswer('');
    default:
      return kind satisfies never;
  }
}

function systemStatus(region: string, regions: SharedMemoryRegions) {
  return regions.status(region).map(({ name, key, offset, byteSize }) => ({ name, key, offset, byte_size: byteSize }));
}

function register(name: string, body: string, regions: SharedMemoryRegions): void {
  regions.assertEnabled();
  const request = parseJson(body);
  if (typeof request !== 'object' || request === null || Array.isArray(request)) {
    throw new HttpError('bad-body', 'the body must be {"key": "/<object>", "offset": <bytes>, "byte_size": <bytes>}');
  }
  const { key, offset = 0, byte_size: byteSize } = { ...request } as Readonly<Record<string, unknown>>;
  if (typeof key !== 'string') throw wrongMember('key', 'a string', key);
  if (typeof offset !== 'number') throw wrongMember('offset', 'a number of bytes', offset);
  if (typeof byteSize !== 'number') throw wrongMember('byte_size', 'a number of bytes', byteSize);
  regions.register({ name, key, offset, byteSize });
}

function wrongMember(key: string, expected: string, found: unknown): HttpError {
  return new HttpError(
    'bad-body',
    `Unable to parse '${key}': expected ${expected}, found ${JSON.stringify(found) ?? 'nothing'}`,
  );
}
