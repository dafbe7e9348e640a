// Finds columns of texts that an operation compares although their cells are numbers, dates or times, so that 10 is
// before 9. The result stays as the Template says; the report counts such a column (NUMBERS_AS_TEXT).
import type { Batch } from '../../batch/batch.ts';
import type { Column } from '../../batch/schema.ts';
import { Failed } from '../../protocol/failure.ts';
import { countCode } from '../../protocol/report.ts';
import type { Operator, OperatorContext } from '../../template/operation.ts';

/** Number of rows examined: enough to see what a column contains. */
const ROWS_MAX = 1000;

/** Longer cells are not numbers. */
const CELL_BYTES_MAX = 40;

/** Number of cells below which a column proves nothing. */
const CELLS_MIN = 2;

/** The possible orders of a form: a value for each, or null if the text does not have the form. */
type Form = (text: string) => readonly number[] | null;

const FORMS: readonly Form[] = [dateOf, clockOf, numberOf];

interface SeenCell {
  readonly text: string;
  readonly source: number;
}

/**
 * Examines the rows that the operator receives.
 * @param columns the columns that the operator compares; only text columns are checked
 * @param isFirstPart the operator receives only the rows of the first part of the file. Throws Failed if these are too few
 */
export function withOrderCheck(
  operator: Operator,
  columns: readonly Column[],
  context: OperatorContext,
  isFirstPart = false,
): Operator {
  const texts = [...new Set(columns)].filter(({ type }) => type === 'text');
  if (texts.length === 0) return operator;
  const seen = texts.map((column) => ({ index: context.indexOf(column), cells: [] as SeenCell[] }));
  let rows = 0;
  const look = (batch: Batch): void => {
    const count = Math.min(batch.live, ROWS_MAX - rows);
    rows += count;
    for (const { index, cells } of count > 0 ? seen : []) addCells(batch, index, count, cells);
  };
  const { rowsMost, rowNames, endPart } = operator;
  return {
    push(batch) {
      look(batch);
      return operator.push(batch);
    },
    *finish() {
      if (isFirstPart && rows < ROWS_MAX) throw new Failed('RUN_RESOURCE_LIMIT', 'The first part has too few rows.');
      for (const { cells } of seen) {
        const first = firstMisplaced(cells);
        if (first !== null) countCode(context.report.errors, 'NUMBERS_AS_TEXT', first.source);
      }
      if (operator.finish !== undefined) yield* operator.finish();
    },
    ...(endPart === undefined ? {} : { endPart }),
    ...(rowsMost === undefined ? {} : { rowsMost }),
    ...(rowNames === undefined ? {} : { rowNames: () => rowNames.call(operator) }),
  };
}

function addCells(batch: Batch, index: number, count: number, cells: SeenCell[]): void {
  if (index < 0) return;
  const at = batch.views(index);
  const { u32 } = batch.heap;
  for (let position = 0; position < count; position++) {
    const row = batch.physicalRow(position);
    const bytes = u32[(at >>> 2) + row * 2] === 0 ? 0 : u32[(at >>> 2) + row * 2 + 1]!;
    if (bytes === 0) continue;
    const text = bytes > CELL_BYTES_MAX ? '' : batch.text({ kind: 'views', at }, row)!;
    cells.push({ text, source: batch.sourceRow(row) });
  }
}

/**
 * Returns the first cell of the file that the order of texts puts after a larger one, or null if there is none, or if
 * the cells do not all have the same form.
 */
function firstMisplaced(cells: readonly SeenCell[]): SeenCell | null {
  if (cells.length < CELLS_MIN) return null;
  const form = FORMS.find((one) => one(cells[0]!.text) !== null);
  if (form === undefined) return null;
  const valued = cells.map((cell) => ({ cell, values: form(cell.text) }));
  if (valued.some(({ values }) => values === null)) return null;
  valued.sort((a, b) => (a.cell.text < b.cell.text ? -1 : a.cell.text > b.cell.text ? 1 : 0));
  const readings = valued[0]!.values!.map((_, reading) => valued.map(({ values }) => values![reading]!));
  const misplaced = readings
    .filter((values) => !values.some(Number.isNaN))
    .map((values) => valued.filter((_, at) => at > 0 && values[at]! < values[at - 1]!));
  if (misplaced.length === 0 || misplaced.some((found) => found.length === 0)) return null;
  const found = misplaced[0]!.map(({ cell }) => cell);
  return found.reduce((first, cell) => (cell.source < first.source ? cell : first));
}

const DATE = /^(\d{1,2})[./-](\d{1,2})[./-](\d{4}|\d{2})(?:\D.*)?$/;

/** Reads a date as day-month and as month-day. NaN for an order in which the month is above 12. */
function dateOf(text: string): number[] | null {
  const [, first, second, year] = DATE.exec(text) ?? [];
  if (year === undefined) return null;
  const [a, b, y] = [Number(first), Number(second), Number(year)];
  return [
    [a, b],
    [b, a],
  ].map(([day, month]) => (month! > 12 ? Number.NaN : (y * 100 + month!) * 100 + day!));
}

const CLOCK = /^\d{1,3}(?::\d{2}){1,2}(?:[.,]\d+)?$/;

function clockOf(text: string): number[] | null {
  if (!CLOCK.test(text)) return null;
  return [text.split(':').reduce((sum, part) => sum * 60 + Number(part.replace(',', '.')), 0)];
}

const NUMBER = /^[-+\u2212]?\d+(?:[.,' \u00a0\u202f]\d+)*$/;

/** A number with any separators: one that occurs once, or is the last of several, begins the fraction. */
function numberOf(text: string): number[] | null {
  if (!NUMBER.test(text)) return null;
  const plain = text.replace('\u2212', '-').replaceAll(/[' \u00a0\u202f]/g, '');
  const marks = plain.replaceAll(/[^.,]/g, '');
  const mark = marks.at(-1);
  const hasFraction = mark !== undefined && marks.indexOf(mark) === marks.length - 1;
  const at = hasFraction ? plain.lastIndexOf(mark) : plain.length;
  const whole = plain.slice(0, at).replaceAll(/[.,]/g, '');
  return [Number(`${whole}.${plain.slice(at + 1)}`)];
}
