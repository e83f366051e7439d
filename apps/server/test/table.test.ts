import { expect, test } from 'vitest';
import { renderTable, wrap } from '../src/table.ts';

test('a table has frames, and a cell may have several lines', () => {
  expect(
    renderTable(
      ['Model', 'Reason'],
      [
        ['a', 'one\ntwo'],
        ['bc', ''],
      ],
    ),
  ).toBe(
    [
      '+-------+--------+',
      '| Model | Reason |',
      '+-------+--------+',
      '| a     | one    |',
      '|       | two    |',
      '| bc    |        |',
      '+-------+--------+',
    ].join('\n'),
  );
});

test('a table without rows is its head', () => {
  expect(renderTable(['Model'], [])).toBe(['+-------+', '| Model |', '+-------+'].join('\n'));
});

test('text is broken at spaces, and a long word stands alone', () => {
  expect(wrap('one two three', 7)).toBe('one two\nthree');
  expect(wrap('a verylongword b', 5)).toBe('a\nverylongword\nb');
  expect(wrap('kept\nlines', 80)).toBe('kept\nlines');
});
