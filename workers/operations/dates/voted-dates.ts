// Reads columns of dates whose patterns contradict each other: the rows are kept, each column's cells vote for the patterns
// that read them, and of patterns that contradict each other only the one with most votes reads the column.
import type { Batch } from '../../batch.ts';
import { ambiguousDateText, type DatePattern } from '../../values/date-pattern.ts';
import { type CellTarget, columnIndex } from '../cells/cell-operator.ts';
import { CellReader } from '../cells/cell-values.ts';
import { startValueOperator } from '../cells/value-cells.ts';
import type { Operator, OperatorContext } from '../operation.ts';
import { KeptRows } from '../rows/kept-rows.ts';

/** Reads a text by patterns, the first that matches counts. */
export type PatternReader = (patterns: readonly DatePattern[]) => (value: unknown) => unknown;

interface Vote {
  /** Id of the column. */
  readonly source: number;
  readonly reader: CellReader;
  /** Cells that each pattern reads. */
  readonly counts: number[];
}

export class VotedDates implements Operator {
  readonly #context: OperatorContext;
  readonly #targets: readonly CellTarget[];
  readonly #patterns: readonly DatePattern[];
  readonly #read: PatternReader;
  readonly #votes: readonly Vote[];
  readonly #rows: KeptRows;

  constructor(
    context: OperatorContext,
    targets: readonly CellTarget[],
    patterns: readonly DatePattern[],
    read: PatternReader,
  ) {
    this.#context = context;
    this.#targets = targets;
    this.#patterns = patterns;
    this.#read = read;
    this.#votes = targets.map(({ source }) => ({
      source: source!.id,
      reader: new CellReader('text', columnIndex(context.input, source!)),
      counts: patterns.map(() => 0),
    }));
    this.#rows = new KeptRows(
      context,
      context.input.map(({ type }) => type),
    );
  }

  push(batch: Batch): void {
    this.#rows.add(batch);
    const { arena } = this.#context;
    const mark = arena.next;
    const rows = arena.take(batch.live * 4);
    for (const { source, reader, counts } of this.#votes) {
      arena.heap.u8.copyWithin(rows, batch.selection, batch.selection + batch.live * 4);
      const where = this.#context.cellWhere.get(source) ?? this.#context.where;
      // Rows for which nobody can say are reported when their cells are read.
      const count = where === null ? batch.live : where(batch, rows, batch.live, () => undefined);
      reader.bind(batch);
      for (let i = 0; i < count; i++) this.#count(reader.text(arena.heap.u32[(rows >>> 2) + i]!), counts);
    }
    arena.release(mark);
  }

  *finish(): Iterable<void> {
    const patterns = this.#votes.map(({ counts }) => electPatterns(this.#patterns, counts));
    const operator = startValueOperator(this.#context, this.#targets, (target) =>
      this.#read(patterns[this.#targets.indexOf(target)]!),
    );
    yield* this.#rows.handOn((batch) => operator.push(batch));
    this.#rows.drop();
  }

  #count(text: string | null, counts: number[]): void {
    const trimmed = text?.trim() ?? '';
    if (trimmed === '') return;
    for (const [index, pattern] of this.#patterns.entries()) if (pattern.parse(trimmed) !== null) counts[index]!++;
  }
}

/** From the most votes to the least (of equal ones the earlier), without those that contradict one that is in. */
export function electPatterns(patterns: readonly DatePattern[], votes: readonly number[]): DatePattern[] {
  const order = patterns.map((_, index) => index).sort((a, b) => votes[b]! - votes[a]! || a - b);
  const elected: DatePattern[] = [];
  for (const index of order) {
    const pattern = patterns[index]!;
    if (elected.every((other) => ambiguousDateText(other, pattern) === null)) elected.push(pattern);
  }
  return elected;
}
