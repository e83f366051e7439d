import { openLog, optionsFromFlags, parseFlags, type RunningServer, startServer } from '@nereid/server';

/** A real server in this process on a free port; silent. */
export async function startQuietly(
  repositories: readonly string[],
  more: readonly string[] = [],
): Promise<RunningServer & { readonly url: string }> {
  const flags = [
    'http-port=0',
    'log-info=false',
    'log-warning=false',
    'log-error=false',
    'log-format=default',
    ...more,
  ];
  const places = repositories.map((repository) => `model-repository=${repository}`);
  const { options } = optionsFromFlags(parseFlags([...places, ...flags].map((flag) => `--${flag}`)));
  const server = await startServer(options, openLog(options.log));
  const { url } = server;
  if (url === undefined) throw new Error('the server serves no HTTP');
  return Object.assign(server, { url });
}
