// A small benchmark without the other systems: each workload by template-run and by its hand-written JavaScript
// over csv-parse, whose answers must agree; and the parts of the tool itself.
// With all tests only: the files of examples and packages.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse } from 'csv-parse/sync';
import t from 'tap';
import { type Answer, compareAnswers, readAnswer, readParquetAnswer } from '../../bench/answers.ts';
import { benchBudget } from '../../bench/budget.ts';
import { TextWriter } from '../../bench/contenders/text-writer.ts';
import { INPUTS } from '../../bench/inputs/index.ts';
import { LastingProcess, measure } from '../../bench/measure.ts';
import { OPERATION_ROWS, operationJobNamed } from '../../bench/operations/index.ts';
import { limitOf } from '../../bench/physical-limits.ts';
import { chartSvg } from '../../bench/report/chart.ts';
import { comparisonLines, readRun, writeRun } from '../../bench/report/comparison.ts';
import { type Measurement, saveMeasurement } from '../../bench/report/measurements.ts';
import { writeResults } from '../../bench/report/results.ts';
import type { Chart, Section } from '../../bench/report/section.ts';
import { inOrderOf } from '../../bench/service/small-runs.ts';
import { readSettings } from '../../bench/settings.ts';
import { WORKLOADS, workloadNamed } from '../../bench/workloads/index.ts';
import type { Cells } from '../../bench/workloads/javascript-program.ts';
import type { Workload } from '../../bench/workloads/workload.ts';
import { operationTable } from '../../workers/operations/index.ts';

const INPUT_BYTES = 300_000;
const folder = mkdtempSync(join(tmpdir(), 'template-run-bench-smoke-'));
t.teardown(() => rmSync(folder, { recursive: true, force: true }));

function inputOf(workload: Workload): string {
  const path = join(folder, `${workload.input}.csv`);
  INPUTS[workload.input].make(path, INPUT_BYTES);
  return path;
}

function run(workload: string, input: string, output: string): void {
  measure({ system: 'template-run', threads: 1, workload, input, output, budgetBytes: null });
}

function ownAnswer(workload: Workload): Answer {
  const output = join(folder, `own.${workload.ending}`);
  rmSync(output, { force: true });
  run(workload.name, inputOf(workload), output);
  return readAnswer(output, workload);
}

function handWrittenAnswer(workload: Workload): Answer {
  const output = join(folder, `hand-written.${workload.ending}`);
  const { delimiter } = INPUTS[workload.input];
  const [header, ...rows] = parse(readFileSync(inputOf(workload)), { delimiter }) as string[][];
  const work = workload.javascript(header!);
  const writer = new TextWriter(output, work.columns, workload.ending);
  const write = (cells: Cells | null): void => {
    if (cells !== null) writer.row(cells);
  };
  for (const cells of rows) write(work.row(cells));
  for (const cells of work.finish?.() ?? []) write(cells);
  writer.close();
  return readAnswer(output, workload);
}

for (const workload of WORKLOADS) {
  t.test(`${workload.name}: ${workload.title}`, async (t) => {
    const own = ownAnswer(workload);
    t.ok(own.rows.length > 10, `${own.rows.length} rows`);
    compareAnswers(workload, 'csv-parse', own, handWrittenAnswer(workload));
  });
}

t.test('the statement holds what W8 is to tidy away', async (t) => {
  const text = readFileSync(inputOf(workloadNamed('W8')), 'utf8');
  t.match(text, /\n;;;;;;\n/, 'a blank line');
  t.match(text, /\nSumme;;;;;1\.192,35;\n$/, 'the sum at the foot');
  t.match(text, /;-?\d+\.\d{3},\d\d;/, 'amounts with groups');
  const rows = text.split('\n').length;
  const answer = ownAnswer(workloadNamed('W8'));
  t.ok(answer.rows.length < rows * 0.99, 'bookings that were pasted twice are gone');
  const issues = answer.rows.map((row) => row.at(-1));
  t.ok(issues.includes('iban:PATTERN_MISMATCH'), 'some IBANs are flagged');
  t.ok(issues.includes(''), 'and others are not');
});

