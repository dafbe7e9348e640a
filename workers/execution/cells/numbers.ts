// Parses, rounds and formats columns of numbers with kernels. Values that the kernels do not support are processed one
// by one.

import type { TypedColumn } from '../../batch/batch.ts';
import { ColumnBuilder } from '../../batch/column-builder.ts';
import { FORMS } from '../../kernel/bindings/expression-words.ts';
import { VIEW_BYTES } from '../../kernel/layout/cells.ts';
import {
  AS_WRITTEN,
  DOUBLE_PLACES_MAX,
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
  ROUNDING_GIVEN_UP,
  SCALE_MAX,
  WRITE_BEFORE_NEGATIVE,
  WRITE_BEHIND_NEGATIVE,
  WRITE_BYTES,
  WRITE_GROUPING,
  WRITE_MARK,
  WRITE_PREFIX,
  WRITE_ROUNDING,
  WRITE_SCALE,
  WRITE_SUFFIX,
  WRITING_GIVEN_UP,
} from '../../kernel/layout/numbers.ts';
import type { Heap } from '../../memory/heap.ts';
import type { OperatorContext } from '../../template/operation.ts';
import { compareDecimals, type Decimal, type Rounding } from '../../values/decimal.ts';
import { type GroupSizes, type NumberFormat, parseNumberText } from '../../values/number-text.ts';
import type { CellEdit, CellTarget, CellWork } from './cell-operator.ts';
import { type ReadCells, readEdit } from './read-cells.ts';
import { placeText, settleText } from './text-chain.ts';
import { CellFault, convertEdit, type NativeReader } from './value-cells.ts';

// Parses texts as numbers into typed columns. A kernel parses the usual notation; the caller's function parses the
// texts that the kernel leaves.

/** Notation of the numbers, and their conversion. */
export interface NumberReading {
  readonly format: NumberFormat;
  readonly type: 'decimal' | 'integer' | 'number';
  /** Number of decimal places, or null for as many as written. */
  readonly scale: number | null;
  readonly rounding: Rounding;
  /** True if -0 differs from 0 as a double. */
  readonly minusZero: boolean;
}

const FORM = { decimal: FORMS.decimal, integer: FORMS.int, number: FORMS.double } as const;
/** Rounding modes as numbers for the kernels. */
const ROUNDING = { error: EXACT, half_even: HALF_EVEN, half_up: HALF_UP, down: DOWN } as const;

