// Settings of csv and tsv in a Template, and the bytes and flags that follow from them.

import { Type } from '../../bundled/type-box.ts';
import type { MetaValues } from '../../input/reader.ts';
import { csvCell, type FormulaGuard } from '../../kernel/plain/emit-csv.ts';
import { Failed } from '../../protocol/failure.ts';
import { rowPhrase } from '../../protocol/report.ts';
import { character, nullable } from '../../template/section-schemas.ts';
import type { ReportProblem } from '../../template/template.ts';
import { compileDatePattern } from '../../values/date-pattern.ts';
import { suggestion } from '../../values/suggestion.ts';
import type { TypedFormat } from '../cell-content.ts';
import { defineOutputSection, type OutputForm } from '../format.ts';
import { outputEncoding, outputEncodings } from '../sink/output-sink.ts';

// Lines above the header of a CSV. Their cells may contain placeholders for values of the input file.

/**
 * A cell of such a line. Texts are quoted like texts of the table, numbers are not texts, and null is an empty cell.
 */
export type PreambleCell = string | number | boolean | null;

/** A value above or below the table of the input file. */
const PLACEHOLDER = /\{run\.meta\.([A-Za-z_][A-Za-z0-9_]*)\}/g;

/** Names of the placeholders in the lines. */
function placeholdersOf(lines: readonly (readonly PreambleCell[])[]): string[] {
  const texts = lines.flat().filter((cell) => typeof cell === 'string');
  return texts.flatMap((text) => [...text.matchAll(PLACEHOLDER)].map((match) => match[1]!));
}

/** Replaces placeholders by their values. A value that is missing in the file becomes empty. */
export function filledIn(text: string, meta: MetaValues): string {
  return text.replace(PLACEHOLDER, (_, name: string) => meta[name] ?? '');
}

// Settings of csv and tsv in a Template: the section `output.csv`.

export interface CsvSettings {
  /** One character. */
  readonly delimiter: string;
  readonly quoting: 'minimal' | 'all' | 'text';
  readonly lineEnding: 'lf' | 'crlf';
  readonly bom: boolean;
  /** WHATWG name; defaults to utf-8. */
  readonly encoding: string;
  readonly unmappable: 'fail' | 'replace';
  readonly header: boolean;
  /** Lines above the header. */
  readonly preamble: readonly (readonly PreambleCell[])[];
  /** Decimal mark of numbers; defaults to ".". */
  readonly decimal: string;
  /** Pattern for dates; null = ISO 8601. */
  readonly dateFormat: string | null;
  /** Texts for true and false. */
  readonly boolean: readonly [string, string];
  readonly null: string;
}

/** Maximum number of lines above the header. Reports and imports of other programs need a few. */
const PREAMBLE_LINES_MAX = 100;

const written = Type.Object({
  delimiter: nullable(character('The separator of fields.'), 'Separator of fields; null = comma, for tsv a tab.'),
  quoting: Type.Enum(['minimal', 'all', 'text'], {
    default: 'minimal',
    description:
      '`minimal`: only fields that need quotes; `all`: all fields; `text`: column names and texts, including empty ones, so that null, which is written without quotes, is different.',
  }),
  line_ending: Type.Enum(['lf', 'crlf'], { default: 'lf', description: 'Line ends.' }),
  bom: Type.Boolean({ default: false, description: 'A byte order mark at the start.' }),
  encoding: Type.String({ default: 'utf-8', description: 'Encoding, such as windows-1252 or utf-16le.' }),
  unmappable: Type.Enum(['fail', 'replace'], {
    default: 'fail',
    description: 'For characters that the encoding lacks.',
  }),
  header: Type.Boolean({ default: true, description: 'The line of column names.' }),
  preamble: Type.Array(
    Type.Array(Type.Union([Type.String(), Type.Number(), Type.Boolean(), Type.Null()]), { maxItems: 16_384 }),
    {
      default: [],
      maxItems: PREAMBLE_LINES_MAX,
      description:
        'Lines above the header, each a list of cells; `{run.meta.<name>}` in a text is a value of `input.preamble` or `input.footer`. For `quoting`, numbers are not texts. Null is an empty cell.',
    },
  ),
  decimal: Type.Enum(['.', ','], { default: '.', description: 'Decimal separator of typed numbers.' }),
  date_format: nullable(
    Type.String({ minLength: 1 }),
    'Pattern of dates, such as dd.MM.yyyy; null = ISO 8601. Times are always ISO 8601, unless format_date formats them.',
  ),
  boolean: Type.Tuple([Type.String(), Type.String()], {
    default: ['true', 'false'],
    description: 'Texts of true and false.',
  }),
  null: Type.String({ default: '', description: 'Text for null.' }),
});

