import { defaultText, spelling } from './help.ts';
import { FLAGS, type Flag, type FlagGroup } from './table.ts';

const HEAD = `# Options of \`nereid serve\`

Written from the table that the options are read by; \`nereid serve --help WORD\` searches it. Names, meanings and defaults are those of tritonserver where it has
the option; [compatibility.md](compatibility.md) names the differences.
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
