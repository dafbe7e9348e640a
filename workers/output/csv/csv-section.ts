// What a Template sets of csv and tsv: the section `output.csv`.
import { Type } from '../../bundled/type-box.ts';
import { character, nullable } from '../../template/setting-schemas.ts';
import { suggestion } from '../../template/suggestion.ts';
import type { ReportProblem } from '../../template/template.ts';
import { compileDatePattern } from '../../values/date-pattern.ts';
import { defineOutputSection } from '../format.ts';
import { outputEncoding, outputEncodings } from '../sink/encoded-sink.ts';
import { type PreambleCell, placeholdersOf } from './preamble-cells.ts';

export interface CsvSettings {
  /** One character. */
  readonly delimiter: string;
  readonly quoting: 'minimal' | 'all' | 'text';
  readonly lineEnding: 'lf' | 'crlf';
  readonly bom: boolean;
  /** WHATWG name; utf-8 unless set. */
  readonly encoding: string;
  readonly unmappable: 'fail' | 'replace';
  readonly header: boolean;
  /** Lines above the header. */
  readonly preamble: readonly (readonly PreambleCell[])[];
  /** Decimal mark of numbers: "." unless set. */
  readonly decimal: string;
  /** Pattern for dates, null = ISO 8601. */
  readonly dateFormat: string | null;
  /** Texts of true and false. */
  readonly boolean: readonly [string, string];
  readonly null: string;
}

/** Headers of reports and of other programs have a few. */
const PREAMBLE_LINES_MAX = 100;

const written = Type.Object({
  delimiter: nullable(character('The character between fields.'), 'null = comma, for tsv a tab.'),
  quoting: Type.Enum(['minimal', 'all', 'text'], {
    default: 'minimal',
    description:
      '`minimal`: fields that need it; `all`: every one; `text`: column names and texts, an empty one too, so that null, ' +
      'which is written without quotes, differs from it.',
  }),
  line_ending: Type.Enum(['lf', 'crlf'], { default: 'lf', description: 'Line ends.' }),
  bom: Type.Boolean({ default: false, description: 'A byte order mark at the start.' }),
  encoding: Type.String({ default: 'utf-8', description: 'Such as windows-1252 or utf-16le.' }),
  unmappable: Type.Enum(['fail', 'replace'], { default: 'fail', description: 'Characters that the encoding lacks.' }),
  header: Type.Boolean({ default: true, description: 'The line of column names.' }),
  preamble: Type.Array(
    Type.Array(Type.Union([Type.String(), Type.Number(), Type.Boolean(), Type.Null()]), { maxItems: 16_384 }),
    {
      default: [],
      maxItems: PREAMBLE_LINES_MAX,
      description:
        'Lines above the header, each a list of cells; `{run.meta.<name>}` in a text is a value of `input.preamble` or ' +
        '`input.footer`. Numbers are no texts for `quoting`, null is an empty cell.',
    },
  ),
  decimal: Type.Enum(['.', ','], { default: '.', description: 'Decimal mark of typed numbers.' }),
  date_format: nullable(
    Type.String({ minLength: 1 }),
    'Of dates, such as dd.MM.yyyy; null = ISO 8601. Times stay ISO 8601: format_date writes them otherwise.',
  ),
  boolean: Type.Tuple([Type.String(), Type.String()], {
    default: ['true', 'false'],
    description: 'Texts of true and false.',
  }),
  null: Type.String({ default: '', description: 'What is written for null.' }),
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
    report('/encoding', 'BAD_VALUE', `${JSON.stringify(csv.encoding)} is no encoding of the output.${hint}`);
  } else if (csv.bom && !encoding.startsWith('utf-')) {
    report('/bom', 'BAD_VALUE', `The encoding ${csv.encoding} has no byte order mark. Write bom: false.`);
  }
}
