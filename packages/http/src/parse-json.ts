import { HttpError } from './errors.ts';

/** @throws {HttpError} `bad-body` for a text that is no JSON */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new HttpError('bad-body', `failed to parse the request JSON buffer: ${String(error)}`, { cause: error });
  }
}
