// Writes the program of the JSON kernel into a Run's memory (field offsets: kernel/layout/output-program.ts). Keys
// and braces are written once, the locations of columns for each batch.
import type { RawTable } from '../../batch/batch.ts';
import type { ColumnType, Schema } from '../../batch/schema.ts';
import {
  CELL_CLASSES,
  CLASS_NULL,
  CLASSES_BYTES,
  EMITTER,
  EMITTER_JSON,
  EMPTY_IS_NULL,
  FLAG_NUMBER_STRING,
  FLAG_STRING,
  FLAGS,
  HEAD_BYTES,
  KIND,
  KIND_BOOLEAN,
  KIND_CLOSE,
  KIND_DATE,
  KIND_DATETIME,
  KIND_DECIMAL,
  KIND_FIELD,
  KIND_INTEGER,
  KIND_NATIVE,
  KIND_OPEN,
  KIND_VIEWS,
  NULLS_AT,
  NULLS_COUNT,
  OMIT_NULLS,
  OUT_NEXT,
  PREFIX_AT,
  RAW_AT,
  RAW_QUOTE,
  RAW_STRIDE_BYTES,
  ROW_AT,
  SECOND,
  SOURCE,
  STEP_BYTES,
  STEPS,
  TAIL_AT,
} from '../../kernel/layout/output-program.ts';
import type { Heap } from '../../memory/heap.ts';
import type { CellSource } from '../cell-content.ts';
import { textPlacer } from '../writer.ts';
import type { JsonMember } from './json-section.ts';

export interface JsonRules {
  readonly members: readonly JsonMember[];
  readonly schema: Schema;
  readonly decimalsAsText: boolean;
  readonly omitNulls: boolean;
  /** Text before the `{` of a row, and after its `}`. */
  readonly before: string;
  readonly behind: string;
  /** See CsvRules. */
  readonly nullValues: readonly Uint8Array[];
  readonly emptyIsNull: boolean;
}

/** Location of a column's cells. 'native' is for views whose cells have kinds other than text. */
export type JsonSource = CellSource | { readonly kind: 'native'; readonly at: number; readonly kinds: number };

type Step =
  | { readonly column: number; readonly prefix: string }
  | { readonly open: string }
  | { readonly close: number };

const KINDS: Readonly<Record<JsonSource['kind'], number>> = {
  field: KIND_FIELD,
  views: KIND_VIEWS,
  integer: KIND_INTEGER,
  decimal: KIND_DECIMAL,
  date: KIND_DATE,
  datetime: KIND_DATETIME,
  boolean: KIND_BOOLEAN,
  native: KIND_NATIVE,
};

export class JsonProgram {
  /** Address of the program's head. */
  readonly at: number;
  #heap: Heap;
  /** Columns of the value steps, with the offset of each step. */
  #values: { column: number; at: number }[] = [];

