import type { Flag, FlagGroup } from './flag.ts';
import { defaultText, spelling } from './help.ts';
import { FLAGS } from './table.ts';

const HEAD = `# Options of \`nereid serve\`

Written from the table that the options are read by; \`nereid serve --help WORD\` searches it. Names, meanings and defaults are those of tritonserver where it has
the option; [compatibility.md](compatibility.md) names the differences.

Every option has three places. The first that sets it counts, also for lists:

1. the command line: \`--http-port=8080\` or \`--http-port 8080\`, or any unambiguous beginning of the name
2. the environment: \`NEREID_HTTP_PORT=8080\`, the name in capitals with \`_\` for \`-\`. What may be repeated has its members between semicolons,
   \`NEREID_MODEL_REPOSITORY=models;more\`, or is a list in JSON where a member has a semicolon in it. A variable that is empty says nothing; one that only
   resembles a variable of an option is warned about. What Kubernetes sets for services (\`NEREID_HTTP_PORT=tcp://10.0.0.1:8000\`) is no option
3. a file, YAML or JSON, that \`--config\` or \`NEREID_CONFIG\` names: \`http-port: 8080\`

\`\`\`yaml
# nereid serve --config nereid.yaml
# yaml-language-server: $schema=node_modules/@nereid/server/config.schema.json
model-repository: models # may be repeated: one value, or a list
http-address: 0.0.0.0
exit-on-error: true
backend-config: # key=value: also a map; name,key=value: a map in a map
  pytorch:
    default-max-batch-size: 8
trace-config:
  rate: 100
  level: [TIMESTAMPS]
  triton:
    file: traces/requests.json
\`\`\`

Relative paths in a file are relative to the file, those on the command line and in the environment to the working directory. Everything in it is checked at once; what is
wrong is told with line and column. Its JSON Schema is in the package, \`@nereid/server/config.schema.json\`, and \`nereid serve --config-schema\` prints it.

Of the original's variables \`TRITON_SERVER_ESCAPE_LOG_MESSAGES=0\` (messages of the log as they are) and \`OTEL_BSP_MAX_QUEUE_SIZE\`, \`OTEL_BSP_SCHEDULE_DELAY\` and
\`OTEL_BSP_MAX_EXPORT_BATCH_SIZE\` (where \`--trace-config\` does not set them) are read. The instances of a model are created one after the other, so that
\`TRITON_PARALLEL_INSTANCE_LOADING\` has no effect, and the test hooks \`TRITONSERVER_DELAY_…\` have none.
`;

/** The page of the documentation that lists every option. */
export function flagsPage(): string {
  const groups = new Set(Object.values<Flag>(FLAGS).map(({ group }) => group));
  return [HEAD, ...[...groups].map(section)].join('\n');
}

function section(group: FlagGroup): string {
  const rows = Object.entries<Flag>(FLAGS)
    .filter(([, flag]) => flag.group === group)
    .map(([name, flag]) => row([`\`${spelling(name, flag)}\``, defaultText(flag), flag.help]));
  return [`## ${group}`, '', row(['option', 'default', 'meaning']), row(['---', '---', '---']), ...rows, ''].join('\n');
}

function row(cells: readonly string[]): string {
  return `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
}
