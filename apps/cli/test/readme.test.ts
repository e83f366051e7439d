import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { nereid, root } from './nereid.ts';

const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8');
const block = /^```console\n(.*?)^```$/ms.exec(readme)?.[1] ?? '';
const sessions = block.split(/^\$ /m).filter((text) => text.trim() !== '');

/** The vector instructions are those of the machine that compiled the example. */
const portable = (text: string) => text.replace(/(for cpu, )\S+, \S+, .*\.$/m, '$1…');

it.each(sessions)('shows what the command prints: %s', async (session) => {
  const [line = '', ...expected] = session.split('\n');
  const [, stdin = '', command = ''] = /^(?:echo '(.*)' \| )?nereid (.*)$/.exec(line) ?? [];
  const argv = command.split(' ').map((word) => word.replace(/^examples\//, `${root}examples/`));
  const { stdout, stderr } = await nereid(argv, { stdin: `${stdin}\n` });
  expect(portable(stdout + stderr).trimEnd()).toBe(portable(expected.join('\n')).trimEnd());
});

it('lists every command', async () => {
  const { stdout } = await nereid(['--help']);
  const commands = [...stdout.matchAll(/^ {2}(\w+) .*$/gm)].map((match) => match[1]).filter((name) => name !== 'help');
  expect(commands.length).toBeGreaterThan(0);
  for (const command of commands) expect(readme).toContain(`nereid ${command} `);
});
