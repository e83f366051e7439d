/** The same call for a terminal. */
import type { Body } from './infer-body.ts';
import { bodyHeaders } from './server.ts';

export interface CurlCall {
  readonly url: string;
  readonly body: Body;
  readonly headers: readonly (readonly [string, string])[];
  /** Whether the answer is shown as it comes. */
  readonly isStream?: boolean;
}

/** Characters of a body that stand in the command; a longer one is read from a file. */
const MAX_INLINE = 2000;

export const bodyFile = ({ blobs }: Body): string => (blobs.length === 0 ? 'request.json' : 'request.bin');

export const isInline = ({ head, blobs }: Body): boolean => blobs.length === 0 && head.length <= MAX_INLINE;

/** A command for a POSIX shell. */
export function curlCommand({ url, body, headers, isStream = false }: CurlCall): string {
  const all = [...bodyHeaders(body), ...headers];
  return [
    `curl ${isStream ? '-N ' : ''}${quoted(url)}`,
    ...all.map(([name, value]) => `-H ${quoted(`${name}: ${value}`)}`),
    isInline(body) ? `-d ${quoted(body.head)}` : `--data-binary @${bodyFile(body)}`,
  ].join(' \\\n  ');
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
