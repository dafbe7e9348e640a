// The sections of a Template beside its operations: from the file's words to the normalised form, with defaults filled in.
import { type Static, Type } from '../bundled/type-box.ts';
import { withDefaults } from './json-schema.ts';
import type { TemplateLanguage } from './language.ts';
import { outputOf } from './output-section.ts';
import { defaultsSection, headSection, inputSection, tablesSection, testsSection } from './section-schemas.ts';
import type { MetaValue, Template, TemplateDefaults, TemplateInput } from './template.ts';

export type TemplateSections = Omit<Template, 'operations' | 'fileColumns' | 'takesOthers' | 'flagColumn' | 'patterns'>;

/** What is taken as it is written. */
const plainSections = Type.Object({ ...headSection, tables: Type.Optional(tablesSection), tests: testsSection });

/** The sections of a Template that its schema has passed. */
export function templateSectionsOf(
  source: Readonly<Record<string, unknown>>,
  { outputFormats }: TemplateLanguage,
): TemplateSections {
  const sections = withDefaults(plainSections, source) as Static<typeof plainSections>;
  const tables = sections.tables ?? {};
  return {
    format: 1,
    name: sections.name,
    description: sections.description,
    input: inputOf(source['input'] ?? {}),
    tables,
    usesTables: Object.keys(tables).length > 0,
    defaults: defaultsOf(source['defaults'] ?? {}),
    output: outputOf((source['output'] ?? {}) as Readonly<Record<string, unknown>>, outputFormats),
    tests: sections.tests,
  };
}

/** @param source the section as it is written; its schema has passed it */
export function inputOf(source: unknown): TemplateInput {
  const input = withDefaults(inputSection, { csv: {}, json: {}, ...(source as object) }) as Static<typeof inputSection>;
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
      comment: csv.comment,
      encoding: csv.encoding,
      quote: csv.quote,
      ragged: csv.ragged,
      strayQuotes: csv.stray_quotes,
    },
    json: { records: json.records, flatten: json.flatten },
    fixed: input.fixed,
    sheet: input.sheet,
    sheetInto: input.sheet_into,
    table: input.table,
    merged: input.merged,
    hidden: input.hidden,
    preamble: metaValuesOf(input.preamble),
    footer: metaValuesOf(input.footer),
    columns: withSheetColumn(input.columns, input.sheet_into),
  };
}

function metaValuesOf(given: Static<typeof inputSection>['preamble']): readonly MetaValue[] {
  return Object.entries(given ?? {}).map(([name, { record = null, field = null, pattern = null, required = true }]) => {
    return { name, record, field, pattern, required };
  });
}

/** A file without sheets has nulls there. */
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
