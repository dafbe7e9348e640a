// The sections of a Template beside its operations: from the file's words to the normalised form, with defaults filled in.
import type { Static } from '../bundled/type-box.ts';
import { withDefaults } from './json-schema.ts';
import { templateSections } from './schema.ts';
import { defaultsSection, inputSection, outputSection } from './section-schemas.ts';
import type { Template, TemplateDefaults, TemplateInput, TemplateOutput } from './template.ts';

export type TemplateSections = Omit<Template, 'operations' | 'fileColumns' | 'flagColumn' | 'patterns'>;

/** The sections of a Template that its schema has passed. */
export function templateSectionsOf(source: Readonly<Record<string, unknown>>): TemplateSections {
  const sections = withDefaults(templateSections, source) as Static<typeof templateSections>;
  return {
    format: 1,
    name: sections.name,
    description: sections.description,
    input: inputOf(source['input'] ?? {}),
    tables: sections.tables ?? {},
    defaults: defaultsOf(source['defaults'] ?? {}),
    output: outputOf(source['output'] ?? {}),
    tests: sections.tests,
  };
}

function inputOf(source: unknown): TemplateInput {
  const input = withDefaults(inputSection, { csv: {}, ...(source as object) }) as Static<typeof inputSection>;
  const csv = input.csv!;
  return {
    headerMatch: input.header_match,
    duplicateHeaders: input.duplicate_headers,
    otherColumns: input.other_columns,
    nullValues: input.null_values,
    csv: {
      delimiter: csv.delimiter,
      headerRow: csv.header_row,
      encoding: csv.encoding,
      quote: csv.quote,
      ragged: csv.ragged,
      strayQuotes: csv.stray_quotes,
    },
    sheet: input.sheet,
    columns: input.columns,
  };
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

function outputOf(source: unknown): TemplateOutput {
  const output = withDefaults(outputSection, { csv: {}, json: {}, ...(source as object) }) as Static<
    typeof outputSection
  >;
  const csv = output.csv!;
  const json = output.json!;
  return {
    format: output.format,
    columns: output.columns,
    csv: {
      delimiter: csv.delimiter ?? (output.format === 'tsv' ? '\t' : ','),
      quoting: csv.quoting,
      lineEnding: csv.line_ending,
      bom: csv.bom,
      encoding: csv.encoding,
      unmappable: csv.unmappable,
      header: csv.header,
      decimal: csv.decimal,
      dateFormat: csv.date_format,
      boolean: csv.boolean,
      null: csv.null,
    },
    json: {
      layout: json.layout ?? (output.format === 'ndjson' ? 'ndjson' : 'array'),
      decimals: json.decimals,
      nulls: json.nulls,
      nest: json.nest,
    },
    formulaGuard: output.formula_guard,
    name: output.name,
  };
}
