// Operations whose parts pass one after the other (dedupe, stop_when): a local Run in parts by several threads gives the
// bytes, the failure and the report of the Run as a whole.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Test, test } from 'tap';
import { LocalEngine } from '../../../src/commands/local-engine.ts';
import type { PartSizes } from '../../../src/pool/shared-run.ts';
import { type Noise, noise } from '../../random.ts';
import { textOf } from './engine-of-parts.ts';

interface Done {
  readonly parts: number;
  readonly output: string | null;
  readonly failure: unknown;
  readonly report: unknown;
}

const MIB = 1024 * 1024;

/** @param partSizes null: as a whole */
function engineOf(t: Test, threads: number, partSizes: PartSizes | null, memoryBudgetBytes = 512 * MIB): LocalEngine {
  const engine = new LocalEngine({
    threads,
    cores: threads,
    inputs: 1,
    memoryBudgetBytes,
    template: textOf({ operations: [] }),
    tables: {},
    secretsDirectory: null,
    overrides: { delimiter: null, headerRow: null },
    ...(partSizes === null ? {} : { partSizes }),
  });
  t.teardown(() => engine.close());
  return engine;
}

async function run(engine: LocalEngine, template: object, path: string): Promise<Done> {
  const { parts, outcome, outputPath } = await engine.run(path, textOf(template));
  const { failure, report, output } = outcome;
  const bytes = output === null ? null : (output.bytes ?? readFileSync(outputPath));
  if (output !== null && output.bytes === null) rmSync(outputPath);
  return { parts, output: bytes === null ? null : Buffer.from(bytes).toString('latin1'), failure, report };
}

function pathIn(t: Test, name: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'run-ordered-parts-'));
  t.teardown(() => rmSync(folder, { recursive: true }));
  return join(folder, name);
}

const CELLS = ['', 'x', 'X', ' x', 'é', 'e\u0301', '1', '1.0', '"a,b"', '"q ""r"""', `${'long '.repeat(60)}`, 'NULL'];

/** Rows whose cells repeat often or seldom. Few rows have too few or too many cells. */
function anyRows(next: Noise, rowsMax: number): string {
  const lines = ['a,b,c'];
  const rows = 40 + next(rowsMax - 40);
  const kinds = [8, 100, 3_000][next(3)]!;
  const cell = (): string => (next(3) === 0 ? CELLS[next(CELLS.length)]! : `k${next(kinds)}`);
  for (let row = 0; row < rows; row++) {
    const fields = next(40) === 0 ? 1 + next(4) : 3;
    lines.push(next(30) === 0 ? '' : Array.from({ length: fields }, cell).join(','));
  }
  // The end is often in the last parts, as the total of a statement is.
  if (next(2) === 0) lines.splice(lines.length - next(Math.min(rows, 60)), 0, 'Total,,');
  return lines.join('\n') + (next(2) === 0 ? '\n' : '');
}

function anyTemplate(next: Noise): object {
  const pick = <T>(some: readonly T[]): T => some[next(some.length)]!;
  const onError = pick(['drop_row', 'blank', 'flag', 'flag', 'keep', 'fail']);
  const dedupe = (): object => ({
    op: 'dedupe',
    ...pick<object>([{}, { by: ['a'] }, { by: ['b', 'c'] }, { by: ['c', 'a'] }]),
    match: pick(['exact', 'exact', 'case_insensitive', 'normal', 'loose']),
    nulls: pick(['equal', 'distinct']),
  });
  const maybe = (operation: object, chances = 2): object[] => (next(chances) === 0 ? [operation] : []);
  const operations = [
    ...maybe({ op: 'filter', where: pick(['b != "x"', 'c != null', 'a != "k1"']) }),
    ...maybe({ op: 'parse_number', columns: ['b'], on_error: onError }),
    ...maybe({ op: 'stop_when', where: pick(['a == "Total"', 'a == "Total" || c == "k17"']), include: next(2) === 0 }),
    ...maybe({ op: 'explode', column: 'a', separator: ' ' }, 6),
    ...(next(4) === 0 ? [] : [dedupe()]),
    ...maybe({ op: 'set', columns: { d: 'coalesce(a, "-") + "/" + coalesce(c, "-")' } }),
    ...maybe({ op: 'parse_number', columns: ['c'], on_error: onError }, 3),
    ...maybe(dedupe(), 4),
    ...maybe({ op: 'aggregate', group_by: ['a'], metrics: [{ fn: 'count', as: 'rows' }] }, 8),
  ];
  const output = pick<object>([{}, {}, { format: 'ndjson' }, { format: 'tsv' }]);
  const input = pick<object>([{}, {}, { null_values: ['', 'NULL'] }, { csv: { ragged: 'fail' } }]);
  return { input, operations, output };
}

