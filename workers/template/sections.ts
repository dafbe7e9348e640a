// Converts the sections of a Template to their normalised form, including the section `output`.
import { type Static, type TSchema, Type } from '../bundled/type-box.ts';
import type { OutputFormatTable, OutputSection } from '../output/format.ts';
import { columnName, columnSet } from './base-parameters.ts';
import { withDefaults } from './json-schema.ts';
import type { TemplateLanguage } from './language.ts';
import {
  defaultsSection,
  headSection,
  inputSection,
  nullable,
  tablesSection,
  testsSection,
} from './section-schemas.ts';
import type { MetaValue, OnError, Template, TemplateDefaults, TemplateInput, TemplateOutput } from './template.ts';

// The section `output` of a Template: the settings that all formats share, and the sections of the available formats.

/**
 * Formats of the language and their sections. A format or section that this version does not support is refused by
 * name.
 */
const LANGUAGE_FORMATS: readonly string[] = ['csv', 'tsv', 'xlsx', 'json', 'ndjson', 'parquet'];
const LANGUAGE_SECTIONS: readonly string[] = ['csv', 'xlsx', 'json'];

const columns = nullable(columnSet, 'Columns of the output, in this order; null = all columns in their order.');

const common = {
  formula_guard: Type.Enum(['auto', 'strict', 'off', 'fail'], {
    default: 'auto',
    description: 'Protection of texts that a spreadsheet would read as formulas.',
  }),
  name: Type.String({ minLength: 1, default: '{template}-{run}', description: 'Name of the output file.' }),
};

/** Maximum number of columns that choose the file of a row. */
const SPLIT_COLUMNS_MAX = 5;

const split = {
  split_by: Type.Optional(
    Type.Array(columnName, {
      minItems: 1,
      maxItems: SPLIT_COLUMNS_MAX,
      uniqueItems: true,
      description:
        'Splits the output into files, one for each combination of cells in these columns, at most 1,000. The output is a ZIP archive. A column need not be in `columns`. The rows of a file keep their order.',
    }),
  ),
  file_name: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 200,
      description:
        'Names of the files of `split_by`, such as `orders-{country}`; the extension is added. By default the cells, joined by `-`. Characters that are not allowed in names become `_`, and a name that exists already gets a number.',
    }),
  ),
};

const head = Type.Object({ format: Type.String({ default: 'csv' }), columns, ...common, ...split });

export function outputSchema(formats: OutputFormatTable) {
  const sections = sectionsOf(formats);
  const names = new Set([...LANGUAGE_FORMATS, ...formats.keys()]);
  const parts = [...new Set([...LANGUAGE_SECTIONS, ...sections.keys()])].map((name): [string, TSchema] => {
    const schema = sections.get(name)?.schema ?? Type.Object({}, { additionalProperties: true });
    return [name, Type.Optional(schema)];
  });
  return Type.Object({
    format: Type.Enum([...names], { default: 'csv', description: 'Format of the output.' }),
    columns,
    ...split,
    ...Object.fromEntries(parts),
    ...common,
  });
}

/** @param source a section that the schema has accepted */
function outputOf(source: Readonly<Record<string, unknown>>, formats: OutputFormatTable): TemplateOutput {
  const output = withDefaults(head, source) as Static<typeof head>;
  const section = formats.get(output.format)?.section;
  return {
    format: output.format,
    columns: output.columns,
    settings: section === undefined ? null : settingsOf(section, source, output.format),
    formulaGuard: output.formula_guard,
    name: output.name,
    splitBy: output.split_by ?? [],
    fileName: output.file_name ?? null,
  };
}

/** Settings of a format from its section, which may be absent. */
export function settingsOf(section: OutputSection, source: Readonly<Record<string, unknown>>, format: string): unknown {
  return section.settings(withDefaults(section.schema, source[section.name] ?? {}), format);
}

/** The sections by name, without duplicates. */
export function sectionsOf(formats: OutputFormatTable): ReadonlyMap<string, OutputSection> {
  return new Map([...formats.values()].map(({ section }) => [section.name, section]));
}

