// Lays out the program of the JSON kernel in a Run's memory (words: kernel/assembly/emit-layout.ts): keys and braces once,
// the places of the columns anew for each batch.
import type { RawTable } from '../batch.ts';
import type { Heap } from '../heap.ts';
import type { ColumnType, Schema } from '../schema.ts';
import type { JsonMember } from './nest.ts';
import { textPlacer } from './text-placer.ts';

export interface JsonRules {
  readonly members: readonly JsonMember[];
  readonly schema: Schema;
  readonly decimalsAsText: boolean;
  readonly omitNulls: boolean;
  /** Before a row's `{`, and behind its `}`. */
  readonly before: string;
  readonly behind: string;
  /** As in CsvRules. */
  readonly nullValues: readonly Uint8Array[];
  readonly emptyIsNull: boolean;
}

/** Where a column's cells lie in this batch. */
export type JsonSource =
  | { readonly kind: 'field'; readonly field: number }
  | { readonly kind: 'views'; readonly at: number }
  | {
      readonly kind: 'integer' | 'decimal' | 'date' | 'datetime' | 'boolean';
      readonly at: number;
      readonly meta: number;
    };

type Step =
  | { readonly column: number; readonly prefix: string }
  | { readonly open: string }
  | { readonly close: number };

const KINDS = ['run', 'field', 'views', 'integer', 'decimal', 'date', 'datetime', 'boolean', 'open', 'close'];
const HEAD_BYTES = 128;
const STEP_BYTES = 64;
const CLASSES_BYTES = 256;
const FLAG_STRING = 16;
const CLASS_NULL = 8;

export class JsonProgram {
  /** Address of the head. */
  readonly at: number;
  #heap: Heap;
  /** Columns of the value steps, with the word at which each begins. */
  #values: { column: number; word: number }[] = [];

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
    const head = [classesAt, 0, 0, 0, 0, 0, nullsAt, rules.nullValues.length, rules.emptyIsNull ? 1 : 0, 0, 0];
    const rowTexts = [...placed(`${rules.before}{`), ...placed(`${tail}}${rules.behind}`), rules.omitNulls ? 1 : 0];
    const stepTexts = steps.map((step) => placed('prefix' in step ? step.prefix : 'open' in step ? step.open : ''));
    const { u8, u32 } = heap;
    u8.fill(0, classesAt, classesAt + CLASSES_BYTES);
    for (const text of rules.nullValues) u8[classesAt + text[0]!] = CLASS_NULL;
    u32.set(nulls, nullsAt >>> 2);
    u32.set([...head, steps.length, 0, 0, ...rowTexts], (this.at >>> 2) + 4);
    steps.forEach((step, index) => {
      const word = this.#stepAt(index) >>> 2;
      const string = 'column' in step && isString(rules.schema[step.column]!.type, rules.decimalsAsText);
      u32[word] = KINDS.indexOf('open' in step ? 'open' : 'close');
      u32[word + 1] = 'close' in step ? this.#stepAt(step.close) : 0;
      u32[word + 3] = string ? FLAG_STRING : 0;
      u32.set(stepTexts[index]!, word + 10);
      if ('column' in step) this.#values.push({ column: step.column, word });
    });
  }

  /** Where the columns of the next batch lie. */
  load(raw: RawTable | null, sources: readonly JsonSource[]): void {
    const { u32 } = this.#heap;
    if (raw !== null) u32.set([raw.at, raw.stride * 4, raw.quote], (this.at >>> 2) + 7);
    for (const { column, word } of this.#values) {
      const source = sources[column]!;
      u32[word] = KINDS.indexOf(source.kind);
      u32[word + 1] = source.kind === 'field' ? source.field : source.at;
      u32[word + 2] = 'meta' in source ? source.meta : 0;
    }
  }

  /** Address behind the last row that the kernel wrote. */
  get outNext(): number {
    return this.#heap.u32[(this.at >>> 2) + 16]!;
  }

  #stepAt(index: number): number {
    return this.at + HEAD_BYTES + index * STEP_BYTES;
  }
}

/** True when a type's values are JSON strings. */
export function isString(type: ColumnType, decimalsAsText: boolean): boolean {
  return type === 'text' || type === 'date' || type === 'datetime' || (type === 'decimal' && decimalsAsText);
}

/**
 * The steps of a row. Where nulls are included its text between the values is always the same: each value's prefix holds
 * the braces before it. Where they are left out, braces are steps of their own and the kernel sets the commas.
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