/** Separators that a kernel supports: one byte that is not a digit, letter, sign or bracket. */
const PLAIN_MARK = /^[.,'_;:]$/;

/** Maximum number of characters of a number that a kernel always parses: 18 digits fit into 64 bits. */
const KERNEL_DIGITS_MAX = 18;

const [COMMA, POINT, ZERO, NINE] = [0x2c, 0x2e, 0x30, 0x39];

/** Maximum scale for the kernel: 18 digits cannot be raised to larger ones. */
const SCALE_MOST = 15;

/**
 * Returns a function that makes the edit for a text column. All columns share the description of the format. `read`
 * returns the value of a text as the kernel would, or a CellFault.
 */
export function numberEdits(
  context: OperatorContext,
  reading: NumberReading,
  read: (text: unknown) => unknown,
  native: NativeReader,
): (target: CellTarget) => CellEdit {
  const words = formatWords(reading);
  if (words === null) return (target) => convertEdit(context, target, read, native);
  const { arena } = context;
  const { run, format } = numberRun(context, words);
  // A double is written with the fewest digits.
  const isWritten = (): boolean => reading.type !== 'number' && arena.heap.u32[(format + READ_ARE_WRITTEN) >>> 2] === 1;
  const writtenMark = (): number | null => (isWritten() ? words[READ_MARK / 4]! : null);
  const ofTexts = { read: native, runNumbers: null };
  // Numbers with a native kind have one notation, whatever the Template declares for texts.
  const plain = formatWords({ ...reading, format: {} });
  const withKinds = { read: native, runNumbers: plain === null ? null : numberRun(context, plain).run };
  return (target) => {
    const hasKinds = target.source?.hasKinds === true;
    return readEdit(context, target, run, read, hasKinds ? withKinds : ofTexts, writtenMark);
  };
}

/**
 * Parses cells like numberEdit, and leaves no cell that is certainly not a number. Returns null if no kernel supports
 * the notation.
 */
export function numberKernel(context: OperatorContext, reading: NumberReading): ReadCells | null {
  const words = formatWords(reading);
  if (words === null) return null;
  const { run } = numberRun(context, words);
  const { heap } = context.arena;
  const { grouping = '', groups, strip = [] } = reading.format;
  // The kernel supports all ways of grouping except these, and strips no texts.
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

/** True if a cell has only digits, points and commas, and no more of them than the kernel supports. */
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

/** Returns the double, or OUT_OF_RANGE if the digits exceed the range of doubles, because they do not mean infinity. */
export function finiteNumber(value: number): number | CellFault {
  return Number.isFinite(value) ? value : new CellFault('OUT_OF_RANGE');
}

/** Returns null if the usual notation has a different meaning in this format. */
function formatWords({ format, type, scale, rounding, minusZero }: NumberReading): Uint32Array | null {
  const { decimal = '.', grouping = '', negative = ['-x'], strip = [] } = format;
  // The kernel supports groups of three only.
  const groups = /^\s$/.test(grouping) || format.groups === 'indian' ? '' : grouping;
  if (!PLAIN_MARK.test(decimal) || (groups !== '' && !PLAIN_MARK.test(groups)) || groups === decimal) return null;
  if (scale !== null && (scale < 0 || scale > SCALE_MOST)) return null;
  // Signs are parsed after stripping, but unsigned numbers are not stripped.
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

// Rounds and formats columns of decimals with kernels (kernel/assembly/numbers.ts). Values that the kernels do not
// support are handled cell by cell.

/** Rules for formatting numbers. A `scale` of null keeps all digits. */
export interface NumberWriting {
  readonly scale: number | null;
  readonly rounding: Rounding;
  readonly decimal: string;
  readonly grouping: string;
  readonly prefix: string;
  readonly suffix: string;
  /** Texts before and after negative numbers. */
  readonly negative: readonly [before: string, after: string];
}

/**
 * Returns the edit that rounds a column of decimals. `round` returns the result for one value as the kernel would, or a
 * CellFault.
 */
export function roundEdit(
  context: OperatorContext,
  target: CellTarget,
  scale: number,
  rounding: Rounding,
  round: (value: unknown) => unknown,
): CellEdit {
  const byCell = convertEdit(context, target, round);
  if (target.target.type !== 'decimal' || scale < 0 || scale > SCALE_MAX) return byCell;
  const { arena, kernel } = context;
  return (work) => {
    const { batch, rows, count, column, inPlace } = work;
    const source = batch.columns[column]!;
    if (source.kind !== 'typed' || source.type !== 'decimal') return byCell(work);
    const builder = new ColumnBuilder(arena, 'decimal');
    if (!builder.begin(batch.rows, inPlace ? source : null)) return null;
    const made = builder.column;
    if (made.kind !== 'typed') throw new Error('decimals are typed');
    const { roundDecimals } = kernel.exports;
    const changes = inPlace ? 1 : 0;
    const changed =
      roundDecimals(source.at, source.meta, rows, count, scale, ROUNDING[rounding], made.at, made.meta, changes) >>> 0;
    if (changed === ROUNDING_GIVEN_UP) return byCell(work);
    work.changed(changed);
    return made;
  };
}

/**
 * Returns a function that makes the edit for a column of numbers, which formats decimals and integers with a kernel. All
 * columns share the description of the format. `write` returns the text of one value, or a CellFault.
 */
export function writeNumbersEdits(
  context: OperatorContext,
  writing: NumberWriting,
  write: (value: unknown) => unknown,
): (target: CellTarget) => CellEdit {
  const program = (writing.scale ?? 0) > SCALE_MAX ? null : place(context.arena.heap, writing);
  return (target) => {
    const byCell = convertEdit(context, target, write);
    const type = target.source?.type;
    const hasKernel = program !== null && (type === 'decimal' || type === 'integer');
    return hasKernel ? writeNumbersEdit(context, type, program, byCell) : byCell;
  };
}

function writeNumbersEdit(
  context: OperatorContext,
  type: 'decimal' | 'integer',
  program: number,
  byCell: CellEdit,
): CellEdit {
  const { arena, kernel } = context;
  const integers = type === 'integer' ? 1 : 0;
  return (work) => {
    const { batch, rows, count, column } = work;
    const source = batch.columns[column]!;
    if (source.kind !== 'typed' || source.type !== type) return byCell(work);
    const views = arena.tryTake(batch.rows * VIEW_BYTES);
    if (views === 0) return null;
    arena.heap.u8.fill(0, views, views + batch.rows * VIEW_BYTES);
    const { next, limit } = arena;
    const { writeNumbers } = kernel.exports;
    const end = writeNumbers(source.at, source.meta, rows, count, integers, program, views, next, limit) >>> 0;
    if (end === WRITING_GIVEN_UP) return byCell(work);
    if (end === 0) return null;
    arena.next = end;
    settleText(context, work, 0, views, false);
    return { kind: 'views', at: views };
  };
}

function place(heap: Heap, { scale, rounding, decimal, grouping, prefix, suffix, negative }: NumberWriting): number {
  const program = heap.allocate(WRITE_BYTES);
  const texts: readonly (readonly [at: number, text: string])[] = [
    [WRITE_MARK, decimal],
    [WRITE_GROUPING, grouping],
    [WRITE_PREFIX, prefix],
    [WRITE_SUFFIX, suffix],
    [WRITE_BEFORE_NEGATIVE, negative[0]],
    [WRITE_BEHIND_NEGATIVE, negative[1]],
  ];
  for (const [word, text] of texts) {
    const { at, bytes } = placeText(heap, text);
    heap.u32.set([at, bytes], (program + word) >>> 2);
  }
  heap.u32[(program + WRITE_SCALE) >>> 2] = scale ?? AS_WRITTEN;
  heap.u32[(program + WRITE_ROUNDING) >>> 2] = ROUNDING[rounding];
  return program;
}

// Rounds columns of doubles with a kernel (kernel/assembly/numbers.ts). Cells that it does not support are handled one
// by one.

/**
 * Returns the edit that rounds a column of doubles. `round` returns the result for one value as the kernel would, or a
 * CellFault.
 */
export function roundDoublesEdit(
  context: OperatorContext,
  target: CellTarget,
  scale: number,
  rounding: Rounding,
  round: (value: unknown) => unknown,
): CellEdit {
  const byCell = convertEdit(context, target, round);
  if (scale < 0 || scale > DOUBLE_PLACES_MAX) return byCell;
  const { arena, kernel } = context;
  return (work) => {
    const { batch, rows, count, column, inPlace } = work;
    const source = batch.columns[column]!;
    if (source.kind !== 'typed' || source.type !== 'number') return byCell(work);
    const builder = new ColumnBuilder(arena, 'number');
    const todo = arena.tryTake((count + 1) * 4);
    if (todo === 0 || !builder.begin(batch.rows, inPlace ? source : null)) return null;
    const made = builder.column;
    if (made.kind !== 'typed') throw new Error('doubles are typed');
    const changes = inPlace ? 1 : 0;
    const { at, meta } = source;
    const { roundDoubles } = kernel.exports;
    const changed =
      roundDoubles(at, meta, rows, count, scale, ROUNDING[rounding], made.at, made.meta, changes, todo) >>> 0;
    work.changed(changed + settle(work, source, builder, todo, round));
    return made;
  };
}

/** Rounds the cells that the kernel has left. Returns how many of them changed. */
function settle(
  { batch: { heap }, inPlace, fail }: CellWork,
  source: TypedColumn,
  builder: ColumnBuilder,
  todo: number,
  round: (value: unknown) => unknown,
): number {
  let changed = 0;
  const left = heap.u32[todo >>> 2]!;
  for (let i = 1; i <= left; i++) {
    const row = heap.u32[(todo >>> 2) + i]!;
    const value = heap.f64[(source.at >>> 3) + row]!;
    const rounded = round(value);
    const outcome = rounded instanceof CellFault ? rounded.code : builder.set(row, rounded);
    if (outcome === 'full') throw new Error('a typed column reported a full arena');
    if (outcome === 'done') {
      if (!inPlace || !Object.is(rounded, value)) changed++;
      continue;
    }
    builder.set(row, null);
    fail(row, outcome);
  }
  return changed;
}

// Several number formats in one column: which of them contradict each other, and parsing with more than one.

/** The properties in which the formats of one operation can differ. */
export interface NumberMarks {
  readonly decimal?: string;
  readonly grouping?: string;
  readonly groups?: GroupSizes;
}

/** Returns a text that the two formats parse as different numbers, or null. */
export function ambiguousNumberText(one: NumberMarks, other: NumberMarks): string | null {
  // Two formats can differ only in a separator between groups of three digits and other digits: `1.234`, `1.234.567`,
  // `1.234,5`.
  const marks = [one, other]
    .flatMap(({ decimal = '.', grouping = '' }) => [decimal, grouping])
    .filter((mark) => mark !== '');
  const texts = marks.flatMap((mark) => [`1${mark}234`, ...marks.map((next) => `1${mark}234${next}567`)]);
  return texts.find((text) => areDifferent(parseNumberText(text, one), parseNumberText(text, other))) ?? null;
}

/**
 * Parses a text with the first format that matches.
 * @param onlySure if true, a text that another format parses as another number is AMBIGUOUS_NUMBER
 */
export function readByFormats(text: string, formats: readonly NumberFormat[], onlySure: boolean): Decimal | CellFault {
  let found: Decimal | null = null;
  for (const format of formats) {
    const number = parseNumberText(text, format);
    if (number === null) continue;
    if (areDifferent(found, number)) return new CellFault('AMBIGUOUS_NUMBER');
    found ??= number;
    if (!onlySure) break;
  }
  return found ?? new CellFault('NOT_A_NUMBER');
}

function areDifferent(one: Decimal | null, other: Decimal | null): boolean {
  return one !== null && other !== null && compareDecimals(one, other) !== 0;
}
