// parse_number with column_vote: cells that kernels parse, cells that they leave and cells that are not numbers all vote as if
// parsed one by one, over random columns.
import { test } from 'tap';
import { ambiguousNumberText } from '../../../workers/execution/cells/numbers.ts';
import { parseNumber } from '../../../workers/operations/parse-number.ts';
import { parseNumberText } from '../../../workers/values/number-text.ts';
import { fc } from '../../random.ts';
import { sweep } from '../../sweep.ts';
import { runOperation } from './harness.ts';

const FORMATS = [
  { decimal: '.', grouping: ',' },
  { decimal: ',', grouping: '.' },
  { decimal: ',', grouping: ' ' },
  { decimal: '.', grouping: ',', groups: 'indian' },
] as const;

const cell = fc.oneof(
  fc.string({ unit: fc.constantFrom(...'0123456789.,'), maxLength: 20 }),
  fc.string({ unit: fc.constantFrom(...'0012.,- +x'), maxLength: 9 }),
  fc.constantFrom('1.234', '1,234', '1,23,456', '1 234,5', ' 7 ', '-0', '.5', '5.', '', '9'.repeat(30)),
);
const columns = fc.array(fc.option(cell, { nil: null, freq: 8 }), { maxLength: 40 });

/** The stripped texts may also be marks of numbers. */
const strips = fc.constantFrom([], ['x'], [','], ['.', '-']);

/** Number of cells that a format can parse, one by one. */
function votesOf(texts: readonly (string | null)[], format: object): number {
  return texts.filter((text) => text !== null && text.trim() !== '' && parseNumberText(text.trim(), format) !== null)
    .length;
}

test('the format with most votes reads the column, of equal ones the first', async (t) => {
  const pairs = fc.shuffledSubarray([...FORMATS], { minLength: 2, maxLength: 2 });
  fc.assert(
    fc.property(columns, pairs, strips, (texts, formats, strip) => {
      // Formats that are not ambiguous are both elected.
      fc.pre(ambiguousNumberText(formats[0]!, formats[1]!) !== null);
      const rows = texts.map((text) => [text]);
      const options = { op: 'parse_number', columns: ['n'], on_error: 'blank', strip };
      const voted = { ...options, formats, ambiguous: 'column_vote' };
      const [first, second] = formats.map((format) => votesOf(texts, { ...format, strip })) as [number, number];
      const elected = second > first ? formats[1]! : formats[0]!;
      const made = runOperation(parseNumber, voted, { columns: ['n'], rows }, { batchRows: 7 });
      const plain = runOperation(parseNumber, { ...options, ...elected }, { columns: ['n'], rows });
      if (JSON.stringify(made.rows) !== JSON.stringify(plain.rows))
        throw new Error(JSON.stringify({ formats, texts, made: made.rows, plain: plain.rows }));
    }),
    { numRuns: sweep({ short: 30, long: 1500 }) },
  );
  t.pass('all are the same');
});

test('the last row of many may decide, in files too', async (t) => {
  const rows = Array.from({ length: 20_000 }, (_, n) => [
    `${n}`,
    `${1 + (n % 9)}.${String(n % 1000).padStart(3, '0')}`,
  ]);
  rows.push(['last', '0.5']);
  const formats = [
    { decimal: ',', grouping: '.' },
    { decimal: '.', grouping: ',' },
  ];
  const vote = { op: 'parse_number', columns: ['n'], formats, ambiguous: 'column_vote' };
  for (const way of [{ batchRows: 1000 }, { batchRows: 999, budgetBytes: 300_000, sparse: true }]) {
    const made = runOperation(parseNumber, vote, { columns: ['id', 'n'], rows }, way);
    t.ok(JSON.stringify(made.rows) === JSON.stringify(rows), JSON.stringify(way));
    t.equal(made.spilled, 'budgetBytes' in way);
  }
});
