// One row and the evaluation of expressions over it, for the tests beside this file.
import { test } from 'tap';
import { checkExpression } from '../../../workers/expression/check/checker.ts';
import { compileExpression } from '../../../workers/expression/compile/compiler.ts';
import type { ExpressionEnvironment } from '../../../workers/expression/compile/environment.ts';
import { EvaluationError, type Value } from '../../../workers/expression/compile/value.ts';
import { resultColumn, valueText } from '../../../workers/expression/compile/value-text.ts';
import { parseDecimal } from '../../../workers/values/decimal.ts';
import { CalendarDate, parseDateText, parseTimestamp } from '../../../workers/values/timestamp.ts';

export type Row = Readonly<Record<string, Value | number>>;

/** The columns of the row. */
export const ENVIRONMENT: ExpressionEnvironment = {
  columns: new Map([
    ['status', 'text'],
    ['amount', 'decimal'],
    ['tax', 'decimal'],
    ['quantity', 'integer'],
    ['score', 'number'],
    ['paid', 'boolean'],
    ['booked', 'date'],
    ['at', 'datetime'],
    ['data', 'json'],
    ['Invoice No', 'text'],
    ['value', 'text'],
    ['__proto__', 'text'],
    ['constructor', 'text'],
    ['missing', 'text'],
    ['date', 'text'],
    ['größe', 'integer'],
  ]),
  tables: new Map([['suppliers', ['id', 'name', 'city']]]),
};

/** One row with a cell of every type. */
export const ROW: Row = {
  status: 'paid',
  amount: parseDecimal('12.30')!,
  tax: parseDecimal('0.19')!,
  quantity: 3,
  score: 1.5,
  paid: true,
  booked: new CalendarDate(parseDateText('2024-02-29')!),
  at: parseTimestamp('2024-02-29T23:30:00Z')!,
  data: null,
  'Invoice No': 'R-0007',
  value: 'own',
  ['__proto__']: 'proto',
  constructor: 'made',
  missing: null,
  date: '2024-05-06',
  größe: 9,
};

const SUPPLIERS: ReadonlyMap<string, string> = new Map([['7', 'Miller']]);

/** The text of the result, null, or the code of the row's error. A problem is `!` followed by its message. */
export function run(source: string, row: Row = ROW, environment: ExpressionEnvironment = ENVIRONMENT): string | null {
  const checked = checkExpression(source, environment);
  if ('problems' in checked) return `!${checked.problems.map(({ message }) => message).join(' ')}`;
  const evaluate = compileExpression<Row>(checked.expression, {
    column: (name) => (cells) => (Object.hasOwn(cells, name) ? cells[name] : null),
    value: () => 'cell',
    runRow: () => 42,
    startedAt: parseTimestamp('2024-03-01T08:00:00Z')!,
    lookup: () => (key) => SUPPLIERS.get(key) ?? null,
  });
  try {
    const cell = resultColumn(checked.expression.type).cell(evaluate(row)) as Value;
    return cell === null ? null : valueText(cell);
  } catch (error) {
    if (error instanceof EvaluationError) return `#${error.code}`;
    throw error;
  }
}

/** Expressions with the results of run(). */
export type Table = readonly (readonly [string, string | null])[];

/** A test of a table of expressions and their results. */
export function holds(name: string, table: Table): void {
  test(name, async (t) => {
    for (const [source, expected] of table) t.equal(run(source), expected, source);
  });
}
