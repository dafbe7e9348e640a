// Reads and writes dates by patterns of digits through kernels; other patterns, and cells that do not match, go one by one.
import { VIEW_BYTES } from '../../kernel/layout/cells.ts';
import { DAY, FRACTION, HOUR, LITERAL, MINUTE, MONTH, SECOND, SHORT_YEAR, YEAR } from '../../kernel/layout/dates.ts';
import type { Heap } from '../../memory/heap.ts';
import type { OperatorContext } from '../../operations/operation.ts';
import type { DatePattern } from '../../values/date-pattern.ts';
import type { DatePart } from '../../values/date-pattern-parts.ts';
import type { CellEdit, CellTarget } from './cell-operator.ts';
import { type LayoutOf, PART_WORDS, patternHead, readingLayout, writingLayout } from './date-layout.ts';
import { type ReadCells, readEdit } from './read-cells.ts';
import { settleText } from './text-cells.ts';
import { convertEdit, type NativeReader } from './value-cells.ts';

const KINDS: Readonly<Record<string, number>> = {
  y: YEAR,
  M: MONTH,
  d: DAY,
  H: HOUR,
  m: MINUTE,
  s: SECOND,
  S: FRACTION,
};
const YEAR_DIGITS = 4;

/**
 * The edit that reads texts by the first pattern that matches, into days or (`withTime`) microseconds as the patterns say them;
 * `read` gives the value of a text as the kernel would, or a CellFault.
 */
export function readDatesEdit(
  context: OperatorContext,
  target: CellTarget,
  patterns: readonly DatePattern[],
  withTime: boolean,
  read: (text: unknown) => unknown,
  native: NativeReader,
): CellEdit {
  const first: number[][] = [];
  for (const pattern of patterns) {
    const program = readingProgram(pattern);
    if (program !== null) first.push(program);
    // A pattern behind one that is not for the kernel, or not for it alone, must not come first.
    if (program === null || hasOffset(pattern)) break;
  }
  if (first.length === 0) return convertEdit(context, target, read, native);
  const program = place(context.arena.heap, first, readingLayout);
  const { kernel } = context;
  const run: ReadCells = (views, rows, count, at, meta, todo) =>
    kernel.exports.readDates(views, rows, count, program, withTime ? 1 : 0, at, meta, todo);
  return readEdit(context, target, run, read, { read: native, runNumbers: null });
}

/** Reads texts by one pattern, as readDatesEdit does; null where no kernel knows the pattern. */
export function dateKernel(
  { arena, kernel }: OperatorContext,
  pattern: DatePattern,
  withTime: boolean,
): ReadCells | null {
  const words = readingProgram(pattern);
  if (words === null) return null;
  const program = place(arena.heap, [words], readingLayout);
  return (views, rows, count, at, meta, todo) =>
    kernel.exports.readDates(views, rows, count, program, withTime ? 1 : 0, at, meta, todo);
}

/** The edit that writes a column of dates as texts. */
export function writeDatesEdit(
  context: OperatorContext,
  target: CellTarget,
  pattern: DatePattern,
  write: (value: unknown) => unknown,
): CellEdit {
  const byCell = convertEdit(context, target, write);
  const words = target.source?.type === 'date' ? partWords(pattern.parts, writtenPart) : null;
  if (words === null) return byCell;
  const { arena, kernel } = context;
  const program = place(arena.heap, [words], writingLayout);
  return (work) => {
    const { batch, rows, count, column } = work;
    const source = batch.columns[column]!;
    if (source.kind !== 'typed') return byCell(work);
    const views = arena.tryTake(batch.rows * VIEW_BYTES);
    if (views === 0) return null;
    arena.heap.u8.fill(0, views, views + batch.rows * VIEW_BYTES);
    const { next, limit } = arena;
    const end = kernel.exports.writeDates(source.at, source.meta, rows, count, program, views, next, limit) >>> 0;
    if (end === 0) return null;
    arena.next = end;
    settleText(context, work, 0, views, false);
    return { kind: 'views', at: views };
  };
}

/** Whether a kernel reads texts by the pattern. */
export function hasKernel(pattern: DatePattern | undefined): boolean {
  return pattern !== undefined && readingProgram(pattern) !== null;
}

function hasOffset({ parts }: DatePattern): boolean {
  return parts.some(({ letter }) => letter === 'X');
}

/** Of an offset the kernel reads the Z of UTC, which nearly all instants have; the others are read by the caller's reader. */
function readingProgram({ parts, twoDigitYearPivot, lacksYear }: DatePattern): number[] | null {
  if (lacksYear) return null;
  const inUtc = parts.map((part) => (part.letter === 'X' ? { letter: '', count: 1, literal: 'Z' } : part));
  return partWords(inUtc, (kind, { letter, count }) => {
    if (letter === 'y')
      return count === 2 ? [SHORT_YEAR, 2, 2, twoDigitYearPivot] : [kind, YEAR_DIGITS, YEAR_DIGITS, 0];
    return [kind, count, letter === 'S' ? count : 2, 0];
  });
}

function writtenPart(kind: number, { letter, count }: DatePart): number[] {
  if (letter === 'y') return count === 2 ? [SHORT_YEAR, 2, 2, 0] : [kind, YEAR_DIGITS, YEAR_DIGITS, 0];
  return [kind, count, 0, 0];
}

/** Null when a part is a name, an offset, half a day or not ASCII. */
function partWords(parts: readonly DatePart[], words: (kind: number, part: DatePart) => number[]): number[] | null {
  const made: number[] = [];
  for (const part of parts) {
    const { letter, count, literal } = part;
    if (letter === '') {
      for (const byte of Buffer.from(literal)) {
        if (byte >= 0x80) return null;
        made.push(LITERAL, 0, 0, byte);
      }
      continue;
    }
    const kind = KINDS[letter];
    if (kind === undefined || (letter === 'M' && count > 2)) return null;
    made.push(...words(kind, part));
  }
  return made;
}

function place(heap: Heap, programs: readonly (readonly number[])[], layout: LayoutOf): number {
  const words = [
    programs.length,
    ...programs.flatMap((program) => [...patternHead(program.length / PART_WORDS, layout(program)), ...program]),
  ];
  const at = heap.allocate(words.length * 4);
  heap.u32.set(words, at >>> 2);
  return at;
}
