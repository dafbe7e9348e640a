// Rounds and writes columns of decimals through kernels (kernel/assembly/decimals.ts); what is not for them goes cell by cell.
import { ColumnBuilder } from '../../batch/column-builder.ts';
import { VIEW_BYTES } from '../../kernel/layout/cells.ts';
import {
  AS_WRITTEN,
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
import type { OperatorContext } from '../../operations/operation.ts';
import type { Rounding } from '../../values/decimal.ts';
import type { CellEdit, CellTarget } from './cell-operator.ts';
import { ROUNDING } from './number-cells.ts';
import { placeText } from './placed-text.ts';
import { settleText } from './text-cells.ts';
import { convertEdit } from './value-cells.ts';

/** Texts of numbers; `null` scale: as many digits as they have. */
export interface NumberWriting {
  readonly scale: number | null;
  readonly rounding: Rounding;
  readonly decimal: string;
  readonly grouping: string;
  readonly prefix: string;
  readonly suffix: string;
  /** What stands around numbers below zero. */
  readonly negative: readonly [before: string, behind: string];
}

/** The edit that rounds a column of decimals; `round` gives the value of one as the kernel would, or a CellFault. */
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
  const builder = new ColumnBuilder(arena, 'decimal');
  return (work) => {
    const { batch, rows, count, column, inPlace } = work;
    const source = batch.columns[column]!;
    if (source.kind !== 'typed' || source.type !== 'decimal') return byCell(work);
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

/** The edit that writes a column of decimals or integers as texts; `write` gives the text of one value, or a CellFault. */
export function writeNumbersEdit(
  context: OperatorContext,
  target: CellTarget,
  writing: NumberWriting,
  write: (value: unknown) => unknown,
): CellEdit {
  const byCell = convertEdit(context, target, write);
  const type = target.source?.type;
  if ((type !== 'decimal' && type !== 'integer') || (writing.scale ?? 0) > SCALE_MAX) return byCell;
  const { arena, kernel } = context;
  const program = place(arena.heap, writing);
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
