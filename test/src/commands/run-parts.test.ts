// A local Run in parts by several threads: bytes, failure and report are those of the Run as a whole.
// With all tests only: work and memory of large inputs.
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Test, test } from 'tap';
import { LocalEngine } from '../../../src/commands/local-engine.ts';
import type { LocalResult } from '../../../src/commands/run-summary.ts';
import type { PartSizes } from '../../../src/pool/shared-run.ts';
import { checkTemplate } from '../../../workers/plan/template-cache.ts';
import type { TemplateText } from '../../../workers/template/template-text.ts';
import { filesBelow } from '../../fixtures/changing-folder.ts';
import { type Noise, noise } from '../../random.ts';

interface Done {
  readonly parts: number;
  readonly output: string | null;
  readonly failure: unknown;
  readonly report: unknown;
}

const CLI = new URL('../../../src/cli.js', import.meta.url).pathname;

const SMALL_PARTS: PartSizes = { fileBytesMin: 0, partBytes: 100 };

/** So large that a second thread is at work before the end. */
const LARGE_ROWS = 400_000;

function textOf(template: object): TemplateText {
  const source = JSON.stringify({ format: 1, ...template });
  const checked = checkTemplate(source, 'json');
  if (!('template' in checked)) throw new Error(JSON.stringify(checked.problems));
  return { source, format: 'json', sha256: createHash('sha256').update(source).digest('hex') };
}

function engineOf(template: object, threads: number, partSizes: PartSizes | null): LocalEngine {
  return new LocalEngine({
    threads,
    cores: threads,
    inputs: 1,
    memoryBudgetBytes: 256 * 1024 * 1024,
    template: textOf(template),
    tables: {},
    secretsDirectory: null,
    overrides: { delimiter: null, headerRow: null },
    ...(partSizes === null ? {} : { partSizes }),
  });
}

/** @param partSizes null: as a whole */
async function run(template: object, path: string, partSizes: PartSizes | null, threads = 1): Promise<Done> {
  const engine = engineOf(template, threads, partSizes);
  try {
    return doneOf(await engine.run(path));
  } finally {
    await engine.close();
  }
}

function doneOf(result: LocalResult): Done {
  const { parts, outcome } = result;
  return { parts, output: outputOf(result), failure: outcome.failure, report: outcome.report };
}

function outputOf({ outcome, outputPath }: LocalResult): string | null {
  if (outcome.output === null) return null;
  return Buffer.from(outcome.output.bytes ?? readFileSync(outputPath)).toString();
}

function folderOf(t: Test): string {
  const folder = mkdtempSync(join(tmpdir(), 'run-parts-'));
  t.teardown(() => rmSync(folder, { recursive: true }));
  return folder;
}

const CELLS = ['1', ' -2.50 ', 'x', '', '"q, ""r"""', '=1+1', 'é', '\ufeffm', '12.03.2024', '"a"b', 'NULL'];
const BROKEN_CELLS = [...CELLS, '"two\nlines"', '"x\r\n,"'];

function anyFile(next: Noise, cells: readonly string[], rowsMax = 140): string {
  const end = ['\n', '\r\n'][next(2)]!;
  const lines = next(6) === 0 ? ['sep=,', 'a,b,c'] : ['a,b,c'];
  const rows = 20 + next(rowsMax - 20);
  for (let row = 0; row < rows; row++) {
    const fields = next(15) === 0 ? 1 + next(5) : 3;
    lines.push(next(20) === 0 ? '' : Array.from({ length: fields }, () => cells[next(cells.length)]).join(','));
  }
  return lines.join(end) + (next(2) === 0 ? end : '');
}

function anyTemplate(next: Noise): object {
  const pick = <T>(some: readonly T[]): T => some[next(some.length)]!;
  const onError = pick(['drop_row', 'blank', 'keep', 'flag', 'flag', 'fail']);
  const operations = [
    { op: 'filter', where: pick(['b != "x"', 'c != null', 'size(coalesce(a, "")) > 1']) },
    { op: 'parse_number', columns: ['b'], on_error: onError },
    { op: 'set', columns: { d: 'coalesce(a, "-") + "/" + coalesce(c, "-")' } },
    { op: 'parse_date', columns: ['c'], formats: ['dd.MM.yyyy'], on_error: onError },
    { op: 'drop_blank_rows' },
    { op: 'drop_repeated_headers' },
    { op: 'map_values', columns: ['a'], map: { x: 'y' } },
    { op: 'explode', column: 'a', separator: pick([',', ' ']), ...(next(2) === 0 && { index_into: 'i' }) },
    { op: 'unpivot', columns: ['a', 'b'], names_to: 'name', values_to: 'value', drop_empty: next(2) === 0 },
  ].filter(() => next(2) === 0);
  const output = pick<object>([
    {},
    { format: 'ndjson' },
    { csv: { preamble: [['title', 1, null]] } },
    { csv: { bom: true, quoting: 'text' }, formula_guard: 'off' },
    { format: 'tsv' },
  ]);
  const input = pick<object>([{}, { null_values: ['', 'NULL'] }, { csv: { ragged: 'fail' } }]);
  return { input, operations, output };
}

