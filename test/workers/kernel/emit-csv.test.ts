// The CSV kernel against its scalar reference implementation and csv-parse, over all kinds of columns, quotes, lengths and buffer
// sizes.
import assert from 'node:assert/strict';
import { parse } from 'csv-parse/sync';
import t from 'tap';
import type { Batch } from '../../../workers/batch/batch.ts';
import { csvCell, isFormula } from '../../../workers/kernel/plain/emit-csv.ts';
import { fc } from '../../random.ts';
import { sweep } from '../../sweep.ts';
import {
  type Bench,
  batchOf,
  drive,
  newBench,
  rawBatch,
  schemaOf,
  select,
  typedColumn,
  viewsColumn,
} from '../batch/build-batch.ts';
import { createRowWriter, csvOutput, keepingSink, type OutputSettings } from '../output/output-settings.ts';

/** Cells of characters that matter to a CSV writer, with lengths around the steps of 16 bytes. */
const cell = fc.oneof(
  { weight: 4, arbitrary: fc.string({ unit: fc.constantFrom(...'ab1,;"\n\r\t\'=+-@. é€😀\u0000'), maxLength: 20 }) },
  { weight: 2, arbitrary: fc.constantFrom('', '+49 89 123456', '-1.5', '+1-1', '-1+1', 'NA', '=1+1', '-', '""', 'a"') },
  {
    weight: 2,
    arbitrary: fc
      .string({ unit: fc.constantFrom(...'0123456789 0123456789()./-,%', '\u00a0'), maxLength: 40 })
      .map((digits) => `+${digits}`),
  },
  {
    weight: 3,
    arbitrary: fc
      .tuple(
        fc.constantFrom('-', '+', '--'),
        fc.array(
          fc.constantFrom(
            '5',
            '12',
            '1234',
            ' ',
            '\u00a0',
            '€',
            '$',
            '£',
            '₿',
            '\u20c0',
            '%',
            ':',
            ':30',
            ':60',
            '.',
            '-',
          ),
          {
            maxLength: 7,
          },
        ),
      )
      .map(([sign, parts]) => sign + parts.join('')),
  },
  {
    weight: 2,
    arbitrary: fc
      .tuple(fc.integer({ min: 14, max: 70 }), fc.constantFrom(',', '"', '\n', 'x', '=', 'é', '¦'))
      .map(([length, last]) => 'x'.repeat(length) + last),
  },
);

const settings: fc.Arbitrary<OutputSettings> = fc.record({
  delimiter: fc.constantFrom(',', ';', '\t', '¦', '€', '😀', '-', '1'),
  quoting: fc.constantFrom('minimal', 'all', 'text'),
  lineEnding: fc.constantFrom('lf', 'crlf'),
  null: fc.constantFrom('', 'NULL', 'a,b', '-'),
  formulaGuard: fc.constantFrom('auto', 'strict', 'off'),
  decimal: fc.constantFrom('.', ','),
  nullValues: fc.constantFrom([''], ['', 'NA'], [], ['NA', 'a"']),
});

/** Writes one row after another with the scalar reference implementation, by the rules of docs/reference/output.md. */
function expected(
  rows: readonly (readonly (string | null)[])[],
  set: OutputSettings,
  typed: readonly boolean[],
): string {
  const out: Buffer[] = [];
  for (const row of rows) {
    row.forEach((text, column) => {
      if (column > 0) out.push(Buffer.from(set.delimiter));
      const quote = set.quoting === 'all' || (set.quoting === 'text' && typed[column] !== true && text !== null);
      const guard = text === null || typed[column] ? 'off' : set.formulaGuard;
      const rules = { delimiter: Buffer.from(set.delimiter), quote, quoteEmpty: row.length === 1, guard };
      out.push(Buffer.from(csvCell(Buffer.from(text ?? set.null), rules).bytes));
    });
    out.push(Buffer.from(set.lineEnding === 'crlf' ? '\r\n' : '\n'));
  }
  return Buffer.concat(out).toString();
}

