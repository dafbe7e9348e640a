// Reads the lists in which values of groups are held, some at a time.
import { Batch, type ColumnData } from '../../batch/batch.ts';
import type { StoredType } from '../../batch/schema.ts';
import { META_BIG } from '../../kernel/layout/cells.ts';
import { CURSOR_BYTES, CURSOR_CELL, CURSOR_CHUNK, CURSOR_GROUP } from '../../kernel/layout/held-values.ts';
import type { OperatorContext } from '../../operations/operation.ts';
import type { Decimal } from '../../values/decimal.ts';
import type { GroupValues } from './late-values.ts';
import type { FoldStates } from './metric-state.ts';

/** Values that are read at once. */
const VALUES_READ = 2048;

/** Where values are put while they are read. */
interface ReadRoom {
  readonly cursor: number;
  readonly words: number;
  readonly metas: number;
  readonly groups: number;
  readonly selection: number;
}

/** Values as they lie in the room. */
export interface ReadValues extends GroupValues {
  readonly words: number;
  readonly metas: number;
}

export class HeldLists {
  readonly #context: OperatorContext;
  readonly #type: StoredType;
  readonly #bigs: readonly Decimal[];
  #made: ReadRoom | null = null;

  /** @param bigs decimals beyond 64 bits, of which the lists hold the indexes */
  constructor(context: OperatorContext, type: StoredType, bigs: readonly Decimal[]) {
    this.#context = context;
    this.#type = type;
    this.#bigs = bigs;
  }

  /** The first group to be read. */
  begin(group: number): void {
    const { cursor } = this.#room;
    const { u32 } = this.#context.arena.heap;
    u32[(cursor + CURSOR_GROUP) >>> 2] = group;
    u32[(cursor + CURSOR_CHUNK) >>> 2] = 0;
    u32[(cursor + CURSOR_CELL) >>> 2] = 0;
  }

  /** The next values of groups before `end`, none at the end; valid until the next call. */
  next({ at, stride }: FoldStates, end: number): ReadValues {
    const { cursor, words, metas, groups } = this.#room;
    const { exports } = this.#context.kernel;
    const count = exports.gatherHeld(at, stride, cursor, end, VALUES_READ, words, metas, groups);
    return { groups, words, metas, column: this.#column(words, metas, count), count };
  }

  /** Columns of values as a batch. */
  batch(columns: readonly ColumnData[], count: number): Batch {
    const { arena } = this.#context;
    const materialise = (): never => {
      throw new Error('held values have no raw columns');
    };
    const { selection } = this.#room;
    return new Batch({
      arena,
      rows: count,
      selection,
      live: count,
      columns,
      raw: null,
      sourceRows: { first: 0 },
      materialise,
    });
  }

  #column(at: number, meta: number, count: number): ColumnData {
    const type = this.#type;
    if (type === 'text' || type === 'json' || type === 'text_with_kind') return { kind: 'views', at };
    const big = new Map<number, { readonly unscaled: bigint; readonly scale: number }>();
    const { u8, i64 } = this.#context.arena.heap;
    for (let row = 0; row < count && this.#bigs.length > 0; row++) {
      if (u8[meta + row] !== META_BIG) continue;
      const { digits, scale } = this.#bigs[Number(i64[(at >>> 3) + row]!)]!;
      big.set(row, { unscaled: BigInt(digits), scale });
    }
    return { kind: 'typed', type, at, meta, big: big.size === 0 ? null : big };
  }

  get #room(): ReadRoom {
    if (this.#made !== null) return this.#made;
    const { heap } = this.#context.arena;
    const [cursor, words, metas] = [
      heap.allocate(CURSOR_BYTES),
      heap.allocate(VALUES_READ * 8),
      heap.allocate(VALUES_READ),
    ];
    const [groups, selection] = [heap.allocate(VALUES_READ * 4), heap.allocate(VALUES_READ * 4)];
    for (let row = 0; row < VALUES_READ; row++) heap.u32[(selection >>> 2) + row] = row;
    this.#made = { cursor, words, metas, groups, selection };
    return this.#made;
  }
}
