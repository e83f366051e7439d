import { expect, test } from 'vitest';
import { CommandRunner, documentedCommands } from '../src/documented-commands.ts';

test.each([
  'examples/strings/README.md',
  'examples/model-py/README.md',
  'examples/continuous-batching/README.md',
  'examples/custom-ops/README.md',
  'examples/hstu/README.md',
  'docs/hstu.md',
])(
  'the commands of %s print what it shows',
  async (document) => {
    const commands = documentedCommands(document);
    expect(commands.filter(({ printed }) => printed !== undefined)).not.toEqual([]);
    await using runner = new CommandRunner();
    for (const { command, printed } of commands) {
      const actual = await runner.run(command);
      if (printed !== undefined) expect(actual, command).toBe(printed);
    }
  },
  120_000,
);
