// Runs with reference tables, processed in parts by several threads: bytes, failure and report are those of one thread.
import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Test, test } from 'tap';
import { MEMORY_BUDGET_BYTES_MIN } from '../../../src/admission/memory-budget.ts';
import { LocalEngine } from '../../../src/commands/local-engine.ts';
import { type Noise, noise } from '../../random.ts';
import { textOf } from './engine-of-parts.ts';

const PART_BYTES = 1_500;
const BUDGET_BYTES = 256 * 1024 * 1024;
const THREADS = 2;

interface Done {
  readonly parts: number;
  /** Output, failure and report. */
  readonly result: string;
}

interface Rig {
  readonly folder: string;
  /** Runs the Template with one thread as a whole, and in parts. Both must have the same result. Returns the parts. */
  compare(template: object, csv: string, title: string): Promise<Done>;
}

function rig(t: Test, tables: Readonly<Record<string, string>>, budgetBytes = BUDGET_BYTES): Rig {
  const folder = mkdtempSync(join(tmpdir(), 'run-table-parts-'));
  t.teardown(() => rmSync(folder, { recursive: true }));
  const files = Object.entries(tables).map(([name, text]) => {
    const path = join(folder, `${name}.csv`);
    writeFileSync(path, text);
    return [name, { path, sha256: createHash('sha256').update(text).digest('hex') }];
  });
  const engineOf = (threads: number, partBytes: number | null): LocalEngine => {
    const engine = new LocalEngine({
      threads,
      cores: threads,
      inputs: 1,
      memoryBudgetBytes: budgetBytes,
      template: textOf({}),
      tables: Object.fromEntries(files),
      secretsDirectory: null,
      overrides: { delimiter: null, headerRow: null },
      ...(partBytes === null ? {} : { partSizes: { fileBytesMin: 0, partBytes } }),
    });
    t.teardown(() => engine.close());
    return engine;
  };
  const [whole, divided] = [engineOf(1, null), engineOf(THREADS, PART_BYTES)];
  const path = join(folder, 'input.csv');
  const compare: Rig['compare'] = async (template, csv, title) => {
    writeFileSync(path, csv);
    const expected = await run(whole, template, path);
    const found = await run(divided, template, path);
    t.ok(found.result === expected.result, `${title}: ${JSON.stringify(template)}`);
    return found;
  };
  return { folder, compare };
}

async function run(engine: LocalEngine, template: object, path: string): Promise<Done> {
  const { parts, outcome, outputPath } = await engine.run(path, textOf(template));
  const { output, failure, report } = outcome;
  const bytes = output === null ? null : Buffer.from(output.bytes ?? readFileSync(outputPath)).toString();
  if (output !== null && output.bytes === null) rmSync(outputPath);
  return { parts, result: JSON.stringify({ bytes, failure, report }) };
}

const COUNTRIES = 'code,name,zone\nDE,Germany,EU\nCH,Switzerland,\nDE,Deutschland,EU\nat,Austria,EU\n';
const TARIFF = 'since,until,rate\n0,9.99,low\n10,99,middle\n100,,high\n';
const ZIPS = 'low,high,region\n01000,09999,East\n10000,14999,Berlin\n';
const TABLES = { countries: COUNTRIES, tariff: TARIFF, zips: ZIPS };
const DECLARED = Object.fromEntries(Object.keys(TABLES).map((ref) => [ref, { ref }]));

const CODES = ['DE', 'CH', 'at', 'AT', '', 'XX', '"D""E"', 'de'];
const AMOUNTS = ['1', '9.995', '10', '250', 'x', '', '-3'];
const ZIP_CELLS = ['01067', '10115', '9', ''];

function rowsOf(next: Noise, rows: number): string {
  const pick = (cells: readonly string[]): string => cells[next(cells.length)]!;
  // Codes that the table does not contain are rare at first, so that the first of them are in different parts.
  const codes = next(2) === 0 ? CODES : [...Array.from({ length: 300 }, () => 'DE'), ...CODES];
  const lines = Array.from({ length: rows }, (_, row) => {
    return `${row},${pick(codes)},${pick(AMOUNTS)},${pick(ZIP_CELLS)}`;
  });
  return `id,code,amount,zip\n${lines.join('\n')}\n`;
}

function anyTemplate(next: Noise): object {
  const pick = <T>(some: readonly T[]): T => some[next(some.length)]!;
  const key = pick<object | string>(['code', { left: 'code', right: 'code', match: 'case_insensitive' }]);
  const type = pick(['left', 'left', 'inner', 'semi', 'anti']);
  const isAdding = type === 'left' || type === 'inner';
  const operations = [
    {
      op: 'join',
      table: 'countries',
      on: [key],
      type,
      on_missing: pick(['ignore', 'ignore', 'error']),
      on_error: pick(['drop_row', 'blank', 'keep', 'flag', 'flag', 'fail']),
      ...(isAdding && { columns: ['name', 'zone'], prefix: 'c_', multiple: pick(['first', 'all', 'fail']) }),
    },
    { op: 'join', table: 'zips', on: [{ left: 'zip', right: 'low' }], columns: ['region'], prefix: 'z_' },
    { op: 'map_values', columns: ['code'], table: 'countries', key: 'code', value: 'name' },
    { op: 'set', columns: { d: 'coalesce(lookup("countries", code, "zone"), "-") + string(id)' } },
    { op: 'filter', where: 'lookup("countries", code, "name") != "Austria"' },
    {
      op: 'validate',
      rules: [
        { column: 'code', check: 'exists_in', table: 'countries', key: 'code', on_error: pick(['flag', 'drop_row']) },
      ],
    },
  ].filter(() => next(2) === 0);
  const ranged = [
    { op: 'parse_number', columns: ['amount'], on_error: 'drop_row' },
    { op: 'lookup_range', table: 'tariff', value: 'amount', from: 'since', to: 'until', columns: ['rate'] },
  ];
  const grouped = { op: 'aggregate', group_by: ['code'], metrics: [{ fn: 'count', as: 'n' }] };
  const more = [...(next(3) === 0 ? ranged : []), ...(next(3) === 0 ? [grouped] : [])];
  return { tables: DECLARED, operations: [...operations, ...more] };
}

