import { describe, expect, it } from 'vitest';
import { trimTorchText, unknownOperator } from '../src/torch-error.ts';

const TRACEBACK = `The following operation failed in the TorchScript interpreter.
Traceback of TorchScript, serialized code (most recent call last):
  File "code/__torch__.py", line 9, in forward
    x: Tensor,
    y: Tensor) -> Tensor:
    return torch.matmul(x, y)
           ~~~~~~~~~~~~ <--- HERE

Traceback of TorchScript, original code (most recent call last):
  File "/home/me/model.py", line 8, in forward
    def forward(self,x:torch.Tensor,y:torch.Tensor):
        return torch.matmul(x,y)
               ~~~~~~~~~~~~ <--- HERE
        # more source
`;

const CPP_TAIL = `
Exception raised from meta at /pytorch/aten/src/ATen/native/LinearAlgebra.cpp:196 (most recent call first):
frame #0: c10::Error::Error(c10::SourceLocation, std::string) + 0x80 (0x7f in libc10.so)
frame #1: <unknown function> + 0x1 (0x7f in libtorch_cpu.so)
`;

describe('trimTorchText', () => {
  it.each([
    [
      'keeps message and place of a failed operation',
      `${TRACEBACK}RuntimeError: mat1 and mat2 shapes cannot be multiplied (1x3 and 4x5)\n`,
      'mat1 and mat2 shapes cannot be multiplied (1x3 and 4x5); at model.py:8, in forward: return torch.matmul(x,y)',
    ],
    [
      'keeps the name of an error that says something',
      `${TRACEBACK}builtins.ValueError: bad value in x\n`,
      'ValueError: bad value in x; at model.py:8, in forward: return torch.matmul(x,y)',
    ],
    [
      'keeps every line of a message',
      `${TRACEBACK}RuntimeError: first\nsecond\n`,
      'first\nsecond; at model.py:8, in forward: return torch.matmul(x,y)',
    ],
    [
      'drops frames of C++ after a traceback',
      `${TRACEBACK}RuntimeError: bad${CPP_TAIL}`,
      'bad; at model.py:8, in forward: return torch.matmul(x,y)',
    ],
    ['drops frames of C++', `tensors differ${CPP_TAIL}`, 'tensors differ'],
    [
      'drops captured C++ tracebacks',
      'tensors differ\nC++ CapturedTraceback:\n#4 c10::Error::Error\n',
      'tensors differ',
    ],
    [
      "drops the archive reader's advice",
      'PytorchStreamReader failed locating file constants.pkl: file not found. This is an internal miniz error. If you are seeing this error, …',
      'PytorchStreamReader failed locating file constants.pkl: file not found.',
    ],
    ['leaves other texts alone', 'something else', 'something else'],
  ])('%s', (_, text, expected) => {
    expect(trimTorchText(text)).toBe(expected);
  });

  it.each([
    ['\nUnknown builtin op: my_ops::foo.\nCould not find any similar ops to my_ops::foo.', 'my_ops::foo'],
    ['Could not find schema for my_ops::bar.out', 'my_ops::bar.out'],
    ['tensors differ', undefined],
  ])('finds the unknown operator in %j', (text, operator) => {
    expect(unknownOperator(text)).toBe(operator);
  });

  it('names an unknown operator and its remedy', () => {
    expect(trimTorchText('Unknown builtin op: my_ops::foo.\nCould not …')).toMatch(
      /operator 'my_ops::foo'.*--custom-ops /,
    );
  });
});
