// No file holds a thread: reading a file pauses regularly for other Runs, for every Template.
// With all tests only: work and memory of large inputs.
import { test } from 'tap';
import { lyingFile } from '../input/parquet/lying-file.ts';
import { rowsOf, workbookOf } from '../input/xlsx/workbook-writer.ts';
import { longestStep, type NastyCase } from './longest-step.ts';

/** A time slice is 8 ms, and sometimes many times as long on a busy machine. A step without pauses takes seconds. */
const STEP_MILLISECONDS_MAX = 600;

/** The best of this many measurements counts. */
const TRIES = 3;

interface FileCase extends NastyCase {
  /** Codes with which the Run may end. */
  readonly ends: readonly string[];
}

const many = (count: number, one: (index: number) => string): string =>
  Array.from({ length: count }, (_, index) => one(index)).join('');
const read = (input: object = {}): object => ({ input, operations: [] });
const PAGES = { codec: 0, physical: 1, repetition: 0 };

/** An empty page of an INT32 column: only its header. */
const EMPTY_PAGE = Buffer.from([0x15, 0, 0x15, 0, 0x15, 0, 0x2c, 0x15, 0, 0x15, 0, 0x15, 6, 0x15, 6, 0, 0]);

/** `count` equal integers in one delta block. */
function equalIntegers(count: number): Buffer {
  const varint = (value: number): number[] =>
    value < 128 ? [value] : [(value % 128) + 128, ...varint(Math.floor(value / 128))];
  return Buffer.from([...varint(2 ** 27), ...varint(1), ...varint(count), 0, 0, 0]);
}

const CASES: Readonly<Record<string, () => FileCase>> = {
  'a workbook of 10,000 sheets with 20,000 links': () => ({
    template: read({ sheet: '*' }),
    input: workbookOf({
      rows: rowsOf([['a'], ['1']]),
      moreSheets: Array.from({ length: 9_990 }, (_, index) => ({ name: `s${index}`, rows: '' })),
    }),
    ends: ['done'],
  }),
  'merged cells that all cover one row': () => ({
    template: read({ merged: 'fill' }),
    input: workbookOf({
      rows: many(2000, (row) => `<row r="${row + 1}"><c r="A${row + 1}" t="str"><v>x</v></c></row>`),
      after: `<mergeCells>${many(65_000, (index) => `<mergeCell ref="A${1 + (index % 3)}:XFD2000"/>`)}</mergeCells>`,
    }),
    ends: ['done', 'FILE_TOO_LARGE', 'MALFORMED_FILE'],
  }),
  'a number format of 16 MB': () => ({
    template: read(),
    input: workbookOf({ rows: rowsOf([['a'], ['1']]), formats: ['d'.repeat(16_000_000)] }),
    ends: ['MALFORMED_FILE'],
  }),
  'an element with a million attributes': () => ({
    template: read(),
    input: workbookOf({
      rows: rowsOf([['a'], ['1']]),
      workbookProperties: `<workbookPr ${many(100_000, (index) => `a${index}="" `)}/>`,
    }),
    ends: ['MALFORMED_FILE'],
  }),
  'a million members of a JSON file': () => ({
    template: read(),
    input: `{${many(1_000_000, (index) => `"k${index}":1,`)}"rows":[{"a":1}]}`,
    ends: ['done'],
  }),
  'a million members before the records that are declared': () => ({
    template: read({ json: { records: '/rows' } }),
    input: `{${many(1_000_000, (index) => `"k${index}":1,`)}"rows":[{"a":1}]}`,
    ends: ['done'],
  }),
  'much text after the records of a JSON file': () => ({
    template: read({ json: { records: '/rows' } }),
    input: `{"rows":[{"a":1}],"rest":[${'1,'.repeat(20_000_000)}1]}`,
    ends: ['done'],
  }),
  'Parquet pages without values': () => ({
    template: read(),
    input: lyingFile(Buffer.concat(new Array<Buffer>(100_000).fill(EMPTY_PAGE)), {
      ...PAGES,
      values: 0,
      columnValues: 1,
      rows: 1,
      bytes: 0,
      storedBytes: 0,
      encoding: 0,
    }),
    ends: ['MALFORMED_FILE'],
  }),
  'millions of Parquet values in a few bytes': () => {
    const body = equalIntegers(5_000_000);
    const sizes = { values: 5_000_000, rows: 5_000_000, bytes: body.length, storedBytes: body.length };
    return {
      template: read(),
      input: lyingFile(body, { ...PAGES, ...sizes, encoding: 5 }),
      ends: ['done'],
    };
  },
};

for (const [name, make] of Object.entries(CASES)) {
  test(name, async (t) => {
    const nasty = make();
    let best = Number.POSITIVE_INFINITY;
    for (let left = TRIES; left > 0 && best > STEP_MILLISECONDS_MAX; left--) {
      const { longest, end } = await longestStep(nasty);
      // On a busy machine, each of them may need longer than longestStep watches it.
      t.ok(end === 'cancelled' || nasty.ends.includes(end), end);
      best = Math.min(best, longest);
    }
    t.comment(`${best.toFixed(0)} ms`);
    t.ok(best <= STEP_MILLISECONDS_MAX, `held its thread for ${best.toFixed(0)} ms`);
  });
}
