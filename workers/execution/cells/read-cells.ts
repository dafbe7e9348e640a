// Reads columns of text into typed ones: the common spelling by a kernel, what it hands back by the caller's own reader.
import type { TypedColumn } from '../../batch/batch.ts';
import { ColumnBuilder } from '../../batch/column-builder.ts';
import { KIND_NUMBER, KIND_TEXT } from '../../kernel/layout/native-kinds.ts';
import type { OperatorContext } from '../../operations/operation.ts';
import type { CellEdit, CellTarget, CellWork } from './cell-operator.ts';
import { CellFault, convertEdit, kindsOf, type NativeReader } from './value-cells.ts';

/**
 * Reads the cells of a row list (views) into `at` and `meta`, by physical row, and gives how many are not null; rows that it
 * leaves go to `todo`: u32 count, then the rows.
 */
export type ReadCells = (views: number, rows: number, count: number, at: number, meta: number, todo: number) => number;

/** The decimal mark with which all cells that were just read stand there as they would be written, null where some do not. */
export type WrittenMark = () => number | null;

/** What becomes of cells that a file knows for another kind than text. */
export interface NativeReading {
  readonly read: NativeReader;
  /** Reads the numbers among them; null: `read` does it. */
  readonly runNumbers: ReadCells | null;
}

/** Some of the rows of an edit, and how their cells are read. */
interface Part {
  /** u32 physical rows. */
  readonly rows: number;
  readonly count: number;
  readonly run: ReadCells | null;
  readonly read: (text: string, row: number) => unknown;
}

/** `read` gives the value of a text as the kernel would, or a CellFault. */
export function readEdit(
  context: OperatorContext,
  target: CellTarget,
  run: ReadCells,
  read: (text: unknown) => unknown,
  native: NativeReading,
  writtenMark: WrittenMark = () => null,
): CellEdit {
  const byCell = convertEdit(context, target, read, native.read);
  const { arena } = context;
  const builder = new ColumnBuilder(arena, target.target.type);
  return (work) => {
    const { batch, rows, count, column } = work;
    const source = batch.columns[column]!;
    if (source.kind === 'typed') return byCell(work);
    const views = batch.views(column);
    const todo = arena.tryTake((count + 1) * 4);
    if (todo === 0 || !builder.begin(batch.rows)) return null;
    const made = builder.column;
    if (made.kind !== 'typed') throw new Error('texts are read into typed columns');
    const kinds = kindsOf(work);
    const parts = kinds === undefined ? [{ rows, count, run, read }] : partsByKind(work, kinds, { run, read, native });
    if (parts === null) return null;
    let filled = 0;
    for (const part of parts) filled += readPart(work, part, { views, todo, builder, made });
    work.changed(filled);
    const back = arena.heap.u32[todo >>> 2]!;
    const decimalMark = kinds === undefined && back === 0 && count === batch.live ? writtenMark() : null;
    if (source.field === undefined || decimalMark === null) return builder.column;
    return { ...made, written: { field: source.field, decimalMark } };
  };
}

/** Gives how many cells got a value. */
function readPart(
  work: CellWork,
  { rows, count, run, read }: Part,
  to: { readonly views: number; readonly todo: number; readonly builder: ColumnBuilder; readonly made: TypedColumn },
): number {
  const { batch } = work;
  const { views, todo, builder, made } = to;
  const { u32 } = batch.heap;
  let filled = 0;
  if (run !== null) filled = run(views, rows, count, made.at, made.meta, todo);
  else {
    u32[todo >>> 2] = count;
    u32.copyWithin((todo >>> 2) + 1, rows >>> 2, (rows >>> 2) + count);
  }
  const back = u32[todo >>> 2]!;
  for (let i = 1; i <= back; i++) {
    const row = u32[(todo >>> 2) + i]!;
    const text = batch.text({ kind: 'views', at: views }, row);
    const value = text === null ? null : read(text, row);
    const outcome = value instanceof CellFault ? value.code : builder.set(row, value);
    if (outcome === 'done') filled += value === null ? 0 : 1;
    else if (outcome === 'full') throw new Error('a typed column needs no room for a cell');
    else {
      builder.set(row, null);
      work.fail(row, outcome);
    }
  }
  return filled;
}

/** Texts, numbers and the rest. Null: the arena is full. */
function partsByKind(
  { batch, rows, count }: CellWork,
  kinds: number,
  by: { readonly run: ReadCells; readonly read: (text: unknown) => unknown; readonly native: NativeReading },
): Part[] | null {
  const { arena, heap } = batch;
  const { read, runNumbers } = by.native;
  const lists = Array.from({ length: 3 }, () => ({ rows: arena.tryTake(count * 4), count: 0 }));
  const [texts, numbers, others] = lists as [(typeof lists)[0], (typeof lists)[0], (typeof lists)[0]];
  if (others.rows === 0) return null;
  const { u8, u32 } = heap;
  for (let i = 0; i < count; i++) {
    const row = u32[(rows >>> 2) + i]!;
    const kind = u8[kinds + row]!;
    const list = kind === KIND_TEXT ? texts : kind === KIND_NUMBER ? numbers : others;
    u32[(list.rows >>> 2) + list.count++] = row;
  }
  const byKind = (text: string, row: number): unknown => read(text, u8[kinds + row]!);
  return [
    { ...texts, run: by.run, read: by.read },
    { ...numbers, run: runNumbers, read: byKind },
    { ...others, run: null, read: byKind },
  ];
}
