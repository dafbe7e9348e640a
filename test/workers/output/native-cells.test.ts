// Cells of files with native kinds, written as CSV and JSON: the kernels and, if the buffer is too small, their scalar reference
// implementations, against rules that are implemented here again.
import assert from 'node:assert/strict';
import t from 'tap';
import type { ViewsColumn } from '../../../workers/batch/batch.ts';
import {
  KIND_BOOLEAN,
  KIND_DATE,
  KIND_DATETIME,
  KIND_JSON,
  KIND_NUMBER,
  KIND_TEXT,
  KIND_TIME,
} from '../../../workers/kernel/layout/cells.ts';
import { isFormula } from '../../../workers/kernel/plain/emit-csv.ts';
import type { TemplateOutput } from '../../../workers/template/template.ts';
import type { TypedCell } from '../../fixtures/typed-table.ts';
import { fc } from '../../random.ts';
import { sweep } from '../../sweep.ts';
import { type Bench, batchOf, drive, newBench, schemaOf, select, viewsColumn } from '../batch/build-batch.ts';
import { createRowWriter, csvOutput, failureOf, jsonOutput, keepingSink } from './output-settings.ts';

const cell: fc.Arbitrary<TypedCell> = fc.oneof(
  fc.constant(null),
  fc.tuple(fc.constant(KIND_TEXT), fc.string({ unit: fc.constantFrom(...'ab1=+-@,"\n.'), maxLength: 20 })),
  fc.tuple(fc.constant(KIND_NUMBER), fc.constantFrom('-5', '0', '12345678901234567890', '-1.50', '1E5', '-1e-7')),
  fc.tuple(
    fc.constant(KIND_NUMBER),
    fc.integer({ min: 1, max: 70 }).map((digits) => `-${'7'.repeat(digits)}`),
  ),
  fc.tuple(fc.constant(KIND_BOOLEAN), fc.constantFrom('true', 'false')),
  fc.tuple(fc.constant(KIND_DATE), fc.constant('2026-01-31')),
  fc.tuple(fc.constant(KIND_DATETIME), fc.constantFrom('2026-01-31T13:05:00', '2026-01-31T13:05:00.25')),
  fc.tuple(fc.constant(KIND_TIME), fc.constant('13:05:00')),
  fc.tuple(fc.constant(KIND_JSON), fc.constantFrom('{"a":[1,2]}', '[]', '["a,b",null]')),
);

const rows = fc.array(fc.tuple(cell, cell, cell), { minLength: 1, maxLength: 6 });
const NAMES = ['a', 'b', 'c'] as const;
const isValue = (kind: number): boolean => kind !== KIND_TEXT && kind !== KIND_JSON;

function kindsColumn(bench: Bench, cells: readonly TypedCell[]): ViewsColumn {
  const { at } = viewsColumn(
    bench,
    cells.map((cell) => cell?.[1] ?? null),
  );
  const kinds = bench.heap.allocate(cells.length);
  bench.heap.u8.set(
    cells.map((cell) => cell?.[0] ?? 255),
    kinds,
  );
  return { kind: 'views', at, kinds };
}

/** The rows in reverse order; the last column has no kinds. */
function written(rows: readonly (readonly TypedCell[])[], output: TemplateOutput, bufferBytes: number) {
  const bench = newBench();
  const columns = NAMES.map((_, index) => {
    const { at, kinds } = kindsColumn(
      bench,
      rows.map((row) => row[index]!),
    );
    return index === 2 ? ({ kind: 'views', at } as const) : ({ kind: 'views', at, kinds: kinds! } as const);
  });
  const schema = schemaOf({ a: 'text', b: 'text', c: 'text' }).map((column) =>
    column.name === 'c' ? column : { ...column, hasKinds: true as const },
  );
  const sink = keepingSink();
  const writer = createRowWriter({ ...bench, output, schema, nullValues: [''], sink, bufferBytes });
  const turned = rows.map((_, row) => rows.length - 1 - row);
  drive(writer.push(select(bench, batchOf(bench, rows.length, columns), turned)));
  writer.finish();
  return { text: sink.text(), guarded: writer.formulasGuarded };
}