for (const [threads, rowsMax, partBytes] of [
  [1, 300, 300],
  [2, 9_000, 2_000],
  [3, 30_000, 30_000],
] as const) {
  test(`any rows give the same in ${threads} threads`, async (t) => {
    const path = pathIn(t, 'rows.csv');
    const alone = engineOf(t, 1, null);
    const several = engineOf(t, threads, { fileBytesMin: 0, partBytes });
    let inParts = 0;
    for (let number = 1; number <= 60; number++) {
      const next = noise(threads * 1_000 + number);
      writeFileSync(path, anyRows(next, rowsMax));
      const template = anyTemplate(next);
      const whole = await run(alone, template, path);
      const divided = await run(several, template, path);
      if (divided.parts > 1) inParts++;
      const isSame = JSON.stringify({ ...divided, parts: 1 }) === JSON.stringify(whole);
      t.ok(isSame, `${number}: ${JSON.stringify(template)}`);
    }
    t.ok(inParts > 20, `${inParts} of 60 were done in parts`);
  });
}

test('rows after the end that never reach stop_when do not count', async (t) => {
  const path = pathIn(t, 'rows.csv');
  // The first part has a pipeline of its own, so that the pipeline of the other parts has not seen the end.
  const rows = Array.from({ length: 3_000 }, (_, row) => (row % 700 === 650 ? `${row},1,x` : `${row},none,x`));
  writeFileSync(path, `a,b,c\n0,1,x\nTotal,1,x\n${rows.join('\n')}\n`);
  const template = {
    operations: [
      { op: 'parse_number', columns: ['b'], on_error: 'drop_row' },
      { op: 'stop_when', where: 'a == "Total"', include: true },
    ],
  };
  const whole = await run(engineOf(t, 1, null), template, path);
  t.equal(whole.output, 'a,b,c\n0,1,x\nTotal,1,x\n');
  for (const threads of [1, 2]) {
    const divided = await run(engineOf(t, threads, { fileBytesMin: 0, partBytes: 300 }), template, path);
    t.ok(divided.parts > 20, `${divided.parts} parts`);
    t.strictSame({ ...divided, parts: 1 }, whole, `${threads} threads`);
  }
});

/** Rows whose keys are all different, except that every third one repeats an earlier one. The last row is a total. */
function writeKeys(path: string, rows: number, json = false): void {
  const lines = Array.from({ length: rows }, (_, row) => {
    const key = row % 3 === 2 ? (row * 7) % (row - 1) : row;
    const [id, name] = [`id-${key}`, row % 1_000 === 500 ? null : `name ${key % 99_991}`];
    return json ? JSON.stringify({ id, name, n: row }) : `${id},${name ?? ''},${row}`;
  });
  lines.push(json ? '{"id":"Total"}' : 'Total,,', ...lines.slice(0, 100));
  writeFileSync(path, `${json ? '' : 'id,name,n\n'}${lines.join('\n')}\n`);
}

const STATEMENT = {
  // Lines of JSON are read in parts only if their columns are known.
  input: { columns: ['id', 'name', 'n'].map((name) => ({ name, required: false })), other_columns: 'drop' },
  operations: [
    { op: 'stop_when', where: 'id == "Total"' },
    { op: 'text', columns: ['name'], steps: ['upper'] },
    { op: 'dedupe', by: ['id'] },
    { op: 'dedupe', by: ['name'], nulls: 'distinct' },
    { op: 'parse_number', columns: ['n'] },
  ],
};

const PARTS: PartSizes = { fileBytesMin: 0, partBytes: 200_000 };

test('sets of keys that grow, with the end of the rows in one of the last parts', async (t) => {
  for (const json of [false, true]) {
    const path = pathIn(t, json ? 'rows.ndjson' : 'rows.csv');
    writeKeys(path, 300_000, json);
    const whole = await run(engineOf(t, 1, null), STATEMENT, path);
    t.equal(whole.failure, null);
    for (const threads of [1, 2, 3]) {
      const divided = await run(engineOf(t, threads, PARTS), STATEMENT, path);
      t.ok(divided.parts > 20, `${divided.parts} parts`);
      t.ok(divided.output === whole.output, `${threads} threads`);
      t.strictSame(divided.report, whole.report);
    }
  }
});

test('without memory for the keys, the file is read again as a whole', async (t) => {
  const path = pathIn(t, 'rows.csv');
  writeKeys(path, 1_500_000);
  const template = { operations: ['n', 'id'].map((by) => ({ op: 'dedupe', by })) };
  const whole = await run(engineOf(t, 1, null), template, path);
  const divided = await run(engineOf(t, 2, PARTS, 54 * MIB), template, path);
  t.equal(divided.parts, 1);
  t.ok(divided.output === whole.output);
  t.strictSame(divided.report, whole.report);
  t.equal((await run(engineOf(t, 2, PARTS, 256 * MIB), template, path)).parts > 20, true, 'with enough memory');
});

test('an error in the last part after a dedupe fails the Run as one thread does', async (t) => {
  const path = pathIn(t, 'rows.csv');
  writeKeys(path, 100_000);
  const rows = readFileSync(path, 'utf8').replace('\nTotal,,', '\nlast,x,y');
  writeFileSync(path, rows);
  const operations = [
    { op: 'dedupe', by: ['id'] },
    { op: 'parse_number', columns: ['n'], on_error: 'fail' },
  ];
  const whole = await run(engineOf(t, 1, null), { operations }, path);
  t.match(whole.failure, { code: 'TEMPLATE_ROW_ERROR', place: { row: 100_001 } });
  t.strictSame(await run(engineOf(t, 2, PARTS), { operations }, path), whole);
});
