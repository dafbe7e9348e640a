// Makes a JSON object of cells of a row: by a kernel, rows with long cells by hand, as all are where a column has doubles or
// decimals beyond 64 bits.
import type { Batch, ColumnData } from '../../batch/batch.ts';
import { CellReader } from '../../batch/cell-values.ts';
import { NativeText } from '../../batch/native-text.ts';
import { type Column, type ColumnType, storedType } from '../../batch/schema.ts';
import { VIEW_BYTES } from '../../kernel/layout/cells.ts';
import {
  MEMBER_BOOLEAN,
  MEMBER_BYTES,
  MEMBER_DATE,
  MEMBER_DATETIME,
  MEMBER_DECIMAL,
  MEMBER_INTEGER,
  MEMBER_JSON,
  MEMBER_NATIVE,
  MEMBER_TEXT,
} from '../../kernel/layout/json-objects.ts';
import type { OperatorContext } from '../../operations/operation.ts';
import { LOOK_MASK } from '../../run/slice-clock.ts';
import { PAUSE } from '../../run/time-slices.ts';
import type { CellEdit } from './cell-operator.ts';
import { nativeJson } from './json-cells.ts';
import { placeText } from './placed-text.ts';
import { settleText } from './text-cells.ts';
import { writeCell } from './text-chain.ts';
import { valueEdit } from './value-cells.ts';

const TYPED_MEMBERS: Readonly<Partial<Record<ColumnType, number>>> = {
  boolean: MEMBER_BOOLEAN,
  integer: MEMBER_INTEGER,
  decimal: MEMBER_DECIMAL,
  date: MEMBER_DATE,
  datetime: MEMBER_DATETIME,
};

export function jsonObjectEdit(context: OperatorContext, columns: readonly Column[], omitsNulls: boolean): CellEdit {
  const { arena, clock, kernel } = context;
  const { heap } = arena;
  const objects = objectsByHand(context, columns, omitsNulls);
  const byHand = valueEdit(context, { type: 'json', ...objects });
  const indexes = columns.map((column) => context.indexOf(column));
  const keys = columns.map(({ name }) => placeText(heap, `,${JSON.stringify(name)}:`));
  const list = heap.allocate(Math.max(1, columns.length) * MEMBER_BYTES);
  return (work) => {
    const { batch, rows, count } = work;
    for (const index of indexes) if (batch.columns[index]!.kind !== 'typed') batch.views(index);
    const members = columns.map((column, place) => memberOf(column, batch.columns[indexes[place]!]!));
    if (members.includes(null)) return byHand(work);
    return (function* () {
      heap.u32.set(
        members.flatMap((member, place) => [...member!, keys[place]!.at, keys[place]!.bytes]),
        list >>> 2,
      );
      const at = arena.tryTake(batch.rows * VIEW_BYTES);
      const todo = arena.tryTake((count + 1) * 4);
      if (at === 0 || todo === 0) return null;
      heap.u8.fill(0, at, at + batch.rows * VIEW_BYTES);
      const { writeObjects } = kernel.exports;
      const omits = omitsNulls ? 1 : 0;
      const next = writeObjects(list, columns.length, rows, count, omits, at, arena.next, arena.limit, todo) >>> 0;
      if (next === 0) return null;
      arena.next = next;
      const back = heap.u32[todo >>> 2]!;
      if (back > 0) objects.bind(batch);
      for (let i = 1; i <= back; i++) {
        const row = heap.u32[(todo >>> 2) + i]!;
        if (!writeCell(arena, (at + row * VIEW_BYTES) >>> 2, objects.compute(row))) return null;
        if ((i & LOOK_MASK) === LOOK_MASK && clock.isDue()) yield PAUSE;
      }
      settleText(context, work, 0, at, false);
      return { kind: 'views', at } as const;
    })();
  };
}

/** Kind, cells and meta of a column as the kernel gets them; null: it cannot write such cells. */
function memberOf({ type }: Column, data: ColumnData): readonly [number, number, number] | null {
  if (data.kind === 'raw') throw new Error('views of the columns are made before');
  if (data.kind === 'typed') {
    const kind = data.type === type && data.big === null ? TYPED_MEMBERS[type] : undefined;
    return kind === undefined ? null : [kind, data.at, data.meta];
  }
  if (type === 'json') return [MEMBER_JSON, data.at, 0];
  if (type !== 'text') return null;
  return data.kinds === undefined ? [MEMBER_TEXT, data.at, 0] : [MEMBER_NATIVE, data.at, data.kinds];
}

interface Objects {
  bind(batch: Batch): void;
  compute(row: number): string;
}

function objectsByHand(context: OperatorContext, columns: readonly Column[], omitsNulls: boolean): Objects {
  const parts = columns.map((column) => ({
    key: `${JSON.stringify(column.name)}:`,
    isText: column.type === 'text' || column.type === 'date' || column.type === 'datetime',
    reader: new CellReader(storedType(column), context.indexOf(column)),
  }));
  return {
    bind(batch) {
      for (const { reader } of parts) reader.bind(batch);
    },
    compute(row) {
      const pairs: string[] = [];
      for (const { key, isText, reader } of parts) {
        const value = reader.read(row);
        if (value === null && omitsNulls) continue;
        if (value instanceof NativeText) pairs.push(key + nativeJson(value.text, value.kind));
        else pairs.push(key + (isText && value !== null ? JSON.stringify(String(value)) : plainText(value)));
      }
      return `{${pairs.join(',')}}`;
    },
  };
}

/** JSON has no form for NaN and infinities. */
function plainText(value: unknown): string {
  return typeof value === 'number' && !Number.isFinite(value) ? 'null' : String(value);
}
