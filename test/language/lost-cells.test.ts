// No operation loses a cell silently. Each operation runs on columns that the Template declares, columns that only the file has
// and columns that operations made, of several types, with every `on_error`, with and without `where`. A successful Run has kept
// every cell that was not to be edited, and has counted the others or, with `on_error: reject`, written their rows to the second
// file.
// With all tests only: thousands of small Runs.
import { deepStrictEqual, ok } from 'node:assert/strict';
import { parse } from 'csv-parse/sync';
import t from 'tap';
import { operationTable } from '../../workers/operations/index.ts';
import type { RunOutcome } from '../../workers/protocol/messages.ts';
import type { RunReport } from '../../workers/protocol/report.ts';
import { type Application, TABLE } from '../operations/lost-cells.ts';
import { loadOperationCases } from '../operations/operation-cases.ts';
import { isLong, sweep } from '../sweep.ts';
import { applyTemplate } from '../workers/apply-template.ts';

/** Texts of which some are numbers, dates, JSON, several of these or plain text, and characters that JSON must escape. */
const VALUES = [
  '12',
  '1,5',
  '7.25',
  '2026-01-31',
  '{"x":1}',
  '[1,2]',
  '1,"admin":true',
  'x"y',
  '',
  'true',
  'a-b-c',
  '-3',
];

const FILE = [
  'id;k;v;w',
  ...VALUES.map((value, row) => `r${row};${row % 3};"${value.replaceAll('"', '""')}";w${row}`),
].join('\n');

const ON_ERROR = ['fail', 'drop_row', 'blank', 'keep', 'flag', 'reject'];

/** Settings of `on_error` tried on the first source whose column the operation accepts, and on each later source. */
const ON_FIRST_SOURCE = sweep({ short: 2, long: ON_ERROR.length });
const ON_OTHER_SOURCES = sweep({ short: 1, long: 2 });

/** A condition that is independent of the columns under test; the other rows must be unchanged. */
const WHERE = 'run.row % 2 == 1';

/** Every second value of `on_error` is also tried with a `where`; with all tests, each value. */
const ON_ERROR_PER_WHERE = 2;

/** An operation is tried with every third of the later sources; with all tests, with each of them. */
const SOURCES_PER_OPERATION = 3;

/** Minimum number of successful Runs per operation, so that results were compared. */
const RUNS_MIN = ON_FIRST_SOURCE;

type Row = Readonly<Record<string, unknown>>;

/** Origin and type of the column `v` when the operation under test receives it. */
const SOURCES: Readonly<Record<string, { readonly input?: object; readonly before: readonly object[] }>> = {
  'only in the file': { before: [] },
  declared: { input: { columns: [{ name: 'v' }] }, before: [] },
  'of a file, others dropped': {
    input: { columns: ['id', 'k', 'v', 'w'].map((name) => ({ name })), other_columns: 'drop' },
    before: [],
  },
  'made by rename': { before: [{ rename: { columns: { v: 'made' } } }, { rename: { columns: { made: 'v' } } }] },
  'made by set': {
    before: [{ rename: { columns: { v: 'old' } } }, { set: { columns: { v: 'old' } } }, { drop: { columns: ['old'] } }],
  },
  'of JSON': { before: [{ parse_json: { columns: 'v', on_error: 'blank' } }] },
  'of decimals': { before: [{ cast: { columns: { v: 'decimal' }, on_error: 'blank' } }] },
  'of dates': { before: [{ cast: { columns: { v: 'date' }, on_error: 'blank' } }] },
};

interface Answer {
  readonly rows: readonly Row[];
  readonly report: RunReport;
  /** Ids of the rows in the file of rejected rows. */
  readonly rejected: ReadonlySet<unknown>;
}

/** The rows of the output; null if the Template or the file is refused. Throws if a row is not valid JSON. */
async function answerOf(input: object | undefined, operations: readonly object[]): Promise<Answer | null> {
  const template = { input, operations, tables: { codes: { ref: 'codes' } }, output: { format: 'ndjson' } };
  let applied: Awaited<ReturnType<typeof applyTemplate>>;
  try {
    applied = await applyTemplate(template, FILE, 5, { codes: TABLE });
  } catch (error) {
    // A message of the Template's check begins with a pointer into the Template; any other message is a fault.
    if (/^\//.test((error as Error).message)) return null;
    throw error;
  }
  const { text, outcome } = applied;
  if (text === null) return null;
  return {
    rows: text
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as Row),
    report: outcome.report,
    rejected: new Set(rejectedRows(outcome).map(({ id }) => id)),
  };
}

function rejectedRows({ rejects }: RunOutcome): Readonly<Record<string, string>>[] {
  return rejects === null ? [] : parse(Buffer.from(rejects.bytes ?? []), { columns: true });
}

