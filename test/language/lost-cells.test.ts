// No operation loses a cell in silence: each one on columns that the Template declares, that only the file brings and that
// operations made, of several types, with every `on_error`, with and without `where`. A Run that succeeds has every
// cell that was not to be edited, and has counted the others or, with `on_error: reject`, put their rows into the second file.
import { deepStrictEqual, ok } from 'node:assert/strict';
import { parse } from 'csv-parse/sync';
import t from 'tap';
import { operationTable } from '../../workers/operations/index.ts';
import type { RunOutcome } from '../../workers/protocol/messages.ts';
import type { RunReport } from '../../workers/run/report.ts';
import { sweep } from '../sweep.ts';
import { applyTemplate } from '../workers/apply-template.ts';
import { APPLICATIONS, type Application, TABLE } from './operation-applications.ts';

/** Texts of which some are numbers, dates, JSON, all of these and none, and what would break out of JSON. */
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

/** How many of them are tried on each source but the first. */
const ON_OTHER_SOURCES = sweep({ short: 1, long: 2 });

/** Rows of which no operation knows the condition's columns; the others must stay as they are. */
const WHERE = 'run.row % 2 == 1';

type Row = Readonly<Record<string, unknown>>;

/** Where the column `v` comes from, and what type it has when the operation under test gets it. */
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

/** The output as rows, which throws for what is no JSON; null where the Template or the file is refused. */
async function answerOf(input: object | undefined, operations: readonly object[]): Promise<Answer | null> {
  const template = { input, operations, tables: { codes: { ref: 'codes' } }, output: { format: 'ndjson' } };
  let applied: Awaited<ReturnType<typeof applyTemplate>>;
  try {
    applied = await applyTemplate(template, FILE, 5, { codes: TABLE });
  } catch (error) {
    // What a Template's check says begins with the place in it; everything else is a fault.
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

/** A text that is read as a number or as JSON says the same as before. */
function textOf(cell: unknown): string {
  return typeof cell === 'string' ? cell : JSON.stringify(cell);
}

function countsOf(errors: RunReport['input']['errors']): number {
  return Object.values(errors).reduce((sum, { count }) => sum + count, 0);
}

interface Tried {
  readonly application: Application;
  /** Of cells, and rejects rows: no row goes for another reason. */
  readonly rejects: boolean;
  readonly hasWhere: boolean;
  readonly before: Answer;
  readonly after: Answer;
}

/** Throws where a cell is neither there nor counted. */
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
  // Rows that were made take no row's place: a row that is missing is one less of those that came in.
  const own = after.rows.filter((row) => before.rows.some((old) => old['id'] === row['id'])).length;
  ok(
    missing === 0 || step.rows_out - (after.rows.length - own) <= before.rows.length - missing,
    'rows that went are counted',
  );
  ok(differing <= step.cells_changed + countsOf(step.errors), `${differing} cells differ: ${JSON.stringify(step)}`);
}

const answersBefore = new Map<string, Answer>();

/** What comes out of a source, for all operations the same. */
async function beforeOf(source: string, input: object | undefined, operations: readonly object[]): Promise<Answer> {
  const known = answersBefore.get(source) ?? (await answerOf(input, operations));
  if (known === null) throw new Error(`${source}: there is nothing to compare with`);
  answersBefore.set(source, known);
  return known;
}

t.test('every operation is looked at', async (t) => {
  t.strictSame(Object.keys(APPLICATIONS).sort(), [...operationTable.keys()].sort());
});

for (const [name, applications] of Object.entries(APPLICATIONS)) {
  t.test(name, async (t) => {
    const isOfCells = operationTable.get(name)?.cells === true;
    let tried = 0;
    for (const [place, [source, { input, before: steps }]] of Object.entries(SOURCES).entries()) {
      // The flag column is there from the start, so it is there before, too.
      for (const [turn, on_error] of ON_ERROR.entries()) {
        // All of them on the first source, some on the others, in turns: each Run is a Template to compile.
        if (place > 0 && (turn + place) % ON_ERROR.length >= ON_OTHER_SOURCES) continue;
        const flagged = on_error === 'flag' ? [{ text: { columns: 'w', steps: [{ prefix: '' }], on_error } }] : [];
        const before = await beforeOf(`${source} ${flagged.length}`, input, [...steps, ...flagged]);
        for (const application of applications) {
          for (const where of isOfCells ? [undefined, WHERE] : [undefined]) {
            const operation = { [name]: { ...application.parameters, on_error, ...(where && { where }) } };
            const after = await answerOf(input, [...steps, ...flagged, operation]);
            if (after === null) continue;
            tried++;
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
    t.ok(tried >= ON_ERROR.length, `${tried} Runs succeeded`);
  });
}
