// Operations of a Template's text moved, duplicated and switched: the text that comes of it, and that it is sound.
import { test } from 'tap';
import { HEADER_ROW, placeAfter } from '../../../../src/studio/page/grid-keys.ts';
import { duplicated, listItems, moved, switched } from '../../../../src/studio/page/step-edits.ts';
import { checkTemplate } from '../../../../workers/plan/check-template.ts';

const TEXT = `format: 1
operations:
  # First, with a comment of its own.
  - {text: {columns: a, steps: [trim]}}
  - {op: upper_placeholder}
  - drop_blank_rows: {}
  - filter:
      where: a == "x"
  - op: rename
    columns: {a: b}

output: {format: csv}
`.replace('{op: upper_placeholder}', '{op: fill_down, columns: a}');

test('the items of a list, each with its comments', async (t) => {
  t.strictSame(
    listItems(TEXT).map(({ name, from, to, isOff }) => [name, from, to, isOff]),
    [
      ['text', 2, 4, false],
      ['fill_down', 4, 5, false],
      ['drop_blank_rows', 5, 6, false],
      ['filter', 6, 8, false],
      ['rename', 8, 10, false],
    ],
  );
  t.strictSame(listItems('operations: [{drop: {columns: a}}]\n'), []);
  t.strictSame(listItems('{"operations": []}'), []);
});

test('an operation of any form is switched off, and on again', async (t) => {
  for (const [item, { name }] of listItems(TEXT).entries()) {
    const off = switched(TEXT, item);
    if (off === null) return t.fail(`${name} cannot be switched`);
    const checked = checkTemplate(off, 'yaml');
    if ('problems' in checked) return t.fail(`${name}: ${checked.problems[0]?.message}\n${off}`);
    t.equal(checked.template.operations.length, 4, name);
    t.equal(listItems(off)[item]?.isOff, true);
    t.equal(switched(off, item), TEXT, name);
  }
});

test('moving and duplicating', async (t) => {
  const names = (text: string | null): string[] => listItems(text ?? '').map(({ name }) => name);
  const down = moved(TEXT, 0, 2)!;
  t.strictSame(names(down), ['fill_down', 'drop_blank_rows', 'text', 'filter', 'rename']);
  t.match(down, /drop_blank_rows: \{\}\n {2}# First.*\n {2}- \{text/, 'its comment goes with it');
  t.equal(moved(down, 2, 0), TEXT, 'and back');
  t.strictSame(names(moved(TEXT, 4, 3)), ['text', 'fill_down', 'drop_blank_rows', 'rename', 'filter']);
  t.equal(moved(TEXT, 4, 5), TEXT, 'no further than the end');
  t.strictSame(names(duplicated(TEXT, 3)), ['text', 'fill_down', 'drop_blank_rows', 'filter', 'filter', 'rename']);
});

test('the keys of the grid', async (t) => {
  const size = { rows: 100, columns: 10, page: 20 };
  const after = (row: number, column: number, key: string, ctrlKey = false) =>
    placeAfter({ row, column }, { key, ctrlKey, metaKey: false }, size);
  t.strictSame(after(0, 0, 'ArrowUp'), { row: HEADER_ROW, column: 0 });
  t.strictSame(after(99, 9, 'ArrowDown'), { row: 99, column: 9 });
  t.strictSame(after(5, 9, 'ArrowRight'), { row: 5, column: 9 });
  t.strictSame(after(5, 5, 'End', true), { row: 99, column: 9 });
  t.strictSame(after(5, 5, 'Home'), { row: 5, column: 0 });
  t.strictSame(after(5, 5, 'PageDown'), { row: 25, column: 5 });
  t.equal(after(5, 5, 'a'), null);
});
