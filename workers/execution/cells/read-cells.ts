// Parses text columns into typed columns, also with several patterns that contradict each other.
import { type Batch, type TypedColumn, textField, ValuesOfField } from '../../batch/batch.ts';
import { ColumnBuilder } from '../../batch/column-builder.ts';
import { type Column, storedTypes } from '../../batch/schema.ts';
import { CellReader } from '../../expression/compile/cell-values.ts';
import { KIND_NUMBER, KIND_TEXT } from '../../kernel/layout/cells.ts';
import type { Heap } from '../../memory/heap.ts';
import { checkMask, PAUSE, type Slices, type Steps } from '../../scheduling/time-slices.ts';
import type { Operator, OperatorContext } from '../../template/operation.ts';
import { RowBuffer } from '../ordered/row-queues.ts';
import { type CellEdit, type CellTarget, type CellWork, startCellOperator } from './cell-operator.ts';
import { CellFault, convertEdit, kindsOf, type NativeReader, valueToWrite } from './value-cells.ts';

// Parses text columns into typed columns. A kernel parses the usual notation; the caller's function parses the texts
// that the kernel leaves.

/**
 * Parses the cells of a row list (views) into `at` and `meta`, by physical row. Returns the number of non-null cells.
 * Rows with other notations are written to `todo`: u32 count, then the rows.
 */
export type ReadCells = (views: number, rows: number, count: number, at: number, meta: number, todo: number) => number;

/** Returns the decimal mark with which all cells just parsed are written in canonical form, or null if some are not. */
export type WrittenMark = () => number | null;

/** Handling of cells with a native kind other than text. */
export interface NativeReading {
  readonly read: NativeReader;
  /** Parses the numbers among them; null to use `read`. */
  readonly runNumbers: ReadCells | null;
}

/** Some rows of an edit, and the way to parse their cells. */
interface Part {
  /** Address of the physical rows (u32 each). */
  readonly rows: number;
  readonly count: number;
  readonly run: ReadCells | null;
  readonly read: (text: string, row: number) => unknown;
}

/** `read` returns the value of a text as the kernel would, or a CellFault. */
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
  return (work) => {
    const { batch, rows, count, column } = work;
    const source = batch.columns[column]!;
    if (source.kind === 'typed') return byCell(work);
    const builder = new ColumnBuilder(arena, target.target.type);
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
    const field = textField(source);
    return field === undefined || decimalMark === null ? builder.column : new ValuesOfField(made, field, decimalMark);
  };
}

/** Returns how many cells got a value. */
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
    const value = text === null ? null : valueToWrite(work, row, read(text, row));
    const outcome = value instanceof CellFault ? value.code : builder.set(row, value);
    if (outcome === 'done') filled += value === null ? 0 : 1;
    else if (outcome === 'full') throw new Error('a typed column reported a full arena');
    else {
      builder.set(row, null);
      work.fail(row, outcome);
    }
  }
  return filled;
}

/** Divides rows into texts, numbers and others. Returns null if the arena is full. */
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

// Parses columns of dates or numbers with patterns that contradict each other. The rows are kept, and the cells of each
// column vote for the patterns that match them. Among contradicting patterns, only the one with the most votes is used for
// the column.

/** The patterns of one operation and how they apply to texts. */
export interface Ballot<Pattern> {
  readonly patterns: readonly Pattern[];
  /** @param text non-empty text without surrounding spaces */
  matches(pattern: Pattern, text: string): boolean;
  /** True if there is a text that both patterns parse as different values. */
  contradict(one: Pattern, other: Pattern): boolean;
  /** Returns a kernel that parses cells with a pattern, or null. Every cell that it parses matches the pattern. */
  kernelOf(pattern: Pattern): ReadCells | null;
  /** Parses a column with patterns; the first one that matches counts. */
  edit(target: CellTarget, patterns: readonly Pattern[]): CellEdit;
}

interface Vote {
  readonly source: Column;
  /** Index of the column in the stored rows. */
  readonly index: number;
  readonly reader: CellReader;
  /** Number of cells that each pattern parses. */
  readonly counts: number[];
}

export class VotedCells<Pattern> implements Operator {
  readonly #context: OperatorContext;
  readonly #targets: readonly CellTarget[];
  readonly #ballot: Ballot<Pattern>;
  readonly #votes: readonly Vote[];
  readonly #kernels: readonly (ReadCells | null)[];
  readonly #rows: RowBuffer;

