/** The same call for a terminal. */

export interface CurlCall {
  readonly url: string;
  readonly body: string;
  readonly headers: readonly (readonly [string, string])[];
  /** Whether the answer is shown as it comes. */
  readonly isStream?: boolean;
}

/** Characters of a body that stand in the command; a longer one is read from a file. */
const MAX_INLINE = 2000;

export const BODY_FILE = 'request.json';

export const isInline = (body: string): boolean => body.length <= MAX_INLINE;

/** A command for a POSIX shell. */
export function curlCommand({ url, body, headers, isStream = false }: CurlCall): string {
  const all = [['content-type', 'application/json'] as const, ...headers];
  return [
    `curl ${isStream ? '-N ' : ''}${quoted(url)}`,
    ...all.map(([name, value]) => `-H ${quoted(`${name}: ${value}`)}`),
    isInline(body) ? `-d ${quoted(body)}` : `--data-binary @${BODY_FILE}`,
  ].join(' \\\n  ');
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