t.test('answers in Parquet are read as records', async (t) => {
  const workload = operationJobNamed('CSV to Parquet');
  const input = inputOf(workloadNamed('W4'));
  const output = join(folder, 'answer.parquet');
  run(workload.name, input, output);
  const own = await readParquetAnswer(output);
  t.ok(own.rows.length > 10);
  compareAnswers(workload, 'duckdb', own, readAnswer(input, { ending: 'csv' }));
});

t.test('orders hold addresses that come again', async (t) => {
  const addresses = readFileSync(inputOf(workloadNamed('W4')), 'utf8').match(/user\d+@[a-z.]+/g)!;
  const answer = ownAnswer(workloadNamed('W4'));
  t.equal(answer.rows.length, new Set(addresses).size);
  t.ok(answer.rows.length < addresses.length - 10);
});

t.test('a process that lasts gives the same answer in each run, with each number of threads', async (t) => {
  const workload = workloadNamed('W1');
  const output = join(folder, 'lasting.csv');
  const input = inputOf(workload);
  for (const threads of [1, 2]) {
    const job = { system: 'template-run', threads, workload: 'W1', input, output, budgetBytes: null } as const;
    const lasting = await LastingProcess.start({ ...job, warmUp: { input, milliseconds: 100 } });
    for (let round = 0; round < 2; round++) {
      t.notOk(existsSync(output), 'the warm-up and the test leave no output');
      t.ok((await lasting.run()).milliseconds > 0);
      compareAnswers(workload, 'csv-parse', ownAnswer(workload), readAnswer(output, workload));
      rmSync(output);
    }
    await lasting.stop();
  }
  const lost = { system: 'template-run', threads: 1, workload: 'W1', input, output, budgetBytes: null } as const;
  const missing = await LastingProcess.start({ ...lost, input: join(folder, 'none.csv') });
  await t.rejects(missing.run(), /template-run on W1 ended early/);
  await missing.stop();
});

t.test('a process of its own measures a run within a memory budget', async (t) => {
  const workload = workloadNamed('W6');
  const output = join(folder, 'measured.csv');
  const job = { system: 'template-run', threads: 1, workload: 'W6', input: inputOf(workload), output } as const;
  const found = measure({ ...job, budgetBytes: 64 * 1024 * 1024 });
  t.ok(found.milliseconds > 0);
  t.ok(found.processorMilliseconds > 0);
  t.ok(found.peakBytes > 20e6, 'at least what Node itself takes');
  t.equal(found.outputBytes, readFileSync(output).length);
  compareAnswers(workload, 'csv-parse', ownAnswer(workload), readAnswer(output, workload));
  t.throws(() => measure({ ...job, input: join(folder, 'none.csv'), budgetBytes: null }), /template-run on W6 ended/);
});

t.test('within a budget every job has the bytes that it has without one', async (t) => {
  const sections: Section[] = [];
  const [sort] = OPERATION_ROWS.filter(({ covers }) => covers === 'sort');
  const [select] = OPERATION_ROWS.filter(({ covers }) => covers === 'select');
  const rows = [select!, sort!];
  const settings = {
    folder,
    bytes: INPUT_BYTES,
    rows,
    workloads: [workloadNamed('W1'), workloadNamed('W4')],
    progress: { show() {}, clear() {} },
  };
  benchBudget(settings, (section) => sections.push(section));
  t.strictSame(
    sections[0]?.rows.map(([title]) => title),
    [workloadNamed('W4').title, sort?.name],
    'work whose memory does not grow with the file is left out',
  );
});

t.test('every operation of the language has a row of the table, and fifteen and eight families beside', async (t) => {
  const used = new Set(OPERATION_ROWS.flatMap(({ template }) => template.map(({ op }) => op)));
  t.same(
    [...operationTable.keys()].filter((name) => !used.has(name)),
    [],
  );
  t.equal(OPERATION_ROWS.filter(({ covers }) => covers === 'expression').length, 15);
  t.equal(OPERATION_ROWS.filter(({ covers }) => covers === 'regular expression').length, 8);
  t.equal(new Set(OPERATION_ROWS.map(({ name }) => name)).size, OPERATION_ROWS.length, 'each name once');
});