  constructor(context: OperatorContext, targets: readonly CellTarget[], ballot: Ballot<Pattern>) {
    this.#context = context;
    this.#targets = targets;
    this.#ballot = ballot;
    this.#votes = targets.map(({ source }) => ({
      source: source!,
      index: context.indexOf(source!),
      reader: new CellReader('text', context.indexOf(source!)),
      counts: ballot.patterns.map(() => 0),
    }));
    this.#kernels = ballot.patterns.map((pattern) => ballot.kernelOf(pattern));
    this.#rows = new RowBuffer(context, storedTypes(context.input));
  }

  *push(batch: Batch): Slices {
    this.#rows.add(batch);
    const { arena } = this.#context;
    const mark = arena.next;
    const rows = arena.take(batch.live * 4);
    for (const vote of this.#votes) {
      const { source, reader } = vote;
      arena.heap.u8.copyWithin(rows, batch.selection, batch.selection + batch.live * 4);
      const where = this.#context.cellWhere.get(source.id) ?? this.#context.where;
      // Rows whose condition cannot be computed are reported later, when their cells are parsed.
      const count = where === null ? batch.live : yield* where(batch, rows, batch.live, () => undefined);
      reader.bind(batch);
      const texts = source.hasKinds === true ? textsAmong(arena.heap, reader, rows, count) : count;
      yield* this.#count(batch, vote, rows, texts);
    }
    arena.release(mark);
  }

  *finish(): Steps {
    const patterns = this.#votes.map(({ counts }) => electPatterns(this.#ballot, counts));
    const edits = this.#targets.map((target, index) => this.#ballot.edit(target, patterns[index]!));
    const operator = startCellOperator(this.#context, this.#targets, edits);
    yield* this.#rows.emit((batch) => operator.push(batch));
    this.#rows.drop();
  }

  /** Counts votes for a row list of texts: kernels count what they parse, and the rest is tested cell by cell. */
  *#count(batch: Batch, { index: column, reader, counts }: Vote, rows: number, count: number): Slices {
    const { arena, clock } = this.#context;
    const { patterns } = this.#ballot;
    const mark = arena.next;
    const todo = arena.tryTake((count + 1) * 4);
    const [at, meta] = [arena.tryTake(batch.rows * 8), arena.tryTake(batch.rows)];
    // A column of nulls that had another type before has no views.
    const views = batch.columns[column]!.kind === 'typed' ? 0 : batch.views(column);
    for (const [index, pattern] of patterns.entries()) {
      const kernel = this.#kernels[index]!;
      const isByKernel = kernel !== null && views !== 0 && todo !== 0 && at !== 0 && meta !== 0;
      if (isByKernel) counts[index]! += kernel(views, rows, count, at, meta, todo);
      const [list, left] = isByKernel ? [todo + 4, arena.heap.u32[todo >>> 2]!] : [rows, count];
      const mask = checkMask(left);
      for (let i = 0; i < left; i++) {
        const text = reader.text(arena.heap.u32[(list >>> 2) + i]!)?.trim() ?? '';
        if (text !== '' && this.#ballot.matches(pattern, text)) counts[index]!++;
        if ((i & mask) === mask && clock.isDue()) yield PAUSE;
      }
    }
    arena.release(mark);
  }
}

/**
 * Moves the texts to the beginning of a row list. Cells with another native kind say nothing about the notation of
 * texts.
 */
function textsAmong({ u32 }: Heap, reader: CellReader, rows: number, count: number): number {
  let kept = rows >>> 2;
  for (let i = rows >>> 2; i < (rows >>> 2) + count; i++) if (reader.kind(u32[i]!) === KIND_TEXT) u32[kept++] = u32[i]!;
  return kept - (rows >>> 2);
}

/** Orders patterns by votes (ties by position) and skips each pattern that contradicts one that is already included. */
function electPatterns<Pattern>(ballot: Ballot<Pattern>, votes: readonly number[]): Pattern[] {
  const { patterns } = ballot;
  const order = patterns.map((_, index) => index).sort((a, b) => votes[b]! - votes[a]! || a - b);
  const elected: Pattern[] = [];
  for (const index of order) {
    const pattern = patterns[index]!;
    if (!elected.some((other) => ballot.contradict(other, pattern))) elected.push(pattern);
  }
  return elected;
}