  constructor(heap: Heap, rules: JsonRules) {
    this.#heap = heap;
    const { steps, tail } = layOut(rules);
    this.at = heap.allocate(HEAD_BYTES + steps.length * STEP_BYTES);
    const place = textPlacer(heap);
    const placed = (text: string): [number, number] => {
      const bytes = Buffer.from(text);
      return [place(bytes), bytes.length];
    };
    const nulls = rules.nullValues.flatMap((text) => [place(text), text.length]);
    const nullsAt = heap.allocate(nulls.length * 4);
    const classesAt = heap.allocate(CLASSES_BYTES);
    const { u8, u32 } = heap;
    u8.fill(0, classesAt, classesAt + CLASSES_BYTES);
    for (const text of rules.nullValues) u8[classesAt + text[0]!] = CLASS_NULL;
    u32.set(nulls, nullsAt >>> 2);
    u32.fill(0, this.at >>> 2, (this.at + HEAD_BYTES) >>> 2);
    this.#put(EMITTER, EMITTER_JSON);
    this.#put(CELL_CLASSES, classesAt);
    this.#put(NULLS_AT, nullsAt);
    this.#put(NULLS_COUNT, rules.nullValues.length);
    this.#put(EMPTY_IS_NULL, rules.emptyIsNull ? 1 : 0);
    this.#put(STEPS, steps.length);
    this.#putText(ROW_AT, placed(`${rules.before}{`));
    this.#putText(TAIL_AT, placed(`${tail}}${rules.behind}`));
    this.#put(OMIT_NULLS, rules.omitNulls ? 1 : 0);
    steps.forEach((step, index) => {
      const at = HEAD_BYTES + index * STEP_BYTES;
      const string = 'column' in step && isString(rules.schema[step.column]!.type, rules.decimalsAsText);
      this.#put(at + KIND, 'open' in step ? KIND_OPEN : KIND_CLOSE);
      this.#put(at + SOURCE, 'close' in step ? this.#stepAt(step.close) : 0);
      this.#put(at + FLAGS, string ? FLAG_STRING | (rules.decimalsAsText ? FLAG_NUMBER_STRING : 0) : 0);
      this.#putText(at + PREFIX_AT, placed('prefix' in step ? step.prefix : 'open' in step ? step.open : ''));
      if ('column' in step) this.#values.push({ column: step.column, at });
    });
  }

  /** Writes the locations of the next batch's columns. */
  load(raw: RawTable | null, sources: readonly JsonSource[]): void {
    if (raw !== null) {
      this.#put(RAW_AT, raw.at);
      this.#put(RAW_STRIDE_BYTES, raw.stride * 4);
      this.#put(RAW_QUOTE, raw.quote);
    }
    for (const { column, at } of this.#values) {
      const source = sources[column]!;
      this.#put(at + KIND, KINDS[source.kind]);
      this.#put(at + SOURCE, source.kind === 'field' ? source.field : source.at);
      this.#put(at + SECOND, 'meta' in source ? source.meta : 'kinds' in source ? source.kinds : 0);
    }
  }

  /** Address after the last row that the kernel wrote. */
  get outNext(): number {
    return this.#heap.u32[(this.at + OUT_NEXT) >>> 2]!;
  }

  #put(word: number, value: number): void {
    this.#heap.u32[(this.at + word) >>> 2] = value;
  }

  /** Writes an address and a length into adjacent fields. */
  #putText(word: number, [at, length]: readonly [number, number]): void {
    this.#put(word, at);
    this.#put(word + 4, length);
  }

  #stepAt(index: number): number {
    return this.at + HEAD_BYTES + index * STEP_BYTES;
  }
}

/** True if values of the type are JSON strings. */
export function isString(type: ColumnType, decimalsAsText: boolean): boolean {
  return type === 'text' || type === 'date' || type === 'datetime' || (type === 'decimal' && decimalsAsText);
}

/**
 * The steps of a row. If nulls are included, the text between values is constant, and each value's prefix contains
 * the braces before it. If nulls are omitted, braces are separate steps and the kernel inserts the commas.
 */
function layOut(rules: JsonRules): { steps: Step[]; tail: string } {
  const steps: Step[] = [];
  let pending = '';
  const visit = (members: readonly JsonMember[]): void => {
    members.forEach((member, index) => {
      const comma = index > 0 && !rules.omitNulls ? ',' : '';
      const key = `${comma}${JSON.stringify(member.key)}:`;
      if ('column' in member) {
        const quote = isString(rules.schema[member.column]!.type, rules.decimalsAsText) ? '"' : '';
        steps.push({ column: member.column, prefix: `${pending}${key}${quote}` });
        pending = '';
      } else if (rules.omitNulls) {
        const opened = steps.push({ open: `${key}{` }) - 1;
        visit(member.members);
        steps.push({ close: opened });
      } else {
        pending += `${key}{`;
        visit(member.members);
        pending += '}';
      }
    });
  };
  visit(rules.members);
  return { steps, tail: pending };
}