function written(
  bench: Bench,
  batch: Batch,
  types: Parameters<typeof schemaOf>[0],
  set: OutputSettings,
  bytes: number,
) {
  const sink = keepingSink();
  const writer = createRowWriter({
    output: csvOutput({ ...set, header: false }),
    schema: schemaOf(types),
    nullValues: set.nullValues,
    kernel: bench.kernel,
    heap: bench.heap,
    clock: bench.clock,
    sink,
    bufferBytes: bytes,
  });
  drive(writer.push(batch));
  writer.finish();
  return { text: sink.text(), guarded: writer.formulasGuarded };
}

const inputText = (rows: readonly (readonly string[])[], delimiter: string, always: boolean): Buffer =>
  Buffer.from(
    `${rows
      .map((row) =>
        row
          .map((text) =>
            always || row.length === 1 || /[",\n\r;]/.test(text) || text.includes(delimiter)
              ? `"${text.replaceAll('"', '""')}"`
              : text,
          )
          .join(delimiter),
      )
      .join('\n')}\n`,
  );

const table = fc
  .integer({ min: 1, max: 5 })
  .chain((width) => fc.array(fc.array(cell, { minLength: width, maxLength: width }), { minLength: 1, maxLength: 8 }));

t.test('raw fields and views give the same bytes as the plain twin', async () => {
  fc.assert(
    fc.property(
      table,
      settings,
      fc.constantFrom(',', ';', '\t'),
      fc.boolean(),
      fc.constantFrom('raw', 'views', 'mixed', 'not plain'),
      fc.constantFrom(16, 400, 4096),
      (rows, set, inDelimiter, always, kind, bytes) => {
        const bench = newBench();
        const width = rows[0]!.length;
        const texts = rows.map((row) => row.map((text) => (set.nullValues.includes(text) ? null : text)));
        const options = { delimiter: inDelimiter, nullValues: set.nullValues, plain: kind !== 'not plain' };
        const raw = rawBatch(bench, inputText(rows, inDelimiter, always), width, options);
        const columns = raw.columns.map((column, index) =>
          kind === 'views' || (kind === 'mixed' && index % 2 === 1)
            ? viewsColumn(
                bench,
                texts.map((row) => row[index]!),
              )
            : column,
        );
        const types = Object.fromEntries(rows[0]!.map((_, index) => [`c${index}`, 'text' as const]));
        const result = written(bench, raw.withColumns(columns), types, set, bytes);
        const wanted = expected(texts, set, []);
        const guarded = texts.flat().filter((text) => text !== null && isFormula(Buffer.from(text), set.formulaGuard));
        return result.text === wanted && result.guarded === guarded.length;
      },
    ),
    { numRuns: sweep({ short: 190, long: 3000 }) },
  );
});

t.test('a row that did not fit counts its formulas once', async () => {
  const bench = newBench();
  const rows = Array.from({ length: 40 }, (_, row) => ['=1', 'x'.repeat(row), `=${row}`]);
  const raw = rawBatch(bench, inputText(rows, ',', false), 3, { delimiter: ',', nullValues: [''], plain: true });
  const batch = raw.withColumns([2, 1, 0].map((column) => raw.columns[column]!));
  const csv = { delimiter: ',', quoting: 'minimal', lineEnding: 'lf', null: '', decimal: '.' } as const;
  const set = { ...csv, nullValues: [''], formulaGuard: 'auto' } as const;
  const { text, guarded } = written(bench, batch, { a: 'text', b: 'text', c: 'text' }, set, 128);
  t.equal(guarded, 80);
  t.equal(text, rows.map(([a, b, c]) => `'${c},${b},'${a}\n`).join(''));
});

t.test('typed cells beside text, over a selection in any order', async () => {
  // The kernels write numbers of eight digits at once: many numbers have about that length, and as many are longer.
  const bigint64 = fc.oneof(
    fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
    fc
      .tuple(fc.bigInt({ min: -9n, max: 9n }), fc.integer({ min: 0, max: 9 }), fc.bigInt({ min: -9n, max: 9n }))
      .map(([first, zeros, last]) => first * 10n ** BigInt(zeros) + last),
    fc.bigInt({ min: -999_999_999n, max: 999_999_999n }),
  );
  const row = fc.record({
    text: fc.option(cell),
    integer: fc.option(bigint64),
    decimal: fc.option(
      fc.record({
        unscaled: fc.oneof(bigint64, fc.bigInt()),
        scale: fc.oneof(fc.integer({ min: 0, max: 9 }), fc.integer({ min: 0, max: 40 })),
      }),
    ),
    number: fc.option(fc.double({ noNaN: true, noDefaultInfinity: true })),
    boolean: fc.option(fc.boolean()),
    date: fc.option(fc.bigInt({ min: -719162n, max: 2932896n })),
    datetime: fc.option(fc.bigInt({ min: -62135596800_000000n, max: 253402300799_999999n })),
  });
  fc.assert(
    fc.property(
      fc.array(row, { minLength: 1, maxLength: 6 }),
      settings,
      fc.array(fc.nat(), { maxLength: 8 }),
      fc.constantFrom(16, 4096),
      (rows, set, picks, bytes) => {
        const bench = newBench();
        const types = { text: 'text', integer: 'integer', decimal: 'decimal', number: 'number' } as const;
        const more = { boolean: 'boolean', date: 'date', datetime: 'datetime' } as const;
        const columns = Object.entries({ ...types, ...more }).map(([name, type]) => {
          const values = rows.map((values) => values[name as keyof typeof values]);
          return type === 'text'
            ? viewsColumn(bench, values as (string | null)[])
            : typedColumn(bench, type, values as bigint[]);
        });
        const selection = picks.map((pick) => pick % rows.length);
        const batch = select(bench, batchOf(bench, rows.length, columns), selection);
        const mark = (text: string) => text.replace('.', set.decimal);
        const texts = selection.map((index) => {
          const { text, integer, decimal, number, boolean, date, datetime } = rows[index]!;
          return [
            text,
            integer === null ? null : String(integer),
            decimal === null ? null : mark(decimalText(decimal.unscaled, decimal.scale)),
            number === null ? null : mark(String(number)),
            boolean === null ? null : String(boolean),
            date === null ? null : isoDay(Number(date) * 86_400_000),
            datetime === null ? null : isoTime(datetime),
          ];
        });
        const wanted = expected(texts, set, [false, true, true, true, true, true, true]);
        return written(bench, batch, { ...types, ...more }, set, bytes).text === wanted;
      },
    ),
    { numRuns: sweep({ short: 63, long: 1000 }) },
  );
});

t.test('csv-parse reads back the written cells', async () => {
  fc.assert(
    fc.property(table, settings, fc.boolean(), (rows, set, always) => {
      const bench = newBench();
      const width = rows[0]!.length;
      const types = Object.fromEntries(rows[0]!.map((_, index) => [`c${index}`, 'text' as const]));
      const chosen = { ...set, formulaGuard: 'off', null: '', nullValues: [''] } as const;
      const { text } = written(bench, rawBatch(bench, inputText(rows, ',', always), width), types, chosen, 4096);
      const options = { delimiter: set.delimiter, record_delimiter: set.lineEnding === 'crlf' ? '\r\n' : '\n' };
      assert.deepEqual(parse(text, options), rows);
    }),
    { numRuns: sweep({ short: 25, long: 500 }) },
  );
});

function decimalText(unscaled: bigint, scale: number): string {
  const digits = String(unscaled)
    .replace('-', '')
    .padStart(scale + 1, '0');
  const whole = digits.slice(0, digits.length - scale);
  return (unscaled < 0n ? '-' : '') + (scale === 0 ? whole : `${whole}.${digits.slice(digits.length - scale)}`);
}

const isoDay = (milliseconds: number): string => new Date(milliseconds).toISOString().slice(0, 10);

function isoTime(microseconds: bigint): string {
  const fraction = ((microseconds % 1_000_000n) + 1_000_000n) % 1_000_000n;
  const milliseconds = Number((microseconds - fraction) / 1000n);
  const digits = fraction === 0n ? '' : `.${String(fraction).padStart(6, '0').replace(/0+$/, '')}`;
  return `${new Date(milliseconds).toISOString().slice(0, 19)}${digits}Z`;
}
