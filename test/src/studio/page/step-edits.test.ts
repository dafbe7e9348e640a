// Operations of a Template's text are moved, duplicated, deleted and switched: the resulting text, and that it is valid.
import { test } from 'tap';
import { HEADER_ROW, placeAfter } from '../../../../src/studio/page/grid-keys.ts';
import {
  deleted,
  duplicated,
  moved,
  type Parameters,
  switched,
  withSection,
} from '../../../../src/studio/page/operation-edits.ts';
import { itemAt, operationList } from '../../../../src/studio/page/operation-list.ts';
import { readSection } from '../../../../src/studio/studio-session.ts';
import { checkTemplate } from '../../../../workers/plan/template-cache.ts';

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

/** The same operations in a list in brackets, and in JSON. */
const FLOW = 'format: 1\noperations: [{drop: {columns: a}}, {drop_blank_rows: {}}, {op: copy, from: b, to: c}]\n';
const JSON_TEXT = `{
  "format": 1,
  "operations": [
    {"drop": {"columns": "a"}},
    {"op": "copy", "from": "b", "to": "c"}
  ]
}
`;

/** The values of the section `input`. */
const inputIn = (text: string, format: 'json' | 'yaml'): Parameters =>
  JSON.parse(JSON.stringify(readSection(text, format, 'input').parameters)) as Parameters;

const namesIn = (text: string | null): string[] => operationList(text ?? '').items.map(({ name }) => name);

test('the items of a list in each notation', async (t) => {
  t.strictSame(
    operationList(TEXT).items.map(({ name, isOff, hasOp }) => [name, isOff, hasOp]),
    [
      ['text', false, false],
      ['fill_down', false, true],
      ['drop_blank_rows', false, false],
      ['filter', false, false],
      ['rename', false, true],
    ],
  );
  t.strictSame(
    operationList(TEXT).items.map(({ subject }) => subject),
    ['a', 'a', '', 'a == "x"', '{a: b}'],
  );
  t.equal(itemAt(operationList(TEXT), TEXT.indexOf('where')), 3);
  t.equal(itemAt(operationList(TEXT), 0), -1);
  t.strictSame(namesIn(FLOW), ['drop', 'drop_blank_rows', 'copy']);
  t.strictSame(namesIn(JSON_TEXT), ['drop', 'copy']);
  t.strictSame(namesIn('{"operations": []}'), []);
  t.strictSame(
    namesIn(TEXT.replace('where: a', 'where: [a')).slice(0, 4),
    namesIn(TEXT).slice(0, 4),
    'above a mistake',
  );
});

test('an operation of any form is switched off, and on again', async (t) => {
  for (const [text, format] of [
    [TEXT, 'yaml'],
    [FLOW, 'yaml'],
    [JSON_TEXT, 'json'],
  ] as const) {
    const { items } = operationList(text);
    for (const [item, { name }] of items.entries()) {
      const off = switched(text, format, item);
      if (off === null) return t.fail(`${name} cannot be switched`);
      const checked = checkTemplate(off, format);
      if ('problems' in checked) return t.fail(`${name}: ${checked.problems[0]?.message}\n${off}`);
      t.equal(checked.template.operations.length, items.length - 1, name);
      t.equal(operationList(off).items[item]?.isOff, true);
      t.equal(switched(off, format, item), text, name);
    }
  }
});

