// Each recipe processes a file of the same format with other contents: other values, more or fewer rows, the other line ends,
// with or without a byte order mark and, if columns are identified by name, in another order. Each cell of the output must be the
// value that was written into the file.
// With all tests only: the files of examples and packages.
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse } from 'csv-parse/sync';
import t, { type Test } from 'tap';
import { noise } from '../random.ts';
import { cli } from '../src/commands/command-line.ts';
import { BANK_EXPORTS } from './bank-exports.ts';
import { DUTCH_BANK_EXPORTS } from './dutch-bank-exports.ts';
import { GERMAN_BANK_EXPORTS } from './german-bank-exports.ts';
import { LIST_EXPORTS } from './list-exports.ts';
import { type Encoding, type FileForm, fileOf, type MadeExport, Values } from './made-export.ts';
import { PAYMENT_EXPORTS } from './payment-exports.ts';
import { PAYOUT_EXPORTS } from './payout-exports.ts';
import { SHOP_EXPORTS } from './shop-exports.ts';

const FOLDER = 'examples/recipes';
const FILE_MILLISECONDS = 240_000;
/** Row counts: no row, one, a few, many; and further ones, so that sources with two variants write both. */
const ROW_COUNTS = [0, 1, 9, 130, 12, 20, 40, 60];
const MAKERS = {
  ...BANK_EXPORTS,
  ...GERMAN_BANK_EXPORTS,
  ...DUTCH_BANK_EXPORTS,
  ...SHOP_EXPORTS,
  ...PAYMENT_EXPORTS,
  ...PAYOUT_EXPORTS,
  ...LIST_EXPORTS,
};

t.setTimeout(FILE_MILLISECONDS);

const names = readdirSync(FOLDER, { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => name);

t.test('every recipe has a maker of such files', async (t) => {
  t.strictSame(Object.keys(MAKERS).sort(), [...names].sort());
});

for (const [recipe, make] of Object.entries(MAKERS)) {
  t.test(recipe, async (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'template-run-strangers-'));
    t.teardown(() => rmSync(folder, { recursive: true, force: true }));
    mkdirSync(join(folder, 'out'));
    const [header] = readFileSync(join(FOLDER, recipe, 'expected.csv'), 'utf8').split('\n');
    for (const [index, form] of forms(make(new Values(noise(0)), 1).encodings).entries()) {
      const values = new Values(noise(index));
      const made = make(values, ROW_COUNTS[index % ROW_COUNTS.length]!);
      const [input, output] = [join(folder, `${index}.csv`), join(folder, 'out', `${index}.csv`)];
      writeFileSync(input, fileOf(made, form, values));
      const run = await cli('run', join(FOLDER, recipe, 'template.yaml'), input, '-o', output, '--json');
      const what = JSON.stringify({ index, rows: made.rows.length, ...form });
      if (!t.equal(run.status, 0, `it finishes: ${what}`)) {
        t.comment(run.stderr, made.above, made.header, made.rows.slice(0, 3));
        continue;
      }
      const { rows_written: written, report } = JSON.parse(run.stderr) as {
        readonly rows_written: number;
        readonly report: { readonly input: { readonly errors: object } };
      };
      t.equal(written, made.expected, `it has as many rows as it should: ${what}`);
      t.strictSame(report.input.errors, errorsOf(made), `no cell was lost: ${what}`);
      t.equal(readFileSync(output, 'utf8').split('\n')[0], header, 'it has the columns of the recipe');
      sameValues(t, output, made, `${recipe} ${what}`);
    }
  });
}

/** The errors that the report counts while the file is read. */
function errorsOf({ shortRows = [] }: MadeExport): object {
  return shortRows.length === 0 ? {} : { SHORT_ROW: { count: shortRows.length, rows: shortRows } };
}

function sameValues(t: Test, output: string, { expected, values }: MadeExport, what: string): void {
  const [header, ...lines] = parse(readFileSync(output)) as [string[], ...string[][]];
  // Without a row, there are no values to list.
  const stated = expected === 0 ? [] : header;
  t.strictSame(Object.keys(values).sort(), [...stated].sort(), `the maker states the values of each column: ${what}`);
  for (const [index, name] of header.entries()) {
    const cells = lines.map((line) => line[index]);
    t.strictSame(cells, values[name] ?? [], `${name} has the values that were put into the file: ${what}`);
  }
}

function forms(encodings: readonly Encoding[] = ['utf-8']): FileForm[] {
  return encodings.flatMap((encoding) =>
    ROW_COUNTS.map((_, index) => ({
      lineEnd: index % 2 === 0 ? ('\r\n' as const) : ('\n' as const),
      hasMark: index % 4 < 2,
      isShuffled: index % 4 !== 1,
      encoding,
    })),
  );
}
