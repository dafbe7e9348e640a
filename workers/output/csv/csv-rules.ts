// Turns the output's settings into the bytes and flags that the CSV writer works by.
import { csvCell } from '../../kernel/plain/emit-csv.ts';
import type { FormulaGuard } from '../../kernel/plain/formula.ts';
import type { OutputForm } from '../format.ts';
import type { CsvSettings } from './csv-section.ts';

/** How cells are written, in bytes. */
export interface CsvRules {
  /** One character, 1 to 4 bytes. */
  readonly delimiter: Uint8Array;
  readonly lineEnding: Uint8Array;
  readonly guard: FormulaGuard;
  /** Texts that the reader takes as missing, without the empty one. */
  readonly nullValues: readonly Uint8Array[];
  readonly emptyIsNull: boolean;
  /** Byte of the decimal mark. */
  readonly decimalMark: number;
  readonly columns: readonly CsvColumnRules[];
}

export interface CsvColumnRules {
  /** Quoted whatever it holds. */
  readonly quote: boolean;
  /** A native value of the file too (native-kind.ts). */
  readonly quoteNative: boolean;
  /** An empty text is written as two quotes. */
  readonly quoteEmpty: boolean;
  /** What stands for null, with its quotes where it needs them. */
  readonly null: Uint8Array;
  readonly true: Uint8Array;
  readonly false: Uint8Array;
}

export function csvRules({ settings, schema, nullValues, formulaGuard }: OutputForm<CsvSettings>): CsvRules {
  const byType = new Map<string, CsvColumnRules>();
  const rulesOf = (type: string): CsvColumnRules => {
    const known = byType.get(type) ?? columnRules(settings, delimiter, schema.length === 1, type);
    byType.set(type, known);
    return known;
  };
  const delimiter = Buffer.from(settings.delimiter);
  return {
    delimiter,
    lineEnding: Buffer.from(settings.lineEnding === 'crlf' ? '\r\n' : '\n'),
    guard: formulaGuard,
    nullValues: nullValues.filter((text) => text !== '').map((text) => Buffer.from(text)),
    emptyIsNull: nullValues.includes(''),
    decimalMark: settings.decimal.charCodeAt(0) & 0x7f,
    columns: schema.map(({ type }) => rulesOf(type)),
  };
}

function columnRules(csv: CsvSettings, delimiter: Uint8Array, alone: boolean, type: string): CsvColumnRules {
  const isText = type === 'text' || type === 'json';
  const quote = csv.quoting === 'all' || (csv.quoting === 'text' && isText);
  // An empty line would be read as no row at all.
  const rules = { delimiter, guard: 'off', quote, quoteEmpty: alone } as const;
  const write = (text: string): Uint8Array => csvCell(Buffer.from(text), rules).bytes;
  // Quotes mark texts, and null is none.
  const nothing = csvCell(Buffer.from(csv.null), { ...rules, quote: csv.quoting === 'all' }).bytes;
  const quoteNative = csv.quoting === 'all';
  return {
    quote,
    quoteNative,
    quoteEmpty: alone,
    null: nothing,
    true: write(csv.boolean[0]),
    false: write(csv.boolean[1]),
  };
}
