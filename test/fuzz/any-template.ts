// Random Templates made from the examples of all operations, and files with untidy cells for them. Each row of
// such a file carries a witness, a cell that no operation touches, so that a row that goes without a count is seen.
import { operationTable } from '../../workers/operations/index.ts';
import { checkTemplate } from '../../workers/plan/template-cache.ts';
import type { OperationExample } from '../../workers/template/operation.ts';
import { CANARY } from '../blackbox/multipart.ts';
import type { Chance } from './chance.ts';
import { type Dialect, type MarkedTable, written } from './marked-table.ts';

export const WITNESS = 'witness';

/** Of one Template; most chains of more have a mistake. */
const STEPS_MAX = 3;
const ROWS_MAX = 60;
const TRIES_MAX = 200;
const ON_ERROR = ['drop_row', 'blank', 'keep', 'flag', 'fail'];
const DIALECT: Dialect = { delimiter: ',', lineEnd: '\n', quoting: 'minimal', mark: '', lastLineEnds: true };

export interface AnyTemplate {
  readonly content: object;
  /** Headers of the file that it needs, without the witness. */
  readonly columns: readonly string[];
  /** Cells of the examples, to draw from. */
  readonly cells: readonly string[];
  /** True if its operations may change the witness or mistake it for another row. */
  readonly touchesWitness: boolean;
}

type Operation = Readonly<Record<string, unknown>>;

/** One that the checker accepts. */
export function anyTemplate(chance: Chance): AnyTemplate {
  const examples = [...operationTable.values()].flatMap((definition) =>
    definition.examples.filter(isAlone).map((example) => ({ example, cells: definition.cells })),
  );
  for (let tries = 0; tries < TRIES_MAX; tries += 1) {
    const chosen = Array.from({ length: 1 + chance.below(STEPS_MAX) }, () => chance.of(examples));
    const columns = [...new Set(chosen.flatMap(({ example }) => example.input.columns))];
    const operations = chosen.flatMap(({ example, cells }) => [
      ...casts(example),
      varied(example.operation, cells, columns, chance),
    ]);
    const content = { format: 1, name: 'Fuzz', operations, output: { format: chance.of(FORMATS) } };
    if ('template' in checkTemplate(JSON.stringify(content), 'json')) {
      const cells = chosen.flatMap(({ example }) => example.input.rows.flat()).filter((cell) => cell !== null);
      return { content, columns, cells, touchesWitness: ANY_COLUMN.test(JSON.stringify(operations)) };
    }
  }
  throw new Error(`no sound Template in ${TRIES_MAX} tries`);
}

/** Column sets that do not name their columns. */
const ANY_COLUMN = /"\*"|"(?:columns|column|by|group_by)":\{/;

const FORMATS = ['csv', 'csv', 'csv', 'tsv', 'json', 'ndjson'];

/** False for an example that needs reference tables or secrets of the catalog. */
function isAlone({ tables, operation }: OperationExample): boolean {
  return tables === undefined && operation['table'] === undefined && operation['key'] === undefined;
}

/** An example may speak of columns that are numbers or dates. */
function casts({ input: { columns, types } }: OperationExample): Operation[] {
  const typed = columns.flatMap((name, index) => {
    const type = types?.[index] ?? 'text';
    return type === 'text' ? [] : [[name, type] as const];
  });
  return typed.length === 0 ? [] : [{ op: 'cast', columns: Object.fromEntries(typed), on_error: 'blank' }];
}

/** The same operation with another `on_error`, a condition, other columns. */
function varied(operation: Operation, isOnCells: boolean, columns: readonly string[], chance: Chance): Operation {
  const others: Record<string, unknown> = {};
  if (isOnCells && chance.oneIn(2)) others['on_error'] = chance.of(ON_ERROR);
  if (isOnCells && chance.oneIn(4))
    others['where'] = chance.of(['run.row % 2 == 0', 'run.row > 3', `${WITNESS} != ""`]);
  if (typeof operation['columns'] === 'string' && chance.oneIn(3)) others['columns'] = chance.of(columns);
  if (Array.isArray(operation['columns']) && chance.oneIn(6)) others['columns'] = '*';
  return { ...operation, ...others };
}

export function fileFor({ columns, cells }: AnyTemplate, chance: Chance): { table: MarkedTable; bytes: Buffer } {
  const cell = (): string => chance.of(chance.oneIn(3) ? CELLS : cells.length === 0 ? CELLS : cells);
  const rows = Array.from({ length: chance.below(ROWS_MAX) }, (_, row) => [
    ...columns.map(() => cell()),
    `${CANARY}-row-${row}`,
  ]);
  const table = { headers: [...columns, WITNESS], rows };
  return { table, bytes: written(table, DIALECT) };
}

const CELLS = [
  ...[
    '',
    ' ',
    'x',
    'X ',
    '\u00e9',
    'e\u0301',
    '\u0130',
    '12',
    '-3.5',
    '1.234,50',
    '007',
    '1e400',
    '9'.repeat(60),
    'NaN',
  ],
  ...['31.01.2026', '2026-02-30', '29.02.2024 25:61', 'a;b|c,d', 'quo"te', 'line\nfeed', '=1+1', '-', 'true', 'null'],
  ...['{"a":1}', '[1,2', '"', '[[[[1]]]]', '{"a":{"a":[]}}', '\ud83d\udc68\u200d\ud83d\udc69', '<p>a</p>', '&#0;', '%'],
  ...[CANARY, `${CANARY}@example.org`, `https://${CANARY}.example/`, 'DE89370400440532013000', '4111111111111111'],
  ...[
    'a'.repeat(3000),
    '\u0301'.repeat(200),
    '1'.repeat(3000),
    '('.repeat(200),
    'a@'.repeat(500),
    '\t\u00a0 '.repeat(99),
  ],
];
