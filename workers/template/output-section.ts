// The section `output` of a Template: what all formats have in common, and the sections of those that there are.
import { type Static, type TSchema, Type } from '../bundled/type-box.ts';
import { columnSet } from '../execution/parameters/column-set.ts';
import type { OutputFormatTable, OutputSection } from '../output/format.ts';
import { withDefaults } from './json-schema.ts';
import { nullable } from './setting-schemas.ts';
import type { TemplateOutput } from './template.ts';

/** Formats of the language, and their sections. Those that no format of this version has are refused by name. */
const LANGUAGE_FORMATS: readonly string[] = ['csv', 'tsv', 'xlsx', 'json', 'ndjson', 'parquet'];
const LANGUAGE_SECTIONS: readonly string[] = ['csv', 'xlsx', 'json'];

const columns = nullable(columnSet, 'Columns of the output in their order; null = all as they stand.');

const common = {
  formula_guard: Type.Enum(['auto', 'strict', 'off', 'fail'], {
    default: 'auto',
    description: 'What is done to text that a spreadsheet would take as a formula.',
  }),
  name: Type.String({ minLength: 1, default: '{template}-{run}', description: 'Name of the output file.' }),
};

const head = Type.Object({ format: Type.String({ default: 'csv' }), columns, ...common });

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
    ...Object.fromEntries(parts),
    ...common,
  });
}

/** @param source has passed the schema */
export function outputOf(source: Readonly<Record<string, unknown>>, formats: OutputFormatTable): TemplateOutput {
  const output = withDefaults(head, source) as Static<typeof head>;
  const section = formats.get(output.format)?.section;
  return {
    format: output.format,
    columns: output.columns,
    settings: section === undefined ? null : settingsOf(section, source, output.format),
    formulaGuard: output.formula_guard,
    name: output.name,
  };
}

/** What a section says, written or not. */
export function settingsOf(section: OutputSection, source: Readonly<Record<string, unknown>>, format: string): unknown {
  return section.settings(withDefaults(section.schema, source[section.name] ?? {}), format);
}

/** By their names, each once. */
export function sectionsOf(formats: OutputFormatTable): ReadonlyMap<string, OutputSection> {
  return new Map([...formats.values()].map(({ section }) => [section.name, section]));
}

/** A section of the language that was written, but that this version does not have. */
export function laterSection(
  source: Readonly<Record<string, unknown>>,
  formats: OutputFormatTable,
): string | undefined {
  const sections = sectionsOf(formats);
  return LANGUAGE_SECTIONS.find((name) => name in source && !sections.has(name));
}