export const csvSection = defineOutputSection({
  name: 'csv',
  schema: written,
  settings: (csv, format): CsvSettings => ({
    delimiter: csv.delimiter ?? (format === 'tsv' ? '\t' : ','),
    quoting: csv.quoting,
    lineEnding: csv.line_ending,
    bom: csv.bom,
    encoding: csv.encoding,
    unmappable: csv.unmappable,
    header: csv.header,
    preamble: csv.preamble,
    decimal: csv.decimal,
    dateFormat: csv.date_format,
    boolean: csv.boolean,
    null: csv.null,
  }),
  check(csv, format, report, metaNames) {
    if (csv.delimiter === '"') report('/delimiter', 'BAD_VALUE', 'The quote cannot be the delimiter.');
    if (format === 'tsv' && csv.delimiter !== '\t') {
      report('/delimiter', 'BAD_VALUE', 'The format tsv has tabs. Write format: csv for another delimiter.');
    }
    checkEncoding(csv, report);
    const lost = placeholdersOf(csv.preamble).find((name) => !metaNames.has(name));
    if (lost !== undefined) {
      const message = `input.preamble and input.footer declare no ${JSON.stringify(lost)}.${suggestion(lost, metaNames)}`;
      report('/preamble', 'UNKNOWN_NAME', message);
    }
    if (csv.dateFormat === null) return;
    const pattern = compileDatePattern(csv.dateFormat);
    if ('problem' in pattern) report('/date_format', 'BAD_VALUE', String(pattern.problem));
  },
});

function checkEncoding(csv: CsvSettings, report: ReportProblem): void {
  const encoding = outputEncoding(csv.encoding);
  if (encoding === null) {
    const hint = suggestion(csv.encoding, outputEncodings) || ` Known: ${outputEncodings.join(', ')}.`;
    report('/encoding', 'BAD_VALUE', `${JSON.stringify(csv.encoding)} is not an output encoding.${hint}`);
  } else if (csv.bom && !encoding.startsWith('utf-')) {
    report('/bom', 'BAD_VALUE', `The encoding ${csv.encoding} has no byte order mark. Write bom: false.`);
  }
}

// Converts the output settings to the bytes and flags that the CSV writer uses.

/** Rules for writing cells, in bytes. */
export interface CsvRules {
  /** One character, 1 to 4 bytes. */
  readonly delimiter: Uint8Array;
  readonly lineEnding: Uint8Array;
  readonly guard: FormulaGuard;
  /** Texts that the reader treats as missing, except the empty text. */
  readonly nullValues: readonly Uint8Array[];
  readonly emptyIsNull: boolean;
  /** Byte of the decimal mark. */
  readonly decimalMark: number;
  readonly columns: readonly CsvColumnRules[];
}

export interface CsvColumnRules {
  /** True if all cells are quoted. */
  readonly quote: boolean;
  /** True if native values of the file are quoted, too (cell-content.ts). */
  readonly quoteNative: boolean;
  /** True if an empty text is written as two quotes. */
  readonly quoteEmpty: boolean;
  /** Text for null, with quotes if it needs them. */
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
  // Readers ignore an empty line, so an empty cell of a single column is quoted.
  const rules = { delimiter, guard: 'off', quote, quoteEmpty: alone } as const;
  const write = (text: string): Uint8Array => csvCell(Buffer.from(text), rules).bytes;
  // With `quoting: text`, quotes mark texts, and null is not a text.
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

// Text format of typed cells in CSV: the Template's decimal mark, texts of booleans, and date pattern.

export function typedFormat(csv: CsvSettings): TypedFormat {
  return {
    decimalMark: csv.decimal,
    formatDate: csv.dateFormat === null ? null : dateFormatter(csv.dateFormat),
    nonFinite: 'name',
    boolean: csv.boolean,
  };
}

/** Formats dates only. Datetimes stay ISO 8601, because a date pattern would lose the time. */
function dateFormatter(source: string): (days: number) => string {
  const pattern = compileDatePattern(source);
  if ('problem' in pattern) throw new Error('the date pattern was not checked');
  return (days) => pattern.format({ days, second: 0, nanos: 0, offsetSeconds: 0 });
}

// Failure of `formula_guard: fail`.

/**
 * TEMPLATE_CHECK_FAILED, because `formula_guard: fail` is a check of the result that the Template requests; no
 * operation or row error code is involved. The column is identified by its position, because its name may come from
 * the file.
 *
 * @param sourceRow null for the header
 */
export function formulaRefusal(column: number, sourceRow: number | null): Failed {
  const place = sourceRow === null ? 'the header' : rowPhrase(sourceRow);
  return new Failed(
    'TEMPLATE_CHECK_FAILED',
    `A spreadsheet could take column ${column + 1} of the output in ${place} for a formula (formula_guard: fail).`,
  );
}