/** The text of a cell: a text parsed as a number or as JSON gives the same text. */
function textOf(cell: unknown): string {
  return typeof cell === 'string' ? cell : JSON.stringify(cell);
}

function countsOf(errors: RunReport['input']['errors']): number {
  return Object.values(errors).reduce((sum, { count }) => sum + count, 0);
}

interface Tried {
  readonly application: Application;
  /** `on_error: reject` applies to cells, and no row is dropped for another reason. */
  readonly rejects: boolean;
  readonly hasWhere: boolean;
  readonly before: Answer;
  readonly after: Answer;
}

/** Throws if a cell is neither kept nor counted. */
function judge({ application, rejects, hasWhere, before, after }: Tried): void {
  const { edits = [], removes = [], groups = false, ends = false } = application;
  const step = after.report.operations.at(-1)!;
  ok(after.report.rows_read === before.rows.length, 'all rows are read');
  ok(ends || step.rows_in === before.rows.length, 'all rows reach the operation');
  ok(countsOf(after.report.input.errors) === 0, 'the file is read whole');
  const byId = new Map<unknown, Row[]>();
  for (const row of after.rows) byId.set(row['id'], [...(byId.get(row['id']) ?? []), row]);
  let missing = 0;
  let differing = 0;
  for (const [index, old] of before.rows.entries()) {
    const found = byId.get(old['id']) ?? [];
    if (found.length === 0) missing++;
    if (rejects && !groups) ok(found.length > 0 || after.rejected.has(old['id']), `${String(old['id'])} is rejected`);
    for (const row of found) {
      for (const [name, cell] of Object.entries(old)) {
        if (removes.includes(name) || name === '_issues') continue;
        ok(name in row, `the column ${name} is there`);
        const isMeant = edits.includes(name) && !(hasWhere && index % 2 === 1);
        if (!isMeant) deepStrictEqual(row[name], cell, `${String(old['id'])}: ${name}`);
        else if (cell !== null && textOf(row[name]) !== textOf(cell)) differing++;
      }
    }
  }
  if (groups) return;
  // Rows that the operation made do not replace rows of the input: each missing row is one fewer of the input rows.
  const own = after.rows.filter((row) => before.rows.some((old) => old['id'] === row['id'])).length;
  ok(
    missing === 0 || step.rows_out - (after.rows.length - own) <= before.rows.length - missing,
    'rows that went are counted',
  );
  ok(differing <= step.cells_changed + countsOf(step.errors), `${differing} cells differ: ${JSON.stringify(step)}`);
}

const answersBefore = new Map<string, Answer>();

/** The result of a source without the operation: the same for all operations. */
async function beforeOf(source: string, input: object | undefined, operations: readonly object[]): Promise<Answer> {
  const known = answersBefore.get(source) ?? (await answerOf(input, operations));
  if (known === null) throw new Error(`${source}: there is nothing to compare with`);
  answersBefore.set(source, known);
  return known;
}

for (const [number, [name, { lostCells }]] of [...(await loadOperationCases())].entries()) {
  t.test(name, async (t) => {
    const isOfCells = operationTable.get(name)?.cells === true;
    let tried = 0;
    let firstPlace = Number.POSITIVE_INFINITY;
    for (const [place, [source, { input, before: steps }]] of Object.entries(SOURCES).entries()) {
      // The flag column exists from the start, so that it also exists in the compared result.
      for (const [turn, on_error] of ON_ERROR.entries()) {
        // Operations and sources take turns, because each Run compiles a Template.
        const settings = place > firstPlace ? ON_OTHER_SOURCES : ON_FIRST_SOURCE;
        if ((turn + place + number) % ON_ERROR.length >= settings) continue;
        if (place > firstPlace && !isLong && (place + number) % SOURCES_PER_OPERATION !== 0) continue;
        const flagged = on_error === 'flag' ? [{ text: { columns: 'w', steps: [{ prefix: '' }], on_error } }] : [];
        const before = await beforeOf(`${source} ${flagged.length}`, input, [...steps, ...flagged]);
        for (const [index, application] of lostCells.entries()) {
          const hasWhere = isOfCells && (isLong || (turn + index) % ON_ERROR_PER_WHERE === 0);
          for (const where of hasWhere ? [undefined, WHERE] : [undefined]) {
            const operation = { [name]: { ...application.parameters, on_error, ...(where && { where }) } };
            const after = await answerOf(input, [...steps, ...flagged, operation]);
            if (after === null) continue;
            tried++;
            firstPlace = Math.min(firstPlace, place);
            try {
              const rejects = isOfCells && on_error === 'reject';
              judge({ application, rejects, hasWhere: where !== undefined, before, after });
            } catch (error) {
              t.fail(`${JSON.stringify(operation)} on a column ${source}: ${(error as Error).message}`);
            }
          }
        }
      }
    }
    t.ok(tried >= RUNS_MIN, `${tried} Runs succeeded`);
  });
}