async function compare(t: Test, files: number, cells: readonly string[]): Promise<number> {
  const path = join(folderOf(t), 'input.csv');
  let inParts = 0;
  for (let number = 1; number <= files; number++) {
    const next = noise(number);
    writeFileSync(path, anyFile(next, cells));
    const template = anyTemplate(next);
    const whole = await run(template, path, null);
    const divided = await run(template, path, SMALL_PARTS);
    if (divided.parts > 1) inParts++;
    t.equal(whole.parts, 1);
    t.strictSame({ ...divided, parts: 1 }, whole, `file ${number}: ${JSON.stringify(template)}`);
  }
  return inParts;
}

test('parts of any file give what the whole gives', async (t) => {
  const inParts = await compare(t, 60, CELLS);
  t.ok(inParts > 25, `${inParts} of 60 were done in parts`);
});

test('a part that begins inside a quoted cell is noticed', async (t) => {
  const inParts = await compare(t, 60, BROKEN_CELLS);
  t.ok(inParts > 0, `${inParts} of 60 were done in parts`);
});

test('any file gives the same in several threads that exist already', async (t) => {
  const folder = folderOf(t);
  // The threads of this engine stay from one file to the next, so that they share even short files.
  const engine = engineOf({}, 3, { fileBytesMin: 0, partBytes: 1_500 });
  t.teardown(() => engine.close());
  let inParts = 0;
  for (let number = 1; number <= 40; number++) {
    const next = noise(1_000 + number);
    const path = join(folder, `${number}.csv`);
    // Rare cells: a lone carriage return, quoted line breaks, and a byte order mark at the start of a file.
    const rare = ['"a\rb"', '"two\nlines"', '"x\r\n,""y"'].slice(0, next(3));
    const cells = [...Array.from({ length: 60 }, () => CELLS).flat(), ...rare];
    writeFileSync(path, (next(4) === 0 ? '\ufeff' : '') + anyFile(next, cells, 6_000));
    const template = anyTemplate(next);
    const whole = await run(template, path, null);
    const divided = doneOf(await engine.run(path, textOf(template)));
    if (divided.parts > 1) inParts++;
    t.ok(
      JSON.stringify({ ...divided, parts: 1 }) === JSON.stringify(whole),
      `file ${number}: ${JSON.stringify(template)}`,
    );
  }
  t.ok(inParts > 10, `${inParts} of 40 were done in parts`);
});

test('two threads at work write the bytes of one, and its report', async (t) => {
  const path = join(folderOf(t), 'large.csv');
  // Errors and formulas are rare, so that the first ones of a kind are in different parts. The last row has an error.
  const amount = (row: number): string => (row % 9_973 === 9_000 || row === LARGE_ROWS - 1 ? 'x' : `${row / 8}`);
  const name = (row: number): string => (row % 7_919 === 7_000 ? '=1+1' : `name ${row % 977}`);
  const rows = Array.from({ length: LARGE_ROWS }, (_, row) => `${row},${name(row)},${amount(row)}`);
  rows[123_456] += ',one more';
  const sizes = { fileBytesMin: 0, partBytes: 65_536 };
  const operations = [
    { op: 'set', columns: { name: 'name.upperAscii()' } },
    { op: 'parse_number', columns: ['amount'], on_error: 'flag' },
    { op: 'filter', where: 'amount == null || amount > 100' },
  ];
  const outputs = [{}, { format: 'tsv' }, { format: 'ndjson' }, { csv: { encoding: 'utf-16le', bom: true } }];
  for (const [number, output] of outputs.entries()) {
    // With and without a line break at the end.
    const end = ['\n', '\r\n'][number % 2]!;
    writeFileSync(path, `id,name,amount${end}${rows.join(end)}${number < 2 ? end : ''}`);
    const whole = await run({ operations, output }, path, null);
    const divided = await run({ operations, output }, path, sizes, 2);
    t.ok(divided.parts > 50, `${divided.parts} parts`);
    t.equal(whole.failure, null);
    t.equal(digest(divided.output), digest(whole.output), JSON.stringify(output));
    t.equal(JSON.stringify(divided.report), JSON.stringify(whole.report));
  }
});