t.test('other answers are noticed', async (t) => {
  const workload = workloadNamed('W6');
  const own: Answer = {
    columns: ['id', 'amount'],
    rows: [
      ['1', '2.50'],
      ['2', '2.5'],
      ['3', '1'],
    ],
  };
  const rows = (...rows: string[][]): Answer => ({ columns: own.columns, rows });
  const differs = (system: 'duckdb' | 'miller', theirs: Answer): boolean => {
    try {
      compareAnswers(workload, system, own, theirs);
      return false;
    } catch {
      return true;
    }
  };
  t.notOk(differs('miller', rows(['1', '2.5'], ['2', '2.500'], ['3', '1.0'])), 'numbers by value');
  t.ok(differs('miller', rows(['2', '2.5'], ['1', '2.5'], ['3', '1'])), 'equal rows in another order');
  t.notOk(differs('duckdb', rows(['2', '2.5'], ['1', '2.5'], ['3', '1'])), 'which DuckDB may');
  t.ok(differs('duckdb', rows(['3', '1'], ['1', '2.5'], ['2', '2.5'])), 'not sorted');
  t.ok(differs('duckdb', rows(['1', '2.5'], ['2', '2.5'], ['4', '1'])), 'another row');
  t.ok(differs('miller', rows(['1', '2.5'], ['2', '2.5'])), 'a row too few');
  t.ok(differs('miller', { columns: ['id', 'total'], rows: own.rows }), 'another column');
});

t.test('output is read however it is quoted', async (t) => {
  const path = join(folder, 'quoted.csv');
  writeFileSync(path, 'a,"b"\n"x ""y"", z",\n"two\nlines",2\n');
  t.same(readAnswer(path, workloadNamed('W1')), {
    columns: ['a', 'b'],
    rows: [
      ['x "y", z', ''],
      ['two\nlines', '2'],
    ],
  });
});

t.test('no server is always measured after the same other one', async (t) => {
  const entries = ['a', 'b', 'c', 'd'];
  const former = new Set<string>();
  for (let round = -3; round < 5; round++) {
    const order = inOrderOf(round, entries);
    t.strictSame([...order].sort(), entries, `each once in round ${round}`);
    for (const [index, entry] of order.entries()) former.add(`${order[index - 1]}${entry}`);
  }
  for (const entry of entries) t.ok([...former].filter((pair) => pair.endsWith(entry)).length > 1, entry);
});

t.test('options', async (t) => {
  t.same([...readSettings(['--only', 'w3,W1-wide']).parts], ['engine']);
  t.same(
    readSettings(['--only', 'w3,W1-wide']).workloads.map(({ name }) => name),
    ['W1-wide', 'W3'],
  );
  t.same([...readSettings(['--only', 'growth']).parts], ['growth']);
  t.same(
    readSettings(['--only', 'parquet,ndjson']).workloads.map(({ name }) => name),
    ['NDJSON', 'Parquet'],
  );
  t.equal(readSettings([]).workloads.length, WORKLOADS.length);
  t.equal(readSettings(['--quick']).rounds, 1);
  t.equal(readSettings(['--quick', '--rounds', '3']).rounds, 3);
  t.equal(readSettings(['--write']).write, true);
  t.throws(() => readSettings(['--write', '--quick']), /full inputs and rounds/);
  t.equal(readSettings(['--write', '--only', 'W1']).write, true, 'a part can be measured again alone');
  t.throws(() => readSettings(['--only', 'W1,W99']), /does not know W99/);
  t.throws(() => readSettings(['--bytes', '2e3.5']), /whole number/);
  const chosen = readSettings(['--rows', 'W6,of each address,join']);
  const names = chosen.scalingJobs.map(({ name }) => name);
  t.same(names, ['W6', 'count and sum of each address', 'join a table of countries'], 'rows of scaling');
  t.ok(chosen.rows.some(({ name }) => name === 'join a table of countries'));
  t.throws(() => readSettings(['--rows', 'W6,teleport']), /no row has teleport/);
});

