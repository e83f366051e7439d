import { type LogControl, logSettingsDocument, readLogChanges } from '@nereid/core';
import { type Answer, jsonAnswer } from './answer.ts';
import { HttpError } from './errors.ts';
import { parseJson } from './parse-json.ts';

/**
 * Tells the settings of the log, after changing those that the body names. Either all of them are taken or none.
 * @param body  '' changes nothing
 * @throws {InferenceServerError} as `readLogChanges` does; {HttpError} `bad-body` for a body that is no object, `unsupported` without a log
 */
export function answerLogging(body: string, log: LogControl | undefined): Answer {
  if (log === undefined) throw new HttpError('unsupported', 'this server does not let its log settings be seen');
  if (body !== '') log.update(readLogChanges(readObject(body)));
  return jsonAnswer(JSON.stringify(logSettingsDocument(log.settings)));
}

function readObject(body: string): Readonly<Record<string, unknown>> {
  const request = parseJson(body);
  if (typeof request === 'object' && request !== null && !Array.isArray(request)) return { ...request };
  throw new HttpError('bad-body', 'the body must be an object of log settings such as {"log_verbose_level": 1}');
}
