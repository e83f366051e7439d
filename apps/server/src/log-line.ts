/** A line as people read it, of one that pino wrote. */
import { LEVELS } from './log-levels.ts';

export interface LineOptions {
  readonly format: 'default' | 'ISO8601';
  /** Whether control characters are escaped. */
  readonly escapes: boolean;
}

/** `I1129 22:15:01.123456 4711] message model=mlp version=1`, or the ISO 8601 form of it. */
export function humanLine(json: string, { format, escapes }: LineOptions): string {
  const { level, time, pid, msg, err, ...fields } = JSON.parse(json) as {
    level: number;
    time: number;
    pid: number;
    msg: string;
    err?: LoggedError;
  };
  const letter = level >= LEVELS.error ? 'E' : level >= LEVELS.warn ? 'W' : 'I';
  const iso = new Date(time).toISOString();
  const stamp =
    format === 'ISO8601'
      ? `${iso.slice(0, 19)}Z ${letter}`
      : `${letter}${iso.slice(5, 7)}${iso.slice(8, 10)} ${iso.slice(11, 23)}000`;
  const details = Object.entries(fields).map(
    ([key, value]) => ` ${key}=${typeof value === 'string' ? value : JSON.stringify(value)}`,
  );
  const text = msg + details.join('') + errorText(err);
  return `${stamp} ${pid}] ${escapes ? escapeControls(text) : text}`;
}

interface LoggedError {
  readonly code?: string;
  readonly stack: string;
}

/** Errors of ours are told by the message; of a stranger the whole stack is wanted. */
function errorText(error: LoggedError | undefined): string {
  return error === undefined || error.code !== undefined ? '' : ` ${error.stack}`;
}

function escapeControls(text: string): string {
  return text.replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]/g, (character) =>
    JSON.stringify(character).slice(1, -1),
  );
}
