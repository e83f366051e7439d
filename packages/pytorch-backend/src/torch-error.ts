/**
 * Torch's error texts, cut down to what helps the reader.
 *
 * A failed TorchScript run carries two tracebacks (of the serialised code, then of the original Python) and ends with `<Error>: <message>`:
 *
 *     Traceback of TorchScript, original code (most recent call last):
 *       File "/home/me/model.py", line 8, in forward
 *             return torch.matmul(x, y)
 *                    ~~~~~~~~~~~~ <--- HERE
 *     RuntimeError: mat1 and mat2 shapes cannot be multiplied (1x3 and 4x5)
 *
 * which becomes `mat1 and mat2 shapes cannot be multiplied (1x3 and 4x5); at model.py:8, in forward: return torch.matmul(x, y)`.
 * C++ texts end in `Exception raised from …` and stack frames, which go.
 */
const CPP_TAIL = /\n?(?:Exception raised from |C\+\+ CapturedTraceback:|frame #\d+: )[\s\S]*$/;
const MINIZ_ADVICE = /\s*This is an internal miniz error\.[\s\S]*$/;
const TRACEBACK = /Traceback of TorchScript/;
const FRAME = /^ *File "([^"]*)", line (\d+)(?:, in (\S+))?$/;
const HERE = /^(\s*)(~+) <--- HERE$/;
const ERROR_LINE = /^(?:builtins\.|torch\.jit\.)?(\w+(?:Error|Exception)): ([\s\S]*)$/;
const PLAIN_ERRORS = new Set(['RuntimeError', 'Error']);
const UNKNOWN_OPERATOR =
  /Unknown builtin op: ([\w:.]+\w)|Could not find schema for ([\w:.]+\w)|(?:Couldn't|Could not) find an operator for ([\w:.]+\w)/;

/** The useful part of an error text of torch, in one line wherever torch's message is one. */
export function trimTorchText(text: string): string {
  const operator = unknownOperator(text);
  if (operator !== undefined) return unknownOperatorText(operator);
  const body = text.replace(CPP_TAIL, '').replace(MINIZ_ADVICE, '').trim();
  return TRACEBACK.test(body) ? fromTraceback(body) : withoutErrorName(body);
}

/** Name of the operator that torch does not know, e.g. `my_ops::modulo`, when that is what the text says. */
export function unknownOperator(text: string): string | undefined {
  const match = UNKNOWN_OPERATOR.exec(text);
  return match?.[1] ?? match?.[2] ?? match?.[3];
}

function unknownOperatorText(operator: string): string {
  return (
    `the model calls operator '${operator}', which this torch does not know. ` +
    'Operators outside torch come in a shared library, built against the same torch version: name it in parameter CUSTOM_OPS_LIBRARIES, or start ' +
    'the server with --custom-ops /path/to/that-library.so.'
  );
}

function fromTraceback(text: string): string {
  const lines = text.split('\n');
  const place = lastPlace(lines);
  const message = withoutErrorName(lines.slice(place.end).join('\n').trim());
  return place.description === '' ? message : `${message}; at ${place.description}`;
}

/** The innermost frame of the last traceback, and the line after it. */
function lastPlace(lines: readonly string[]): { readonly description: string; readonly end: number } {
  let description = '';
  let end = 0;
  let frame: RegExpExecArray | undefined;
  for (const [i, line] of lines.entries()) {
    if (TRACEBACK.test(line)) end = i + 1;
    frame = FRAME.exec(line) ?? frame;
    const here = HERE.exec(line);
    if (here !== null) {
      description = describePlace(frame, lines[i - 1] ?? '');
      end = skipSource(lines, { from: i + 1, indent: here[1]?.length ?? 0 });
    }
  }
  return { description, end };
}

function describePlace(frame: RegExpExecArray | undefined, source: string): string {
  if (frame === undefined) return source.trim();
  const [, file = '', line = '', name] = frame;
  return `${file.slice(file.lastIndexOf('/') + 1)}:${line}${name === undefined ? '' : `, in ${name}`}: ${source.trim()}`;
}

/** Source lines that torch shows below the mark are indented; the message is not. */
function skipSource(lines: readonly string[], at: { readonly from: number; readonly indent: number }): number {
  let i = at.from;
  while (i < lines.length && at.indent > 0 && (/^\s/.test(lines[i] ?? '') || lines[i] === '')) i++;
  return i;
}

/** `ValueError: bad` stays as it is; names that say nothing go. */
function withoutErrorName(text: string): string {
  const match = ERROR_LINE.exec(text);
  if (match === null) return text;
  const [, name = '', message = ''] = match;
  return PLAIN_ERRORS.has(name) ? message : `${name}: ${message}`;
}