test('deleting', async (t) => {
  t.notMatch(deleted(TEXT, 0), /First/, 'its comment goes with it');
  t.equal(deleted(TEXT, 3), TEXT.replace('  - filter:\n      where: a == "x"\n', ''));
  t.equal(deleted(FLOW, 0), FLOW.replace('{drop: {columns: a}}, ', ''));
  t.equal(deleted(FLOW, 2), FLOW.replace(', {op: copy, from: b, to: c}', ''));
  t.strictSame(JSON.parse(deleted(JSON_TEXT, 1)!).operations, [{ drop: { columns: 'a' } }]);
  const draft = 'operations:\n  - {drop: {columns: a}}\n  # - {drop: {columns: b}}\n  - {drop: {columns: c}}\n';
  t.match(deleted(draft, 2), null);
  t.match(deleted(draft, 1), /# - \{drop: \{columns: b/, 'what a draft offers stays');
  let text: string | null = TEXT;
  for (let left = 5; left > 0 && text !== null; left--) text = deleted(text, 0);
  t.match(text, /^operations: \[\]$/m, 'a list without items is written as one');
  t.ok('template' in checkTemplate(text ?? '', 'yaml'));
});

test('moving and duplicating', async (t) => {
  const down = moved(TEXT, 0, 2)!;
  t.strictSame(namesIn(down), ['fill_down', 'drop_blank_rows', 'text', 'filter', 'rename']);
  t.match(down, /drop_blank_rows: \{\}\n {2}# First.*\n {2}- \{text/, 'its comment goes with it');
  t.equal(moved(down, 2, 0), TEXT, 'and back');
  t.strictSame(namesIn(moved(TEXT, 4, 3)), ['text', 'fill_down', 'drop_blank_rows', 'rename', 'filter']);
  t.equal(moved(TEXT, 4, 5), TEXT, 'no further than the end');
  t.strictSame(namesIn(duplicated(TEXT, 3)), ['text', 'fill_down', 'drop_blank_rows', 'filter', 'filter', 'rename']);
  t.strictSame(namesIn(moved(FLOW, 0, 2)), ['drop_blank_rows', 'copy', 'drop']);
  t.equal(moved(moved(FLOW, 0, 2)!, 2, 0), FLOW);
  t.strictSame(namesIn(duplicated(FLOW, 1)), ['drop', 'drop_blank_rows', 'drop_blank_rows', 'copy']);
  t.strictSame(namesIn(moved(JSON_TEXT, 1, 0)), ['copy', 'drop']);
  t.equal(JSON.parse(duplicated(JSON_TEXT, 1)!).operations.length, 3);
});

test('the sections input and output are written where they are, or where people look for them', async (t) => {
  const input = { csv: { delimiter: ';', header_row: 3 }, other_columns: 'drop' };
  const documents: Readonly<Record<string, string>> = {
    'no section': TEXT,
    'flow style': TEXT.replace('operations:', 'input: {csv: {delimiter: ","}, columns: [a]}  # why\noperations:'),
    'block style': TEXT.replace(
      'operations:',
      'input:\n  # Of the shop.\n  csv:\n    delimiter: ","\n  columns: [a]\noperations:',
    ),
    'no value': TEXT.replace('operations:', 'input:\noperations:'),
    'at the end': `${TEXT}input: {columns: [a, b]}\n`,
    brackets: '{format: 1, operations: [{drop: {columns: a}}]}\n',
    'no operations': 'format: 1\n',
    JSON: JSON_TEXT,
    'JSON with input': JSON_TEXT.replace('"operations"', '"input": {"csv": {"delimiter": ","}},\n  "operations"'),
  };
  for (const [title, text] of Object.entries(documents)) {
    const format = title.startsWith('JSON') ? 'json' : 'yaml';
    const before = title === 'no value' ? {} : inputIn(text, format);
    const edited = withSection(text, format, 'input', before, input) ?? '';
    t.strictSame(inputIn(edited, format), input, `${title}\n${edited}`);
    t.strictSame(namesIn(edited), namesIn(text), title);
    for (const comment of text.match(/#.*/g) ?? []) t.ok(edited.includes(comment), `${title}: ${comment}`);
    const places = ['input', 'operations'].map((name) =>
      edited.search(new RegExp(`^[{ ]*"?${name}"?:|, ${name}:`, 'm')),
    );
    if (!title.startsWith('at the') && title !== 'no operations') t.ok(places[0]! < places[1]!, `${title}\n${edited}`);
    t.ok('template' in checkTemplate(edited, format), title);
    // And back.
    const back = withSection(edited, format, 'input', input, before) ?? '';
    t.strictSame(inputIn(back, format), before, `${title}, back\n${back}`);
  }
  const output = withSection(TEXT, 'yaml', 'output', { format: 'csv' }, { format: 'ndjson', name: 'x' })!;
  t.equal(output, TEXT.replace('{format: csv}', '{format: ndjson, name: x}'));
  t.equal(withSection('# nothing\n', 'yaml', 'input', {}, input), null);
  t.throws(() => readSection('input: [1]\n', 'yaml', 'input'), { message: /is not a mapping/ });
  t.throws(() => readSection('input: {\n', 'yaml', 'input'), { message: /line/i });
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
