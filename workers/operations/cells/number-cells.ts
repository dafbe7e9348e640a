// Reads texts as numbers into typed columns: the common spelling by a kernel, what it hands back by the caller's own reader.
import { FORMS } from '../../kernel/expression-kernels.ts';
import type { Rounding } from '../../values/decimal.ts';
import type { NumberFormat } from '../../values/number-text.ts';
import type { OperatorContext } from '../operation.ts';
import type { CellEdit, CellTarget } from './cell-operator.ts';
import { type ReadCells, readEdit } from './read-cells.ts';
import { CellFault, convertEdit } from './value-cells.ts';

/** How numbers are written, and what becomes of them. */
export interface NumberReading {
  readonly format: NumberFormat;
  readonly type: 'decimal' | 'integer' | 'number';
  /** Digits behind the point; null: as written. */
  readonly scale: number | null;
  readonly rounding: Rounding;
  /** Whether -0 is a double of its own. */
  readonly minusZero: boolean;
}

const FORM = { decimal: FORMS.decimal, integer: FORMS.int, number: FORMS.double } as const;
/** The roundings as kernels take them. */
export const ROUNDING = { error: 0, half_even: 1, half_up: 2, down: 3 } as const;
const AS_WRITTEN = 0xffffffff;
const FORMAT_WORDS = 8;
/** Where the kernel says whether all cells stand there as they are written. */
const WRITTEN_WORD = 7;

/** Marks that a kernel may look for: no digit, letter, sign or bracket, one byte. */
const PLAIN_MARK = /^[.,'_;:]$/;

/** Larger scales than any that 18 digits can be raised to are left to the reader. */
const SCALE_MOST = 15;

/** The edit that reads a column of text; `read` gives the value of a text as the kernel would, or a CellFault. */
export function numberEdit(
  context: OperatorContext,
  target: CellTarget,
  reading: NumberReading,
  read: (text: unknown) => unknown,
): CellEdit {
  const words = formatWords(reading);
  if (words === null) return convertEdit(context, target, read);
  const { arena, kernel } = context;
  const format = arena.heap.allocate(FORMAT_WORDS * 4);
  arena.heap.u32.set(words, format >>> 2);
  const run: ReadCells = (views, rows, count, at, meta, todo) =>
    kernel.exports.readNumbers(views, rows, count, format, at, meta, todo);
  // A double is written with the fewest digits.
  const isWritten = (): boolean => reading.type !== 'number' && arena.heap.u32[(format >>> 2) + WRITTEN_WORD] === 1;
  return readEdit(context, target, run, read, () => (isWritten() ? words[0]! : null));
}

/** A double, or OUT_OF_RANGE where the digits mean more than a double holds: they are not infinite. */
export function finiteNumber(value: number): number | CellFault {
  return Number.isFinite(value) ? value : new CellFault('OUT_OF_RANGE');
}

/** Null when the plain spelling means something else here. */
function formatWords({ format, type, scale, rounding, minusZero }: NumberReading): number[] | null {
  const { decimal = '.', grouping = '', negative = ['-x'], strip = [] } = format;
  const groups = /^\s$/.test(grouping) ? '' : grouping;
  if (!PLAIN_MARK.test(decimal) || (groups !== '' && !PLAIN_MARK.test(groups)) || groups === decimal) return null;
  if (scale !== null && (scale < 0 || scale > SCALE_MOST)) return null;
  // Numbers with a sign are read after what is stripped, those without are not.
  const signed = negative.includes('-x') && strip.every((text) => !/[-0-9.,'_;:]/.test(text));
  return [
    decimal.charCodeAt(0),
    groups === '' ? 0 : groups.charCodeAt(0),
    signed ? 1 : 0,
    FORM[type],
    scale ?? AS_WRITTEN,
    ROUNDING[rounding],
    minusZero ? 1 : 0,
  ];
}