test('any Template with tables gives the same in parts', async (t) => {
  const { compare } = rig(t, TABLES);
  let inParts = 0;
  for (let number = 1; number <= 60; number++) {
    const next = noise(number);
    const { parts } = await compare(anyTemplate(next), rowsOf(next, 50 + next(2_000)), `file ${number}`);
    if (parts > 1) inParts++;
  }
  t.ok(inParts > 25, `${inParts} of 60 were done in parts`);
});

const ROWS = rowsOf(noise(7), 3_000);
const JOIN = { op: 'join', table: 'countries', on: 'code', columns: ['name'] };

test('operations that look up each row alone work in parts', async (t) => {
  const { compare } = rig(t, TABLES);
  const exists = { column: 'code', check: 'exists_in', table: 'countries', key: 'code', on_error: 'flag' };
  const range = { op: 'lookup_range', table: 'zips', from: 'low', to: 'high', columns: ['region'] };
  const cases: readonly [string, boolean, readonly object[]][] = [
    ['a join', true, [JOIN]],
    ['two joins', true, [JOIN, { ...JOIN, prefix: 'again_' }]],
    ['a rule', true, [{ op: 'validate', rules: [exists] }]],
    [
      'a rule beside one over all rows',
      false,
      [{ op: 'validate', rules: [exists, { column: 'id', check: 'unique', on_error: 'flag' }] }],
    ],
    ['a join after fill_down', false, [{ op: 'fill_down', columns: ['code'] }, JOIN]],
    ['ranges of texts, whose first rows are checked for numbers', false, [{ ...range, value: 'zip' }]],
    [
      'ranges of numbers',
      true,
      [
        { op: 'parse_number', columns: ['zip'], on_error: 'blank' },
        { ...range, value: 'zip' },
      ],
    ],
  ];
  for (const [title, isDivided, operations] of cases) {
    const { parts, result } = await compare({ tables: DECLARED, operations }, ROWS, title);
    t.match(result, '"failure":null', title);
    t.equal(parts > 1, isDivided, `${title}: ${parts} parts`);
  }
});

test('a table that cannot be used fails the Run as with one thread', async (t) => {
  const overlapping = 'since,until,rate\n0,10,low\n9,99,middle\n';
  const { compare } = rig(t, { ...TABLES, overlapping, broken: 'code,name\nDE,"open' });
  const range = { op: 'lookup_range', value: 'amount', from: 'since', to: 'until', columns: ['rate'] };
  const parsed = { op: 'parse_number', columns: ['amount'], on_error: 'drop_row' };
  const cases: Readonly<Record<string, object>> = {
    'ranges that overlap': {
      tables: { o: { ref: 'overlapping' } },
      operations: [parsed, { ...range, table: 'o' }],
    },
    'an open quote': { tables: { countries: { ref: 'broken' } }, operations: [JOIN] },
    'a column that the table lacks': { tables: DECLARED, operations: [{ ...JOIN, columns: ['population'] }] },
    'a table that does not exist': { tables: { countries: { ref: 'none' } }, operations: [JOIN] },
    'a cell of another type': {
      tables: { countries: { ref: 'countries', columns: { name: 'date' } } },
      operations: [JOIN],
    },
    'a row without a match': {
      tables: DECLARED,
      operations: [{ ...JOIN, on_missing: 'error', on_error: 'fail' }],
    },
  };
  for (const [title, template] of Object.entries(cases)) {
    const { parts, result } = await compare(template, ROWS, title);
    t.equal(parts, 1, title);
    t.notMatch(result, '"failure":null', title);
  }
});

/** A table of short rows, of about the given size. */
function tableOf(bytes: number): string {
  const lines = ['code,name,zone'];
  for (let row = 0, size = 0; size < bytes; row++)
    size += lines.push(`C${row},name ${row},`) > 0 ? lines.at(-1)!.length : 0;
  return `${lines.join('\n')}\nDE,Germany,EU\n`;
}

test('one thread processes a file with large tables, or tables that do not fit into the memory', async (t) => {
  const large = rig(t, { countries: tableOf(2_000_000) });
  const template = { tables: { countries: { ref: 'countries' } }, operations: [JOIN] };
  t.equal((await large.compare(template, ROWS, 'a large table')).parts, 1);
  const joins = Array.from({ length: 40 }, (_, number) => ({ ...JOIN, prefix: `p${number}_` }));
  const many = { ...template, operations: joins };
  const small = rig(t, { countries: tableOf(200_000) }, MEMORY_BUDGET_BYTES_MIN);
  t.equal((await small.compare(many, ROWS, 'a table without memory')).parts, 1);
  const roomy = rig(t, { countries: tableOf(200_000) });
  t.ok((await roomy.compare(template, ROWS, 'a table with memory')).parts > 1);
});
