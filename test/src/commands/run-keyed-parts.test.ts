// A local Run whose rows several threads process by key: bytes, failure and report are those of one thread.
import { createHash } from 'node:crypto';
import { appendFileSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Test, test } from 'tap';
import { LocalEngine } from '../../../src/commands/local-engine.ts';
import type { PartSizes } from '../../../src/pool/shared-run.ts';
import { PartTurns } from '../../../workers/protocol/part-turns.ts';
import { type Noise, noise } from '../../random.ts';

const MIB = 1024 * 1024;

/** With at least a thousand rows in each part. */
const PARTS: PartSizes = { fileBytesMin: 0, partBytes: 80_000 };

interface Done {
  readonly parts: number;
  readonly output: string | null;
  readonly failure: unknown;
  readonly report: unknown;
}

class Engine {
  readonly #engine: LocalEngine;
  readonly folder: string;

  constructor(t: Test, threads: number, partSizes: PartSizes | null, memoryBudgetBytes = 256 * MIB) {
    const source = JSON.stringify({ format: 1, operations: [], output: { format: 'csv' } });
    this.folder = mkdtempSync(join(tmpdir(), 'keyed-parts-'));
    this.#engine = new LocalEngine({
      threads,
      cores: threads,
      inputs: 1,
      memoryBudgetBytes,
      template: { source, format: 'json', sha256: '' },
      tables: {},
      secretsDirectory: null,
      overrides: { delimiter: null, headerRow: null },
      temporaryFolder: this.folder,
      ...(partSizes === null ? {} : { partSizes }),
    });
    t.teardown(async () => {
      await this.#engine.close();
      rmSync(this.folder, { recursive: true, force: true });
    });
  }

  async run(template: object, path: string): Promise<Done> {
    const source = JSON.stringify({ format: 1, ...template });
    const sha256 = createHash('sha256').update(source).digest('hex');
    const { outcome, parts, outputPath } = await this.#engine.run(path, { source, format: 'json', sha256 });
    const bytes = outcome.output && (outcome.output.bytes ?? readFileSync(outputPath));
    if (existsSync(outputPath)) rmSync(outputPath);
    const output = bytes && Buffer.from(bytes).toString();
    return { parts, output, failure: outcome.failure, report: outcome.report };
  }
}

