// Operations that read many columns at once, over batches whose views outgrow the first memory of a Run.
import { createHash } from 'node:crypto';
import { test } from 'tap';
import { applyTemplate } from '../workers/apply-template.ts';

const COLUMNS = 120;
const ROWS = 9_000;

const names = Array.from({ length: COLUMNS }, (_, column) => `c${column}`);
/** Every third cell is empty, and some rows begin with a long run of empty cells. */
const cell = (row: number, column: number) =>
  (row + column) % 3 === 0 || (row % 7 === 0 && column < 100) ? '' : `${row}x${column}`;
const rows = Array.from({ length: ROWS }, (_, row) => names.map((_, column) => cell(row, column)));
const file = `${[names, ...rows].map((cells) => cells.join(',')).join('\n')}\n`;

const digest = (text: string | null) =>
  createHash('sha256')
    .update(text ?? '')
    .digest('hex');

async function madeOf(operation: object): Promise<string> {
  const { text, outcome } = await applyTemplate({ operations: [operation, { select: { columns: ['made'] } }] }, file);
  if (outcome.failure !== null) throw new Error(outcome.failure.message);
  return digest(text);
}

const expected = (make: (cells: readonly string[]) => string) =>
  digest(`made\n${rows.map((cells) => make(cells) || '""').join('\n')}\n`);

test('many columns in one row', async (t) => {
  t.equal(
    await madeOf({ op: 'merge_columns', columns: '*', separator: ' ', into: 'made', keep_source: true }),
    expected((cells) => cells.filter((text) => text !== '').join(' ')),
    'merge_columns',
  );
  t.equal(
    await madeOf({ op: 'fill_empty', columns: ['c0'], from: names.slice(1), into: 'made' }),
    expected((cells) => cells.find((text) => text !== '') ?? ''),
    'fill_empty from columns',
  );
  t.equal(
    await madeOf({ op: 'fill_empty', columns: ['c0'], expr: `coalesce(${names.slice(1).join(', ')})`, into: 'made' }),
    expected((cells) => cells.find((text) => text !== '') ?? ''),
    'fill_empty by an expression',
  );
  t.equal(
    await madeOf({ op: 'set', columns: { made: `concat_ws("+", ${names.slice(0, 50).join(', ')})` } }),
    expected((cells) =>
      cells
        .slice(0, 50)
        .filter((text) => text !== '')
        .join('+'),
    ),
    'set',
  );
});
