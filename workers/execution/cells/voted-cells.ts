// Reads columns of dates or numbers whose patterns contradict each other: the rows are kept, each column's cells vote for the
// patterns that read them, and of patterns that contradict each other only the one with most votes reads the column.

import type { Batch } from '../../batch/batch.ts';
import { CellReader } from '../../batch/cell-values.ts';
import { type Column, storedTypes } from '../../batch/schema.ts';
import { KIND_TEXT } from '../../kernel/layout/native-kinds.ts';
import type { Heap } from '../../memory/heap.ts';
import type { Operator, OperatorContext } from '../../operations/operation.ts';
import { LOOK_MASK } from '../../run/slice-clock.ts';
import { PAUSE, type Slices, type Steps } from '../../run/time-slices.ts';
import { RowBuffer } from '../ordered/row-buffer.ts';
import { type CellEdit, type CellTarget, startCellOperator } from './cell-operator.ts';
import type { ReadCells } from './read-cells.ts';

/** The patterns of one operation, and what they say of texts. */
export interface Ballot<Pattern> {
  readonly patterns: readonly Pattern[];
  /** @param text without spaces around it, never empty */
  matches(pattern: Pattern, text: string): boolean;
  /** Whether there is a text that both read, as different values. */
  contradict(one: Pattern, other: Pattern): boolean;
  /** Reads cells by a pattern, as a kernel does it; null where none knows the pattern. What it reads matches. */
  kernelOf(pattern: Pattern): ReadCells | null;
  /** Reads a column by patterns, the first that matches counts. */
  edit(target: CellTarget, patterns: readonly Pattern[]): CellEdit;
}

interface Vote {
  readonly source: Column;
  /** Its place among the columns of the rows. */
  readonly index: number;
  readonly reader: CellReader;
  /** Cells that each pattern reads. */
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
      // Rows for which nobody can say are reported when their cells are read.
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

  /** Of a row list of texts: what kernels read they count, what they leave is read by hand. */
  *#count(batch: Batch, { index: column, reader, counts }: Vote, rows: number, count: number): Slices {
    const { arena, clock } = this.#context;
    const { patterns } = this.#ballot;
    const mark = arena.next;
    const todo = arena.tryTake((count + 1) * 4);
    const [at, meta] = [arena.tryTake(batch.rows * 8), arena.tryTake(batch.rows)];
    // A column of nulls that was of another type before has none.
    const views = batch.columns[column]!.kind === 'typed' ? 0 : batch.views(column);
    for (const [index, pattern] of patterns.entries()) {
      const kernel = this.#kernels[index]!;
      const isByKernel = kernel !== null && views !== 0 && todo !== 0 && at !== 0 && meta !== 0;
      if (isByKernel) counts[index]! += kernel(views, rows, count, at, meta, todo);
      const [list, left] = isByKernel ? [todo + 4, arena.heap.u32[todo >>> 2]!] : [rows, count];
      for (let i = 0; i < left; i++) {
        const text = reader.text(arena.heap.u32[(list >>> 2) + i]!)?.trim() ?? '';
        if (text !== '' && this.#ballot.matches(pattern, text)) counts[index]!++;
        if ((i & LOOK_MASK) === LOOK_MASK && clock.isDue()) yield PAUSE;
      }
    }
    arena.release(mark);
  }
}

/** Moves the texts to the beginning of a row list: what the file knows for something else is no sign of how texts are written. */
function textsAmong({ u32 }: Heap, reader: CellReader, rows: number, count: number): number {
  let kept = rows >>> 2;
  for (let i = rows >>> 2; i < (rows >>> 2) + count; i++) if (reader.kind(u32[i]!) === KIND_TEXT) u32[kept++] = u32[i]!;
  return kept - (rows >>> 2);
}

/** From the most votes to the least (of equal ones the earlier), without those that contradict one that is in. */
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
