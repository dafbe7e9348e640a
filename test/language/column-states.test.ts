// An operation gives the same result whatever the state of its columns in memory: raw bytes of the upload, clean texts, values
// whose text a writer may copy from the file, values with another spelling, native kinds, rows read back from files. Each
// application of each operation, and chains of two, run with all states of a random type and output format.
// With all tests only: thousands of small Runs.
import t, { type Test } from 'tap';
import { operationTable } from '../../workers/operations/index.ts';
import { Chance } from '../fuzz/chance.ts';
import { TABLE } from '../operations/lost-cells.ts';
import { loadOperationCases } from '../operations/operation-cases.ts';
import { seed } from '../random.ts';
import { isLong, sweep } from '../sweep.ts';
import { applyTemplate, type Limits } from '../workers/apply-template.ts';

/** Number of types and formats tried for each application. */
const ON_EACH = sweep({ short: 1, long: 4 });
const CHAINS = sweep({ short: 10, long: 240 });
const ROWS_MAX = 30;
const BATCH_ROWS = 7;

const ON_ERROR = ['fail', 'drop_row', 'blank', 'keep', 'flag', 'reject'];

interface Type {
  /** Operations that make `v` a column of this type. */
  readonly reads: readonly object[];
  /** Each cell as a CSV output writes it, and in another spelling of the same value. */
  readonly cells: readonly (readonly [written: string, other: string])[];
  /** The cells are numbers in the JSON states. */
  readonly isNumber?: true;
}

const DECIMALS = [
  ['1.5', '01.5'],
  ['12', '012'],
  ['-3', '-03'],
  ['7.25', '+7.25'],
  ['0', '00'],
  ['1234567890123456789012.5', '01234567890123456789012.5'],
] as const;
const INTEGERS = [
  ['12', '+12'],
  ['-3', '-03'],
  ['0', '00'],
  ['9007199254740993', '09007199254740993'],
] as const;
const DATES = [
  ['2026-01-31', '31/01/2026'],
  ['2024-02-29', '29/02/2024'],
  ['1969-12-31', '31/12/1969'],
] as const;
const TIMES = [
  ['2026-01-31T10:00:00Z', '2026-01-31T12:00:00+02:00'],
  ['1969-12-31T23:59:59Z', '1969-12-31T23:59:59+00:00'],
] as const;
const TEXTS = ['12', 'a-b-c', 'x', '=1+1', '[1,2]', '7.25', '2026-01-31', '00'].map((text) => [text, text] as const);
const formats = ['yyyy-MM-dd', 'dd/MM/yyyy'];

const TYPES: Readonly<Record<string, Type>> = {
  text: { reads: [], cells: TEXTS },
  decimal: { reads: [{ parse_number: { columns: 'v' } }], cells: DECIMALS, isNumber: true },
  'decimal by cast': { reads: [{ cast: { columns: { v: 'decimal' } } }], cells: DECIMALS },
  integer: { reads: [{ parse_number: { columns: 'v', type: 'integer' } }], cells: INTEGERS, isNumber: true },
  'integer by cast': { reads: [{ cast: { columns: { v: 'integer' } } }], cells: INTEGERS },
  number: { reads: [{ parse_number: { columns: 'v', type: 'number' } }], cells: DECIMALS.slice(0, 5), isNumber: true },
  date: { reads: [{ parse_date: { columns: 'v', formats } }], cells: DATES },
  datetime: { reads: [{ cast: { columns: { v: 'datetime' } } }], cells: TIMES },
};

type Output = Readonly<Record<string, unknown>>;

const OUTPUTS: readonly Output[] = [
  { format: 'csv' },
  { format: 'csv' },
  { format: 'csv', csv: { quoting: 'all' } },
  { format: 'csv', csv: { decimal: ',', delimiter: ',' } },
  { format: 'csv', csv: { delimiter: ';' } },
  { format: 'csv', formula_guard: 'strict' },
  { format: 'tsv' },
  { format: 'json' },
  { format: 'ndjson' },
  { format: 'xlsx' },
  { format: 'parquet' },
];

interface State {
  readonly file: string;
  /** Operations before and after those that read `v`. */
  readonly before?: readonly object[];
  readonly after?: readonly object[];
  readonly limits?: Limits;
  /** Formats whose output differs for a documented reason. */
  readonly differsIn?: readonly string[];
}

/** Keeps the rows and their order, but stores the rows and reads them back. */
const STORING = { sort: { by: [{ column: 'at' }] } };
/** Keeps all rows, and reads the texts of `v`. */
const LOOKING = { filter: { where: 'v != "@"' } };