/** The name of a written section that the language has but this version does not support. */
export function laterSection(
  source: Readonly<Record<string, unknown>>,
  formats: OutputFormatTable,
): string | undefined {
  const sections = sectionsOf(formats);
  return LANGUAGE_SECTIONS.find((name) => name in source && !sections.has(name));
}

// Converts the sections of a Template, except its operations, to their normalised form with defaults filled in.

export type TemplateSections = Omit<Template, 'operations' | 'fileColumns' | 'takesOthers' | 'flagColumn' | 'patterns'>;

/** Sections that need no conversion. */
const plainSections = Type.Object({ ...headSection, tables: Type.Optional(tablesSection), tests: testsSection });

/** The sections of a Template that its schema has accepted. */
export function templateSectionsOf(
  source: Readonly<Record<string, unknown>>,
  { outputFormats }: TemplateLanguage,
): TemplateSections {
  const sections = withDefaults(plainSections, source) as Static<typeof plainSections>;
  const tables = sections.tables ?? {};
  const defaults = defaultsOf(source['defaults'] ?? {});
  return {
    format: 1,
    name: sections.name,
    description: sections.description,
    input: inputOf(source['input'] ?? {}, defaults.onError),
    tables,
    usesTables: Object.keys(tables).length > 0,
    defaults,
    output: outputOf((source['output'] ?? {}) as Readonly<Record<string, unknown>>, outputFormats),
    tests: sections.tests,
  };
}

/** @param source the section as written, after its schema has accepted it */
export function inputOf(source: unknown, onError: OnError = 'fail'): TemplateInput {
  const input = withDefaults(inputSection, { csv: {}, json: {}, parquet: {}, ...(source as object) }) as Static<
    typeof inputSection
  >;
  const csv = input.csv!;
  const json = input.json!;
  return {
    headerMatch: input.header_match,
    duplicateHeaders: input.duplicate_headers,
    otherColumns: input.other_columns,
    nullValues: input.null_values,
    format: input.format,
    csv: {
      delimiter: csv.delimiter,
      headerRow: csv.header_row,
      headerRows: csv.header_rows,
      columns: csv.columns,
      comment: csv.comment,
      encoding: csv.encoding,
      quote: csv.quote,
      escape: csv.escape,
      ragged: csv.ragged ?? (onError === 'reject' ? 'reject_long' : 'pad'),
      strayQuotes: csv.stray_quotes,
      nulBytes: csv.nul_bytes,
      recordSeparator: csv.record_separator,
    },
    json: { records: json.records, flatten: json.flatten, nan: json.nan },
    parquetBytes: input.parquet!.bytes,
    archiveFile: input.archive_file,
    archiveFiles: input.archive_files,
    fixed: input.fixed && { columns: input.fixed.columns, recordLength: input.fixed.record_length ?? null },
    sheet: input.sheet,
    sheetInto: input.sheet_into,
    table: input.table,
    merged: input.merged,
    hidden: input.hidden,
    preamble: metaValuesOf(input.preamble),
    footer: metaValuesOf(input.footer),
    columns: withSheetColumn(input.columns.map(columnOf), input.sheet_into),
  };
}

/** A name alone is a column without further settings. */
function columnOf(given: Static<typeof inputSection>['columns'][number]): TemplateInput['columns'][number] {
  const defaults = { match: [], required: true };
  return typeof given === 'string' ? { name: given, ...defaults } : { ...defaults, ...given };
}

function metaValuesOf(given: Static<typeof inputSection>['preamble']): readonly MetaValue[] {
  return Object.entries(given ?? {}).map(([name, { record = null, field = null, pattern = null, required = true }]) => {
    return { name, record, field, pattern, required };
  });
}

/** Adds the column for sheet names. In a file without sheets it contains nulls. */
function withSheetColumn(columns: TemplateInput['columns'], name: string | null): TemplateInput['columns'] {
  if (name === null || columns.some((column) => column.name === name)) return columns;
  return [...columns, { name, match: [], required: false }];
}

function defaultsOf(source: unknown): TemplateDefaults {
  const defaults = withDefaults(defaultsSection, source) as Static<typeof defaultsSection>;
  return {
    onError: defaults.on_error,
    flagColumn: defaults.flag_column,
    maxErrors: defaults.max_errors,
    maxErrorRatio: defaults.max_error_ratio,
  };
}