t.test('a failed part does not end the run', async (t) => {
  const args = ['dist/bench/main.js', '--only', 'front-ends,growth', '--bytes', '20000', '--rounds', '1'];
  const { status, stdout, stderr } = spawnSync(process.execPath, [...args, '--node', join(folder, 'no-node')], {
    encoding: 'utf8',
  });
  t.equal(status, 1);
  t.match(stderr, /^front-ends failed: .*ENOENT/m);
  t.match(stdout, /^growth: \d+\.\d minutes$/m);
  t.match(stdout, /^W6 in 64 MiB, 0 MB /m);
});

const machine = {
  processor: 'P',
  cores: 2,
  memoryBytes: 2 ** 34,
  medium: 'disk',
  node: 'v20',
  commit: null,
  date: '',
  load: 0,
};

t.test('charts show the spread, mark what is slower, and draw sizes as lines', async (t) => {
  const bar = (label: string, samples: readonly number[], ours: boolean) => ({
    label,
    value: samples[1]!,
    samples,
    ours,
  });
  const chart: Chart = {
    unit: 'MB/s',
    better: 'more',
    bars: [bar('ours', [90, 100, 110], true), bar('theirs', [180, 200, 220], false)],
    limit: null,
  };
  const colours = (svg: string) => [...svg.matchAll(/<rect x="180"[^>]* fill="(#\w+)"/g)].map((match) => match[1]);
  const slower = chartSvg('W1', chart);
  const [own] = colours(slower);
  t.not(own, colours(chartSvg('W1', { ...chart, better: 'less' }))[0], 'a worse result has another colour');
  const spreads = [...slower.matchAll(/<path d="M([\d.]+) [\d.]+H([\d.]+)M/g)].map(
    ([, from, to]) => Number(to) - Number(from),
  );
  t.equal(spreads.length, 2);
  t.ok(Math.abs(spreads[1]! / spreads[0]! - 2) < 0.01, 'twice the spread is twice as long');
  const points = [10, 100, 1000].map((megabytes) => ({ megabytes, value: 100 }));
  const lines = chartSvg('growth', { ...chart, lines: [{ label: 'W1', points }] });
  const [, drawn] = /<polyline points="([^"]+)"/.exec(lines)!;
  const places = drawn!.split(' ').map((point) => point.split(',').map(Number));
  t.equal(new Set(places.map(([, y]) => y)).size, 1, 'the same value has the same height');
  t.equal(places[1]![0]! - places[0]![0]!, places[2]![0]! - places[1]![0]!, 'ten times as large is as far each time');
});

t.test('a run is compared with an earlier one, beyond its noise and the speed of the machine', async (t) => {
  const run = (ours: readonly number[], theirs: readonly number[]): readonly Measurement[] => {
    const bar = (label: string, samples: readonly number[]) => ({
      label,
      value: samples[1]!,
      samples,
      ours: label === 'ours',
    });
    const chart: Chart = {
      unit: 'MB/s',
      better: 'more',
      bars: [bar('ours', ours), bar('theirs', theirs)],
      limit: null,
    };
    const section = { name: 'w1', title: 'W1', columns: [], rows: [], notes: [], chart };
    return [{ machine, section, summary: null }];
  };
  const old = run([95, 100, 105], [48, 50, 52]);
  const path = join(folder, 'run.json');
  writeRun(path, old);
  t.same(readRun(path), old);
  const none = ['1 results were compared, 0 became worse beyond the noise.'];
  t.same(comparisonLines(old, run([80, 90, 99], [48, 50, 52])), none, 'within the noise');
  t.same(comparisonLines(old, run([47, 50, 53], [24, 25, 26])), none, 'the machine was half as fast');
  t.same(comparisonLines(old, run([190, 200, 210], [48, 50, 52])), none, 'better');
  const [, line] = comparisonLines(old, run([47, 50, 53], [48, 50, 52]));
  t.equal(line, '0.50  w1, ours: 50.0 MB/s, 100 before');
  writeFileSync(path, '{}');
  t.throws(() => readRun(path), /not written by/);
});