function inputOf(t: Test, text: string, name = 'input.csv'): string {
  const folder = mkdtempSync(join(tmpdir(), 'keyed-input-'));
  t.teardown(() => rmSync(folder, { recursive: true }));
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

const DAYS = ['2026-01-31', '1999-12-01', '', '2026-02-01', 'x'];
const NAMES = ['é', '"q, ""r"""', '"plain"', '', '=1+1', '10', '9', ' a'];

function rowsOf(next: Noise, rows: number, keys: number): string {
  const lines = ['id,key,name,amount,day'];
  for (let row = 0; row < rows; row++) {
    const big = next(200) === 0 ? '123456789012345678901234567890.5' : `${next(2000) - 1000}.${next(100)}`;
    const amount = next(20) === 0 ? 'none' : big;
    lines.push(`${row},k${next(keys)},${NAMES[next(NAMES.length)]},${amount},${DAYS[next(DAYS.length)]}`);
  }
  return `${lines.join('\n')}\n`;
}

const COLUMNS: readonly object[] = [
  { fn: 'row_number' },
  { fn: 'running_sum', column: 'amount' },
  { fn: 'previous', column: 'name' },
  { fn: 'next', column: 'day', offset: 2 },
  { fn: 'first', column: 'name' },
  { fn: 'last', column: 'amount' },
  { fn: 'group_size' },
  { fn: 'sum', column: 'amount', as: 'total' },
  { fn: 'max', column: 'amount', as: 'most', frame: 'up_to_here' },
  { fn: 'count', as: 'returns', where: 'amount < 0d' },
  { fn: 'percent_of_total', column: 'amount', as: 'share' },
  { fn: 'difference', column: 'amount' },
];

const ORDERS: readonly (object | string)[][] = [[], ['day', 'id'], [{ column: 'amount', order: 'desc' }], ['name']];

const PREPARED = [
  { op: 'parse_number', columns: ['amount'], on_error: 'blank' },
  { op: 'parse_date', columns: ['day'], formats: ['yyyy-MM-dd'], on_error: 'drop_row' },
];

function anyWindow(next: Noise): object {
  const order = ORDERS[next(ORDERS.length)]!;
  const columns = COLUMNS.filter(() => next(3) === 0);
  return {
    op: 'window',
    partition_by: next(3) === 0 ? ['key', 'name'] : ['key'],
    ...(order.length === 0 ? {} : { order_by: order }),
    columns: columns.length === 0 ? [COLUMNS[0]] : columns,
  };
}

function anyTemplate(next: Noise): object {
  const before = [{ op: 'filter', where: 'key != "k3"' }].filter(() => next(2) === 0);
  const after = [
    { op: 'set', columns: { name: 'coalesce(name, "-") + "!"' } },
    { op: 'filter', where: 'id != "17"' },
  ].filter(() => next(2) === 0);
  const output = [{ format: 'csv' }, { format: 'ndjson' }, { format: 'tsv' }][next(3)]!;
  return { operations: [...PREPARED, ...before, anyWindow(next), ...after], output };
}

test('windows in several threads give what one thread gives', async (t) => {
  const [whole, shared, little] = [new Engine(t, 1, null), new Engine(t, 3, PARTS), new Engine(t, 2, PARTS, 56 * MIB)];
  let inParts = 0;
  for (let number = 1; number <= 24; number++) {
    const next = noise(number);
    const path = inputOf(t, rowsOf(next, 9_000 + next(9_000), [40, 3_000, 100_000][next(3)]!));
    const template = anyTemplate(next);
    const expected = await whole.run(template, path);
    t.equal(expected.failure, null, JSON.stringify(expected.failure));
    for (const engine of [shared, little]) {
      const { parts, ...done } = await engine.run(template, path);
      if (parts > 1) inParts++;
      t.strictSame({ ...done, parts: 1 }, expected, `file ${number}: ${JSON.stringify(template)}`);
    }
  }
  t.ok(inParts >= 40, `${inParts} of 48 were done in parts`);
  for (const { folder } of [shared, little]) t.strictSame(readdirSync(folder), []);
});

const ONE_WINDOW = { op: 'window', partition_by: ['key'], columns: [{ fn: 'previous', column: 'name' }] };

test('lines of JSON keep the kinds of their cells', async (t) => {
  const lines = Array.from({ length: 8_000 }, (_, row) => {
    const name = [row, `${row}`, row % 2 === 0, null, 'é'][row % 5];
    return JSON.stringify({ id: row, key: row % 700, name, amount: row / 8, day: 'x' });
  });
  const path = inputOf(t, lines.join('\n'), 'input.ndjson');
  const columns = ['id', 'key', 'name', 'amount', 'day'].map((name) => ({ name }));
  const template = {
    input: { columns, other_columns: 'drop' },
    operations: [ONE_WINDOW],
    output: { format: 'ndjson' },
  };
  const done = await new Engine(t, 2, PARTS).run(template, path);
  t.ok(done.parts > 1);
  t.strictSame({ ...done, parts: 1 }, await new Engine(t, 1, null).run(template, path));
});

test('a file that several threads cannot process by key is processed as a whole', async (t) => {
  const [whole, shared] = [new Engine(t, 1, null), new Engine(t, 2, PARTS)];
  const compare = async (what: string, template: object, text: string, inParts: boolean): Promise<void> => {
    const path = inputOf(t, text);
    const done = await shared.run(template, path);
    t.equal(done.parts > 1, inParts, what);
    t.strictSame({ ...done, parts: 1 }, await whole.run(template, path), what);
  };
  const text = rowsOf(noise(7), 9_000, 500);
  const output = { format: 'csv' };
  await compare('by key', { operations: [ONE_WINDOW], output }, text, true);
  const sorted = { operations: [ONE_WINDOW, { op: 'sort', by: ['id'] }], output };
  await compare('a later operation needs all rows', sorted, text, false);
  const whole2 = { op: 'window', columns: [{ fn: 'row_number' }, { fn: 'group_size' }] };
  await compare('without a key', { operations: [whole2], output }, text, false);
  await compare('one key', { operations: [ONE_WINDOW], output }, rowsOf(noise(8), 9_000, 1), false);
  const failing = { operations: [{ op: 'parse_number', columns: ['amount'] }, ONE_WINDOW], output };
  await compare('an error in a row', failing, text, false);
  const flagged = { operations: [{ ...PREPARED[0], on_error: 'flag' }, ONE_WINDOW], output };
  await compare('flagged rows', flagged, text, false);
  const late = `${text}${'9,k1,"open\n'}`;
  await compare('a quote without an end', { operations: [ONE_WINDOW], output }, late, false);
});

test('the first rows that an order compares are examined as in one thread', async (t) => {
  const rows = Array.from({ length: 9_000 }, (_, row) => `${row},k${row % 400},n,${row},d`);
  const text = ['id,key,name,amount,day', ...rows].join('\n');
  const path = inputOf(t, text);
  const [whole, shared] = [new Engine(t, 1, null), new Engine(t, 2, PARTS)];
  for (const where of ['id != ""', 'int(id) > 4000']) {
    const window = { ...ONE_WINDOW, order_by: ['id'] };
    const template = { operations: [{ op: 'filter', where }, window], output: { format: 'csv' } };
    const done = await shared.run(template, path);
    const expected = await whole.run(template, path);
    t.equal(JSON.stringify(expected.report).includes('NUMBERS_AS_TEXT'), done.parts > 1);
    t.strictSame({ ...done, parts: 1 }, expected, where);
  }
});

/** Calls `change` when the Run on `path` reads its file for the second time. */
function atSecondReading(t: Test, change: () => void): void {
  const { grown } = PartTurns.prototype;
  t.teardown(() => {
    PartTurns.prototype.grown = grown;
  });
  let called = 0;
  PartTurns.prototype.grown = function (this: PartTurns, ...given) {
    // For the parts, for the streams, and for the parts again.
    if (++called === 3) change();
    grown.apply(this, given);
  };
}

test('a file that changes between its two readings is not mixed', async (t) => {
  const textOf = (name: string, rows: number): string =>
    `key,name\n${Array.from({ length: rows }, (_, row) => `k${row % 3_000},${name}${row}\n`).join('')}`;
  const first = { op: 'window', partition_by: ['key'], columns: [{ fn: 'first', column: 'name' }] };
  const changes: Record<string, (path: string) => void> = {
    'other cells': (path) => writeFileSync(path, textOf('b', 20_001)),
    'more rows in each part': (path) => writeFileSync(path, `key,name\n${'k,b\n'.repeat(100_000)}`),
    'fewer rows in each part': (path) => writeFileSync(path, textOf('bbbbbbbbbbbbbbbb', 20_000)),
    'rows at the end': (path) => appendFileSync(path, 'k1,a1\n'),
  };
  for (const [what, change] of Object.entries(changes)) {
    await t.test(what, async (t) => {
      const path = inputOf(t, textOf('a', 20_000));
      atSecondReading(t, () => change(path));
      const done = await new Engine(t, 2, PARTS).run({ operations: [first], output: { format: 'csv' } }, path);
      t.match(done, { parts: 1, failure: null });
      const rows = done.output!.trimEnd().split('\n').slice(1);
      t.ok(rows.length > 0);
      t.strictSame(
        rows.filter((row) => !/^k\d*,(a|b)[b\d]*,\1[b\d]*$/.test(row)),
        [],
      );
    });
  }
});
