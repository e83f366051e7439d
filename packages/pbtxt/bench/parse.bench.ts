import textformat from 'protobufjs/ext/textformat.js';
import { bench, describe } from 'vitest';
import { format, parseMessage, parseSyntax, printMessage, printSyntax } from '../src/index.ts';
import { modelConfig, SAMPLE } from '../test/support/model-config.ts';

const INPUT = 'input {\n  name: "INPUT__0"\n  data_type: TYPE_FP32\n  dims: [1, 3, 224, 224]\n}\n';
const MEGABYTE = INPUT.repeat(Math.ceil(1_000_000 / INPUT.length));

// The first line of each group is the part of protobufjs in the others: values without positions.
for (const [size, text] of [
  ['a configuration of 1 KB', SAMPLE],
  ['a text of 1 MB', MEGABYTE],
] as const) {
  describe(size, () => {
    const { document } = parseSyntax(text);
    const message = modelConfig.fromObject(parseMessage(modelConfig, text).message ?? {});
    bench('protobufjs textformat.fromText', () => void textformat.fromText(modelConfig, text));
    bench('parseMessage', () => void parseMessage(modelConfig, text));
    bench('parseSyntax', () => void parseSyntax(text));
    bench('printSyntax', () => void printSyntax(document));
    bench('printMessage', () => void printMessage(modelConfig, message));
    bench('format', () => void format(text));
  });
}