t.test('limits, tables and charts', async (t) => {
  // Reading and scanning 1 MB takes 0.5 and 0.25 ms, writing half as much takes 0.5 ms: 1.25 ms for 1 MB.
  const limits = { memcpy: 8000, read: 2000, scan: 4000, write: 1000 };
  t.equal(limitOf(workloadNamed('W1'), limits, 100, 50).rate, 800);
  const chart: Chart = {
    unit: 'MB/s',
    better: 'more',
    bars: [
      { label: 'ours', value: 400, samples: [300, 400, 500], ours: true },
      { label: 'a < b & c', value: 200, samples: [], ours: false },
    ],
    limit: { label: 'memcpy', value: 800 },
  };
  const svg = chartSvg('W1', chart);
  const widths = [...svg.matchAll(/<rect x="180"[^>]* width="([\d.]+)"/g)].map((match) => Number(match[1]));
  t.equal(widths.length, 2);
  t.equal(widths[0], widths[1]! * 2, 'bars are as long as their values');
  t.match(svg, 'a &lt; b &amp; c');
  const section = (name: string, cell: string): Section => ({
    name,
    title: `${name}: a title`,
    columns: ['', 'MB/s'],
    rows: [['ours', cell]],
    notes: ['A note.'],
    chart,
  });
  const own = { name: 'template-run', rate: 300, peakBytes: 100e6 };
  const best = { name: 'other', rate: 200, peakBytes: 400e6 };
  const summary = { label: 'W1', title: 'select', limitRate: 600, own, best, oneThreadRatio: 2 };
  const results = join(folder, 'results');
  saveMeasurement(results, { machine, section: section('growth', '1'), summary: null });
  saveMeasurement(results, { machine, section: section('w1', '7'), summary });
  saveMeasurement(results, { machine: { ...machine, node: 'v22' }, section: section('w1', '400'), summary });
  saveMeasurement(results, { machine, section: section('upload', '5'), summary: null });
  writeResults(results);
  t.equal(readFileSync(join(results, 'charts', 'w1.svg'), 'utf8'), chartSvg('w1: a title', chart));
  const text = readFileSync(join(results, 'RESULTS.md'), 'utf8');
  t.notMatch(text, /not measured|w1-wide/i, 'a part that was not measured is left out');
  t.match(text, '| W1, select | 300 | other | 200 | 1.50 | 2.00 | 100 | 400 |');
  const machineText = 'P, 2 cores, 16 GiB; medium of inputs and outputs disk; node v22; commit none';
  t.match(text, `## w1: a title\n\n|  | MB/s |\n|---|---:|\n| ours | 400 |\n\nA note.\n\nMeasured on: ${machineText}`);
  t.ok(text.indexOf('| ours | 400 |') < text.indexOf('| ours | 1 |'), 'workloads before the service');
  t.match(text, '| 100 | 400 |\n\n![Summary', 'the summary');
  t.match(text, '- upload: a title: 400 MB/s, 2.00 times the rate of a < b & c\n', 'and the service below it');
  t.notMatch(text, '| ours | 7 |', 'measured again, a section replaces the earlier one');
  const later = { ...machine, commit: 'later', peers: ['DuckDB 1.2', 'Miller 6'] };
  saveMeasurement(results, { machine: later, section: section('growth', '9'), summary: null });
  writeResults(results);
  const laterText = readFileSync(join(results, 'RESULTS.md'), 'utf8');
  t.notMatch(laterText, '## w1', 'results of another commit are removed');
  t.match(laterText, '; compared with DuckDB 1.2, Miller 6; commit later');
});