/** The expected cells: rows from last to first, with texts in the last column. */
function seen(rows: readonly (readonly TypedCell[])[]): TypedCell[][] {
  return rows.map(([a, b, c]) => [a!, b!, c === null ? null : ([KIND_TEXT, c![1]] as const)]).reverse();
}

t.test('CSV has canonical texts, and guards and quotes no numbers and dates', async () => {
  const guards = fc.constantFrom('auto' as const, 'strict' as const, 'off' as const);
  const quotings = fc.constantFrom('minimal' as const, 'all' as const, 'text' as const);
  fc.assert(
    fc.property(rows, guards, quotings, fc.constantFrom(16, 4096), (rows, formulaGuard, quoting, bytes) => {
      let guarded = 0;
      const lines = seen(rows).map((cells) =>
        cells.map((cell) => {
          if (cell === null) return quoting === 'all' ? '""' : '';
          const [kind, text] = cell;
          const isGuarded = !isValue(kind) && isFormula(Buffer.from(text), formulaGuard);
          if (isGuarded) guarded++;
          const quoted = quoting === 'all' || (quoting === 'text' && !isValue(kind)) || /[",\n]/.test(text);
          const content = isGuarded ? `'${text}` : text;
          return quoted ? `"${content.replaceAll('"', '""')}"` : content;
        }),
      );
      // Numbers of the file keep their decimal mark: an output with German settings changes only values that an operation has
      // parsed.
      const output = csvOutput({ header: false, formulaGuard, quoting, decimal: ',', dateFormat: 'dd.MM.yyyy' });
      assert.deepEqual(written(rows, output, bytes), {
        text: lines.map((line) => `${line.join()}\n`).join(''),
        guarded,
      });
    }),
    { numRuns: sweep({ short: 120, long: 3000 }) },
  );
});

t.test('a formula among numbers ends a guard that fails, numbers alone do not', async (t) => {
  const output = csvOutput({ formulaGuard: 'fail' });
  const numbers: TypedCell[][] = [[[KIND_NUMBER, '-1e-7'], [KIND_DATE, '2026-01-31'], null]];
  t.equal(written(numbers, output, 4096).guarded, 0);
  for (const bytes of [16, 4096]) {
    const failure = failureOf(() => written([...numbers, [[KIND_TEXT, '-1e-7x'], null, null]], output, bytes));
    t.match(failure, { code: 'TEMPLATE_CHECK_FAILED' });
  }
});

t.test('JSON contains the typed value of each cell', async () => {
  const choices = fc.record({
    decimals: fc.constantFrom('number' as const, 'string' as const),
    nulls: fc.constantFrom('include' as const, 'omit' as const),
  });
  fc.assert(
    fc.property(rows, choices, fc.constantFrom(16, 4096), (rows, { decimals, nulls }, bytes) => {
      const bare = new Set([KIND_BOOLEAN, KIND_JSON, ...(decimals === 'number' ? [KIND_NUMBER] : [])]);
      const lines = seen(rows).map((cells) => {
        const members = cells.flatMap((cell, index) => {
          if (cell === null) return nulls === 'omit' ? [] : [`"${NAMES[index]}":null`];
          return [`"${NAMES[index]}":${bare.has(cell[0]) ? cell[1] : JSON.stringify(cell[1])}`];
        });
        return `{${members.join()}}\n`;
      });
      const { text } = written(rows, jsonOutput('ndjson', { decimals, nulls }), bytes);
      assert.equal(text, lines.join(''));
      for (const line of text.trimEnd().split('\n')) JSON.parse(line);
    }),
    { numRuns: sweep({ short: 120, long: 3000 }) },
  );
});
