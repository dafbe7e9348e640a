// The part of the CSV kernel's program that is the same in every Run of a plan, as bytes to be copied into a Run's memory:
// classes of first bytes, then the texts that stand for null, true and false, then the null values.
import {
  CLASS_GUARD,
  CLASS_NULL,
  CLASS_QUOTE,
  CLASS_SIGN,
  CLASSES_BYTES,
  QUOTE,
} from '../../kernel/layout/output-program.ts';
import { GUARDED_ALWAYS, GUARDED_SIGNS } from '../../kernel/plain/formula.ts';
import type { CsvRules } from './csv-rules.ts';

/** The kernel copies texts in steps of 16. */
const TEXT_SLACK_BYTES = 16;

/** Offsets are from the first byte. */
export interface CsvTables {
  /** The classes of cells, the classes of runs, the texts. */
  readonly bytes: Uint8Array;
  /** Of each column. */
  readonly texts: readonly { readonly null: number; readonly true: number; readonly false: number }[];
  /** Of each null value. */
  readonly nulls: readonly { readonly at: number; readonly length: number }[];
  /** True when an empty cell is not always written as nothing. */
  readonly emptyIsSpecial: boolean;
  /** True when the text of a number or date can hold the delimiter. */
  readonly typedNeedsScan: boolean;
}

export function csvTables(rules: CsvRules): CsvTables {
  const classes = cellClasses(rules);
  const pieces: Uint8Array[] = [classes, runClasses(rules, classes)];
  let length = CLASSES_BYTES * 2;
  const known = new Map<string, number>();
  const place = (text: Uint8Array): number => {
    const key = Buffer.from(text).toString('latin1');
    const at = known.get(key) ?? length;
    if (known.has(key)) return at;
    known.set(key, at);
    pieces.push(text, new Uint8Array(TEXT_SLACK_BYTES));
    length += text.length + TEXT_SLACK_BYTES;
    return at;
  };
  const placed = new Map(
    [...new Set(rules.columns)].map((column) => [
      column,
      { null: place(column.null), true: place(column.true), false: place(column.false) },
    ]),
  );
  const texts = rules.columns.map((column) => placed.get(column)!);
  const nulls = rules.nullValues.map((text) => ({ at: place(text), length: text.length }));
  return {
    bytes: Buffer.concat(pieces),
    texts,
    nulls,
    emptyIsSpecial: rules.columns.some((column) => column.null.length > 0 || column.quoteEmpty),
    typedNeedsScan: typedNeedsScan(rules),
  };
}

function typedNeedsScan(rules: CsvRules): boolean {
  return Buffer.from(`0123456789+-:TZ.${String.fromCharCode(rules.decimalMark)}`).includes(rules.delimiter[0]!);
}

/** By first byte of a text: what the guard and the null values have to look at. */
function cellClasses(rules: CsvRules): Uint8Array {
  const classes = new Uint8Array(CLASSES_BYTES);
  if (rules.guard !== 'off') {
    for (const byte of GUARDED_ALWAYS) classes[byte]! |= CLASS_GUARD;
    for (const byte of GUARDED_SIGNS) classes[byte]! |= rules.guard === 'strict' ? CLASS_GUARD : CLASS_SIGN;
    if (rules.guard === 'strict') classes[0]! |= CLASS_GUARD;
  }
  for (const text of rules.nullValues) classes[text[0]!]! |= CLASS_NULL;
  return classes;
}

/** By first byte of a raw field of a run. An unquoted field never begins with the delimiter, CR or LF: those are empty ones. */
function runClasses(rules: CsvRules, cells: Uint8Array): Uint8Array {
  const classes = cells.slice();
  classes[rules.delimiter[0]!] = 0;
  classes[0x0a] = 0;
  classes[0x0d] = 0;
  classes[QUOTE]! |= CLASS_QUOTE;
  return classes;
}
