// Reads texts as numbers into typed columns: the common spelling by a kernel, what it hands back by the caller's own reader.
import { FORMS } from '../../kernel/bindings/expression-words.ts';
import { VIEW_BYTES } from '../../kernel/layout/cells.ts';
import {
  AS_WRITTEN,
  DOWN,
  EXACT,
  HALF_EVEN,
  HALF_UP,
  READ_ARE_WRITTEN,
  READ_BYTES,
  READ_FORM,
  READ_GROUPING,
  READ_MARK,
  READ_MINUS_ZERO,
  READ_ROUNDING,
  READ_SCALE,
  READ_SIGNED,
} from '../../kernel/layout/numbers.ts';
import type { Heap } from '../../memory/heap.ts';
import type { OperatorContext } from '../../operations/operation.ts';
import type { Rounding } from '../../values/decimal.ts';
import type { NumberFormat } from '../../values/number-text.ts';
import type { CellEdit, CellTarget } from './cell-operator.ts';
import { type ReadCells, readEdit } from './read-cells.ts';
import { CellFault, convertEdit, type NativeReader } from './value-cells.ts';

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
export const ROUNDING = { error: EXACT, half_even: HALF_EVEN, half_up: HALF_UP, down: DOWN } as const;

/** Marks that a kernel may look for: no digit, letter, sign or bracket, one byte. */
const PLAIN_MARK = /^[.,'_;:]$/;

/** Any number of so few characters is read by a kernel: 18 digits fit 64 bits. */
const KERNEL_DIGITS_MAX = 18;

const [COMMA, POINT, ZERO, NINE] = [0x2c, 0x2e, 0x30, 0x39];

/** Larger scales than any that 18 digits can be raised to are left to the reader. */
const SCALE_MOST = 15;

/** The edit that reads a column of text; `read` gives the value of a text as the kernel would, or a CellFault. */
export function numberEdit(
  context: OperatorContext,
  target: CellTarget,
  reading: NumberReading,
  read: (text: unknown) => unknown,
  native: NativeReader,
): CellEdit {
  const words = formatWords(reading);
  if (words === null) return convertEdit(context, target, read, native);
  const { arena } = context;
  const { run, format } = numberRun(context, words);
  // Numbers that the file knows as such are all written in one way, whatever the Template says of its texts.
  const hasKinds = target.source?.hasKinds === true;
  const plain = hasKinds ? formatWords({ ...reading, format: {} }) : null;
  const runNumbers = plain === null ? null : numberRun(context, plain).run;
  // A double is written with the fewest digits.
  const isWritten = (): boolean => reading.type !== 'number' && arena.heap.u32[(format + READ_ARE_WRITTEN) >>> 2] === 1;
  return readEdit(context, target, run, read, { read: native, runNumbers }, () =>
    isWritten() ? words[READ_MARK / 4]! : null,
  );
}

/** Reads cells as numberEdit does, and leaves none that is surely no number; null where no kernel knows the format. */
export function numberKernel(context: OperatorContext, reading: NumberReading): ReadCells | null {
  const words = formatWords(reading);
  if (words === null) return null;
  const { run } = numberRun(context, words);
  const { heap } = context.arena;
  const { grouping = '', groups, strip = [] } = reading.format;
  // It knows all ways to group but these, and takes nothing off the ends.
  if (groups === 'indian' || /^\s$/.test(grouping) || strip.some((text) => /[0-9.,]/.test(text))) return run;
  return (views, rows, count, at, meta, todo) => {
    const filled = run(views, rows, count, at, meta, todo);
    const list = todo >>> 2;
    const left = heap.u32[list]!;
    let kept = 0;
    for (let i = 1; i <= left; i++) {
      const row = heap.u32[list + i]!;
      if (!isOfDigitsAndMarks(heap, views + row * VIEW_BYTES)) heap.u32[list + ++kept] = row;
    }
    heap.u32[list] = kept;
    return filled;
  };
}

/** Whether a cell has nothing but digits, points and commas, and no more of them than the kernel reads. */
function isOfDigitsAndMarks({ u8, u32 }: Heap, view: number): boolean {
  const start = u32[view >>> 2]!;
  const end = start + u32[(view >>> 2) + 1]!;
  if (end - start > KERNEL_DIGITS_MAX) return false;
  for (let at = start; at < end; at++) {
    const byte = u8[at]!;
    if (byte !== POINT && byte !== COMMA && (byte < ZERO || byte > NINE)) return false;
  }
  return true;
}

function numberRun({ arena, kernel }: OperatorContext, words: Uint32Array): { run: ReadCells; format: number } {
  const format = arena.heap.allocate(READ_BYTES);
  arena.heap.u32.set(words, format >>> 2);
  const run: ReadCells = (views, rows, count, at, meta, todo) =>
    kernel.exports.readNumbers(views, rows, count, format, at, meta, todo);
  return { run, format };
}

/** A double, or OUT_OF_RANGE where the digits mean more than a double holds: they are not infinite. */
export function finiteNumber(value: number): number | CellFault {
  return Number.isFinite(value) ? value : new CellFault('OUT_OF_RANGE');
}

/** Null when the plain spelling means something else here. */
function formatWords({ format, type, scale, rounding, minusZero }: NumberReading): Uint32Array | null {
  const { decimal = '.', grouping = '', negative = ['-x'], strip = [] } = format;
  // The kernel knows groups of three.
  const groups = /^\s$/.test(grouping) || format.groups === 'indian' ? '' : grouping;
  if (!PLAIN_MARK.test(decimal) || (groups !== '' && !PLAIN_MARK.test(groups)) || groups === decimal) return null;
  if (scale !== null && (scale < 0 || scale > SCALE_MOST)) return null;
  // Numbers with a sign are read after what is stripped, those without are not.
  const signed = negative.includes('-x') && strip.every((text) => !/[-0-9.,'_;:]/.test(text));
  const words = new Uint32Array(READ_BYTES / 4);
  words[READ_MARK / 4] = decimal.charCodeAt(0);
  words[READ_GROUPING / 4] = groups === '' ? 0 : groups.charCodeAt(0);
  words[READ_SIGNED / 4] = signed ? 1 : 0;
  words[READ_FORM / 4] = FORM[type];
  words[READ_SCALE / 4] = scale ?? AS_WRITTEN;
  words[READ_ROUNDING / 4] = ROUNDING[rounding];
  words[READ_MINUS_ZERO / 4] = minusZero ? 1 : 0;
  return words;
}