test('a part without rows, and an error in the last part', async (t) => {
  const path = join(folderOf(t), 'rows.csv');
  const some = '1,2\n'.repeat(60);
  writeFileSync(path, `a,b\n${some}${'\n'.repeat(500)}${some}`);
  const whole = await run({}, path, null);
  const divided = await run({}, path, SMALL_PARTS);
  t.ok(divided.parts > 5, `${divided.parts} parts`);
  t.strictSame({ ...divided, parts: 1 }, whole);
  const template = { operations: [{ op: 'parse_number', columns: ['a'], on_error: 'fail' }] };
  writeFileSync(path, `a,b\n${some}x,2\n`);
  const failed = await run(template, path, SMALL_PARTS);
  t.match(failed, { parts: 1, output: null, failure: { place: { row: 61 } } });
  t.strictSame(failed, await run(template, path, null));
  writeFileSync(path, `a,b\n${some}3,"open`);
  t.match((await run({}, path, SMALL_PARTS)).failure, { code: 'MALFORMED_FILE' });
});

test('what the rest of the file says about quotes holds for all parts', async (t) => {
  const path = join(folderOf(t), 'quotes.csv');
  const plain = '10,abc\n';
  // The first part must not contain it: more than the bytes that detection reads.
  const before = `a,b\n${plain.repeat(12_000)}`;
  const stray = `"ab,1\nx,2\ncd"e,3\n${plain.repeat(30)}`;
  const files = {
    'a quote after a space, around the delimiter': `${before}5, "x,y"\n${plain.repeat(100)}`,
    'a quote after a space': `${before}5, "xy"\n${plain.repeat(100)}`,
    'quotes that are not closed, and are few': before + stray.repeat(900),
    'quotes that are not closed, and are too many': before + stray.repeat(1_400),
  };
  for (const [title, text] of Object.entries(files)) {
    writeFileSync(path, text);
    const whole = await run({}, path, null);
    for (const threads of [1, 3]) {
      const divided = await run({}, path, { fileBytesMin: 0, partBytes: 70_000 }, threads);
      t.ok(JSON.stringify({ ...divided, parts: 1 }) === JSON.stringify(whole), `${title}, ${threads} threads`);
    }
  }
});

test('a large output of one part is the same in parts and as a whole', async (t) => {
  const path = join(folderOf(t), 'rows.csv');
  writeFileSync(path, `a\n${'1\n'.repeat(200)}${`${'x'.repeat(1_000)}\n`.repeat(100)}`);
  const columns = Object.fromEntries(Array.from({ length: 900 }, (_, number) => [`c${number}`, 'a']));
  const template = { operations: [{ op: 'set', columns }] };
  const whole = await run(template, path, null);
  t.equal(whole.failure, null);
  for (const threads of [1, 2]) {
    const divided = await run(template, path, { fileBytesMin: 0, partBytes: 80_000 }, threads);
    // Two threads may have to keep the output in memory, which is then too large.
    if (threads === 1) t.equal(divided.parts, 2);
    t.ok(JSON.stringify({ ...divided, parts: 1 }) === JSON.stringify(whole), `${threads} threads`);
  }
});

test('what needs other rows, or the row number, is done as a whole', async (t) => {
  const path = join(folderOf(t), 'rows.csv');
  writeFileSync(path, `a\n${'1\n'.repeat(500)}`);
  for (const operation of [
    { op: 'dedupe', by: ['a'], keep: 'last' },
    { op: 'fill_down', columns: ['a'] },
    { op: 'slice', skip_last: 1 },
    { op: 'set', columns: { n: 'run.row' } },
    { op: 'filter', where: 'run.row > 400' },
    { op: 'validate', rules: [{ column: 'a', check: 'unique', on_error: 'flag' }] },
  ]) {
    const { parts, failure } = await run({ operations: [operation] }, path, SMALL_PARTS);
    t.equal(failure, null, operation.op);
    t.equal(parts, 1, operation.op);
  }
  const array = { output: { format: 'json' } };
  t.equal((await run(array, path, SMALL_PARTS)).parts, 1, 'an array of JSON');
  t.ok((await run({}, path, SMALL_PARTS)).parts > 1, 'nothing of it');
  const words = { op: 'set', columns: { run: '"run " + string(run.started_at)' } };
  t.ok((await run({ operations: [words] }, path, SMALL_PARTS)).parts > 1, 'the word alone says nothing of rows');
});

