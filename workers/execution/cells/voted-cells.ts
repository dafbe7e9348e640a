// Reads columns of dates or numbers whose patterns contradict each other: the rows are kept, each column's cells vote for the
// patterns that read them, and of patterns that contradict each other only the one with most votes reads the column.

import type { Batch } from '../../batch/batch.ts';
import { CellReader } from '../../batch/cell-values.ts';
import { storedTypes } from '../../batch/schema.ts';
import { KIND_TEXT } from '../../kernel/layout/native-kinds.ts';
import type { Operator, OperatorContext } from '../../operations/operation.ts';
import { LOOK_MASK } from '../../run/slice-clock.ts';
import { PAUSE, type Slices, type Steps } from '../../run/time-slices.ts';
import { RowBuffer } from '../ordered/row-buffer.ts';
import { type CellTarget, startCellOperator } from './cell-operator.ts';
import { convertEdit, type NativeReader } from './value-cells.ts';

/** The patterns of one operation, and what they say of texts. */
export interface Ballot<Pattern> {
  readonly patterns: readonly Pattern[];
  /** @param text without spaces around it, never empty */
  matches(pattern: Pattern, text: string): boolean;
  /** Whether there is a text that both read, as different values. */
  contradict(one: Pattern, other: Pattern): boolean;
  /** Reads texts by patterns, the first that matches counts. */
  readers(patterns: readonly Pattern[]): {
    readonly read: (value: unknown) => unknown;
    readonly native: NativeReader;
  };
}

interface Vote {
  /** Id of the column. */
  readonly source: number;
  readonly reader: CellReader;
  /** Cells that each pattern reads. */
  readonly counts: number[];
}

export class VotedCells<Pattern> implements Operator {
  readonly #context: OperatorContext;
  readonly #targets: readonly CellTarget[];
  readonly #ballot: Ballot<Pattern>;
  readonly #votes: readonly Vote[];
  readonly #rows: RowBuffer;

  constructor(context: OperatorContext, targets: readonly CellTarget[], ballot: Ballot<Pattern>) {
    this.#context = context;
    this.#targets = targets;
    this.#ballot = ballot;
    this.#votes = targets.map(({ source }) => ({
      source: source!.id,
      reader: new CellReader('text', context.indexOf(source!)),
      counts: ballot.patterns.map(() => 0),
    }));
    this.#rows = new RowBuffer(context, storedTypes(context.input));
  }

  *push(batch: Batch): Slices {
    this.#rows.add(batch);
    const { arena } = this.#context;
    const mark = arena.next;
    const rows = arena.take(batch.live * 4);
    for (const { source, reader, counts } of this.#votes) {
      arena.heap.u8.copyWithin(rows, batch.selection, batch.selection + batch.live * 4);
      const where = this.#context.cellWhere.get(source) ?? this.#context.where;
      // Rows for which nobody can say are reported when their cells are read.
      const count = where === null ? batch.live : yield* where(batch, rows, batch.live, () => undefined);
      reader.bind(batch);
      for (let i = 0; i < count; i++) {
        const row = arena.heap.u32[(rows >>> 2) + i]!;
        // What the file knows for something else than a text is no sign of how its texts are written.
        if (reader.kind(row) === KIND_TEXT) this.#count(reader.text(row), counts);
        if ((i & LOOK_MASK) === LOOK_MASK && this.#context.clock.isDue()) yield PAUSE;
      }
    }
    arena.release(mark);
  }

  *finish(): Steps {
    const patterns = this.#votes.map(({ counts }) => electPatterns(this.#ballot, counts));
    const edits = this.#targets.map((target, index) => {
      const { read, native } = this.#ballot.readers(patterns[index]!);
      return convertEdit(this.#context, target, read, native);
    });
    const operator = startCellOperator(this.#context, this.#targets, edits);
    yield* this.#rows.emit((batch) => operator.push(batch));
    this.#rows.drop();
  }

  #count(text: string | null, counts: number[]): void {
    const trimmed = text?.trim() ?? '';
    if (trimmed === '') return;
    const { patterns } = this.#ballot;
    for (const [index, pattern] of patterns.entries()) if (this.#ballot.matches(pattern, trimmed)) counts[index]!++;
  }
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
