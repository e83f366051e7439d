import { fileURLToPath } from 'node:url';
import { type NereidProcess, startCommand } from './nereid-process.ts';

const SCRIPT = fileURLToPath(new URL('../scripts/twelve-models.mjs', import.meta.url));

/** The repository of the model that crashes when it is told to. */
export const CRASHING_REPOSITORY = fileURLToPath(new URL('../repositories/crashing', import.meta.url));

/** Runs the command that makes the repository of the twelve models in a directory and serves it. */
export function startTwelveModels(
  directory: string,
  options: { readonly args?: readonly string[]; readonly nodeArgs?: readonly string[] } = {},
): Promise<NereidProcess> {
  const { args = [], nodeArgs = [] } = options;
  return startCommand([...nodeArgs, SCRIPT, directory, '--http-port', '0', '--log-format', 'default', ...args]);
}