test('limits of errors hold for all parts together', async (t) => {
  const path = join(folderOf(t), 'rows.csv');
  // 60 rows of 3,000 have an error, most of them at the end.
  const rows = Array.from({ length: 3_000 }, (_, row) => (row === 5 || row > 2_940 ? 'x' : `${row}`));
  writeFileSync(path, `a,b\n${rows.map((cell, row) => `${cell},key ${row % 7}`).join('\n')}\n`);
  const parsed = { op: 'parse_number', columns: ['a'], on_error: 'blank' };
  const grouped = { op: 'aggregate', group_by: 'b', metrics: [{ fn: 'count', as: 'n' }] };
  // Seven more errors, after the groups are merged.
  const checked = { op: 'validate', rules: [{ column: 'b', check: 'in', values: ['none'], on_error: 'flag' }] };
  const limits = [59, 60, 61].flatMap((errors) => [{ max_errors: errors }, { max_error_ratio: errors / 3_000 }]);
  const later = [66, 67].flatMap((errors) => [{ max_errors: errors }, { max_error_ratio: errors / 3_000 }]);
  const engine = engineOf({}, 2, { fileBytesMin: 0, partBytes: 2_000 });
  t.teardown(() => engine.close());
  for (const defaults of [...limits, ...later, { max_errors: 0 }, { max_errors: 20, max_error_ratio: 0.5 }]) {
    for (const operations of [[parsed], [parsed, grouped], [parsed, grouped, checked]]) {
      const title = `${JSON.stringify(defaults)} of ${operations.length} operations`;
      const template = { defaults, operations };
      const whole = await run(template, path, null);
      const divided = doneOf(await engine.run(path, textOf(template)));
      t.ok(JSON.stringify({ ...divided, parts: 1 }) === JSON.stringify(whole), title);
      t.equal(divided.parts > 1, whole.failure === null, title);
    }
  }
});

test('parts know the values above and below the table', async (t) => {
  const path = join(folderOf(t), 'statement.csv');
  writeFileSync(path, `Year;2026\na;b\n${'1;2\n'.repeat(500)}Total;500\n`);
  const template = {
    input: {
      csv: { delimiter: ';', header_row: 1 },
      preamble: { year: { record: 0, field: 2 } },
      footer: { total: { record: 0, field: 2 } },
    },
    operations: [{ op: 'set', columns: { c: 'run.meta.year + "/" + run.meta.total' } }],
  };
  const whole = await run(template, path, null);
  const divided = await run(template, path, SMALL_PARTS);
  t.ok(divided.parts > 1, `${divided.parts} parts`);
  t.strictSame([divided.output, divided.report], [whole.output, whole.report]);
  t.match(divided.output, '\n1,2,2026/500\n');
});

test('an interrupted command ends at once and leaves nothing', async (t) => {
  const folder = folderOf(t);
  const input = join(folder, 'large.csv');
  const template = join(folder, 'template.json');
  writeFileSync(input, `id,name\n${`${'9'.repeat(12)},some longer name 12 of a row\n`.repeat(2_500_000)}`);
  const operations = [{ op: 'replace', columns: ['name'], mode: 'regex', find: '([a-z]+) ([0-9]+)', replace: '$2 $1' }];
  writeFileSync(template, JSON.stringify({ format: 1, operations }));
  const scratch = mkdtempSync(join(folder, 'scratch-'));
  const output = join(folder, 'output.csv');
  const args = [CLI, 'run', template, input, '-o', output];
  const child = spawn(process.execPath, args, { env: { ...process.env, TMPDIR: scratch } });
  let said = '';
  child.stderr.on('data', (bytes) => {
    said += bytes;
  });
  // Until rows have come to the command's own folder.
  while (child.exitCode === null && filesBelow(scratch).length === 0)
    await new Promise((resolve) => setTimeout(resolve, 5));
  child.kill('SIGINT');
  const [status] = await once(child, 'close');
  t.equal(status, 130, said);
  t.notMatch(said, 'Error');
  t.strictSame(readdirSync(scratch), [], 'no temporary folder');
  t.notOk(existsSync(output));
});

function digest(text: string | null): string {
  return createHash('sha256').update(text!).digest('hex');
}
