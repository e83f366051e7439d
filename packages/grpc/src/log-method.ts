import { logSettingsDocument, readLogChanges } from '@nereid/core';
import { GrpcError } from './errors.ts';
import type { Answer, Plain } from './plain-message.ts';

/** Tells the settings of the log, after changing those that the request names. Either all of them are taken or none. */
export const answerLogSettings: Answer = ({ settings = {} }, { log }) => {
  if (log === undefined) throw new GrpcError('unsupported', 'this server does not let its log settings be seen');
  const changes = Object.entries(settings as Readonly<Record<string, Plain>>);
  log.update(readLogChanges(Object.fromEntries(changes.map(([name, value]) => [name, chosenOf(value)]))));
  return {
    settings: Object.fromEntries(
      Object.entries(logSettingsDocument(log.settings)).map(([name, value]) => [name, settingOf(value)]),
    ),
  };
};

/** The one value that is set; undefined when none is. What is not set is on the prototype, at its default. */
function chosenOf(value: Plain): unknown {
  return Object.values({ ...value })[0];
}

function settingOf(value: string | boolean | number): Plain {
  if (typeof value === 'boolean') return { boolParam: value };
  return typeof value === 'number' ? { uint32Param: value } : { stringParam: value };
}
