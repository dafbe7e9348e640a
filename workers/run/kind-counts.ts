// How many cells of each native kind the columns of a file have, for those who look at it before they write a Template.
import type { Batch } from '../batch/batch.ts';
import {
  KIND_BOOLEAN,
  KIND_DATE,
  KIND_DATETIME,
  KIND_JSON,
  KIND_NUMBER,
  KIND_TEXT,
  KIND_TIME,
  NATIVE_KINDS,
} from '../kernel/layout/native-kinds.ts';

const NAMES = new Map([
  [KIND_TEXT, 'text'],
  [KIND_NUMBER, 'number'],
  [KIND_BOOLEAN, 'boolean'],
  [KIND_DATE, 'date'],
  [KIND_DATETIME, 'datetime'],
  [KIND_TIME, 'time'],
  [KIND_JSON, 'json'],
]);

/** By name of the kind, those alone that there are; missing cells count for none. */
export type KindCounts = Readonly<Record<string, number>>;

export class KindCounter {
  readonly #counts: readonly Float64Array[];

  constructor(columns: number) {
    this.#counts = Array.from({ length: columns }, () => new Float64Array(NATIVE_KINDS));
  }

  add(batch: Batch): void {
    for (const [index, counts] of this.#counts.entries()) {
      const views = batch.views(index) >>> 2;
      const column = batch.columns[index]!;
      const kinds = column.kind === 'views' ? column.kinds : undefined;
      const { u8, u32 } = batch.heap;
      for (let position = 0; position < batch.live; position++) {
        const row = batch.physicalRow(position);
        if (u32[views + row * 2] === 0) continue;
        const kind = kinds === undefined ? KIND_TEXT : u8[kinds + row]!;
        counts[kind]!++;
      }
    }
  }

  /** By column. */
  get counts(): KindCounts[] {
    return this.#counts.map(byName);
  }
}

/** @param counts by kind */
export function byName(counts: Float64Array): KindCounts {
  return Object.fromEntries([...NAMES].flatMap(([kind, name]) => (counts[kind]! > 0 ? [[name, counts[kind]!]] : [])));
}