/** The same table in all states. Arrays are parallel: one entry per row or cell. */
function states(name: string, rows: readonly (readonly string[])[], others: readonly string[]): State[] {
  const { isNumber = false, reads } = TYPES[name]!;
  const csv = (cell: (text: string, row: number, column: number) => string): string => {
    const lines = rows.map((row, at) => row.map((text, column) => cell(text, at, column)).join(','));
    return ['at,id,k,v,w', ...lines, ''].join('\n');
  };
  const quoted = (text: string): string => `"${text}"`;
  const plain = csv((text) => (/[",]/.test(text) ? quoted(text) : text));
  const lines = rows.map(([at, id, k, v, w]) => {
    const texts = `"at":"${at}","id":"${id}","k":"${k}"`;
    return `{${texts},"v":${v === '' ? 'null' : isNumber ? v : JSON.stringify(v)},"w":"${w}"}\n`;
  });
  return [
    { file: plain },
    { file: csv((text) => (text === '' ? '' : quoted(text))) },
    { file: plain, before: [LOOKING] },
    { file: plain, after: [STORING] },
    { file: plain, before: [STORING] },
    // With less memory, row groups are smaller.
    { file: plain, limits: { spills: true }, differsIn: ['parquet'] },
    // A workbook writes texts from JSON as texts, and cells of CSV that are numbers as numbers.
    { file: lines.join(''), differsIn: ['xlsx'] },
    ...(reads.length === 0 ? [] : [{ file: csv((text, row, column) => (column === 3 ? quoted(others[row]!) : text)) }]),
  ];
}

/**
 * The result that must be the same: the file or the reason of its failure, and the report of the operations. Null if the Template
 * is refused.
 */
async function answer({ file, before = [], after = [], limits = {} }: State, reads: readonly object[], rest: Rest) {
  const operations = [...before, ...reads, ...after, ...rest.operations];
  const template = { tables: { codes: { ref: 'codes' } }, operations, output: rest.output };
  try {
    // A failure hides a header of the file unless the Template names the column, and not every state names the column.
    const shown = { ...limits, showsHeaders: true };
    const { bytes, outcome } = await applyTemplate(template, file, BATCH_ROWS, { codes: TABLE }, shown);
    const { failure, report, rejects } = outcome;
    const steps = report.operations.slice(-rest.operations.length);
    const error = failure === null ? null : [failure.code, failure.place?.row, failure.place?.column];
    if (failure?.code === 'TEMPLATE_COLUMNS_MISSING') return null;
    const rejected = rejects === null ? null : Buffer.from(rejects.bytes ?? []).toString();
    // The report numbers its operations.
    const texts = [bytes?.toString('latin1') ?? null, rejected?.replaceAll(/\b\d+ (?=[a-z_]+,)/g, '') ?? null];
    // A failed Run does not report operations that other rows have passed.
    return JSON.stringify(failure === null ? [texts, steps] : error);
  } catch (error) {
    if (/^\//.test((error as Error).message)) return null;
    throw error;
  }
}

interface Rest {
  readonly operations: readonly object[];
  readonly output: Output;
}

function anyStep(chance: Chance, name: string, parameters: object): object {
  const isOnCells = operationTable.get(name)!.cells;
  return {
    [name]: {
      ...parameters,
      ...(isOnCells ? { on_error: chance.of(ON_ERROR) } : {}),
      ...(isOnCells && chance.oneIn(4) ? { where: 'run.row % 2 == 1' } : {}),
    },
  };
}

interface Combination {
  readonly type: string;
  readonly output: Output;
}

function anyCombination(chance: Chance): Combination {
  return { type: chance.of(Object.keys(TYPES)), output: chance.of(OUTPUTS) };
}

/** A Template over numbers, and an output that may copy the numbers' bytes from the upload. */
function copiedNumbers(chance: Chance): Combination {
  return { type: chance.of(['decimal', 'decimal by cast', 'integer', 'integer by cast']), output: { format: 'csv' } };
}

/** Fails if the states give different results. Returns true if the Template is valid. */
async function tryStates(
  t: Test,
  chance: Chance,
  steps: readonly object[],
  { type: name, output }: Combination,
): Promise<boolean> {
  const { cells, reads } = TYPES[name]!;
  // Few values, so that values repeat and most batches contain no value that is too large for a kernel.
  const few = [chance.of(cells), chance.of(cells), ['', ''] as const];
  const drawn = Array.from({ length: 1 + chance.below(ROWS_MAX) }, () => chance.of(few));
  const rows = drawn.map(([text], row) => {
    return [String(100 + row), `r${chance.oneIn(6) ? 0 : row}`, String(chance.below(3)), text, `w${chance.below(4)}`];
  });
  const rest = { operations: steps, output };
  const all = states(
    name,
    rows,
    drawn.map(([, other]) => other),
  );
  const expected = await answer(all[0]!, reads, rest);
  if (expected === null) return false;
  for (const state of all.slice(1)) {
    if (state.differsIn?.includes(output['format'] as string)) continue;
    const found = await answer(state, reads, rest);
    if (found === expected) continue;
    t.comment(JSON.stringify({ name, reads, rest, state, first: all[0] }), expected, found);
    t.equal(found, expected, `${JSON.stringify(steps)} on ${name}`);
  }
  return true;
}

const OPERATION_CASES = [...(await loadOperationCases())];

for (const [place, [name, { lostCells }]] of OPERATION_CASES.entries()) {
  t.test(name, async (t) => {
    const chance = new Chance(seed, place);
    let sound = 0;
    const applied = isLong ? lostCells : lostCells.filter((_, index) => index % 2 === 0);
    for (const { parameters } of applied) {
      for (let tries = 0; tries < ON_EACH; tries++) {
        const steps = [anyStep(chance, name, parameters)];
        const chosen = (tries + place) % 2 === 0 ? copiedNumbers(chance) : anyCombination(chance);
        // Every operation accepts texts or dates.
        for (const type of [chosen.type, 'text', 'date']) {
          if (!(await tryStates(t, chance, steps, { ...chosen, type }))) continue;
          sound++;
          break;
        }
      }
    }
    t.ok(sound > 0, 'Templates are sound');
  });
}

t.test('chains of two', async (t) => {
  const chance = new Chance(seed, 999);
  const all = OPERATION_CASES.flatMap(([name, { lostCells }]) =>
    lostCells.map(({ parameters }) => ({ name, parameters })),
  );
  const step = (): object => {
    const { name, parameters } = chance.of(all);
    return anyStep(chance, name, parameters);
  };
  let sound = 0;
  for (let chain = 0; chain < CHAINS; chain++)
    if (await tryStates(t, chance, [step(), step()], anyCombination(chance))) sound++;
  t.ok(sound > CHAINS / 10, 'many of the Templates are sound');
});
