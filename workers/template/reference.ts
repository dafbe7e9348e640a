// Writes the reference of the Template language in Markdown, from the same definitions that validate Templates.

import { FUNCTIONS_BY_THEME } from '../expression/functions/index.ts';
import { DATE_NAMES } from '../values/month-names.ts';
import { baseParameters, cellParameters } from './base-parameters.ts';
import { type JsonSchema, mappingSchema } from './json-schema.ts';
import type { TemplateLanguage } from './language.ts';
import { MEMORY_CLASSES, type OperationDefinition, type OperationExample } from './operation.ts';
import { type StructureOperation, structureOperations, templateSections } from './schema.ts';
import { operationText } from './template-text.ts';

// Formats texts for Markdown tables.

export function code(text: string): string {
  return text.includes('`') ? `\`\` ${text} \`\`` : `\`${text}\``;
}

/** Escapes a text for a cell of a Markdown table. */
export function cell(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll('|', '\\|').replaceAll('\t', '\\t').replace(/\r?\n/g, ' ');
}

// Text of the reference about expressions, their functions, and the patterns of dates and texts.

/** Text before the operations. */
const EXPRESSIONS: readonly string[] = [
  '## Expressions',
  '',
  '`where`, `set`, `expr` and similar parameters are expressions in CEL (Common Expression Language): `amount > 100 && status != "paid"`.',
  '',
  '- Write a column by its name. If the name contains other characters than letters, digits and `_`, write `` `Invoice No` `` or ' +
    '`row["Invoice No"]`. `value` is the cell that `set` sets or `validate` checks, `run.row` the row number in the file (null for a row that `append_rows` added), `run.started_at` the start of the Run, `run.file` the name of the input file (null if it has none; of several files, that of the row), `run.meta.<name>` a value above or below the table.',
  '- Texts are in quotes: `"paid"` or `\'paid\'`. In YAML, put the whole expression into the other quotes: `where: \'status == "paid"\'`.',
  '- Columns of a file are text. `amount > 100` for a text is an error that the check reports: parse the column first, or write ' +
    '`decimal(amount) > 100`.',
  '- Numbers: `5` is an integer, `5.0` a double, `5.0d` an exact decimal. In operations with a decimal, integers and literals are converted to ' +
    'decimals. Integer division truncates (`7 / 2` is 3). A quotient of decimals is rounded half to even, to 10 decimal places or to as many as an operand has, whichever is more.',
  '- Operators: `+ - * / %`, `== != < <= > >=`, `&& || !`, `a ? b : c`, `x in ["a", "b"]`; `+` also joins texts (`"no. " + string(n)`).',
  '- Arithmetic, functions and `< > <= >=` with null give null. `==` and `!=` compare with null, as in `a == null`. `&&` and `||` use three-valued logic. A ' +
    'condition that is null counts as not true.',
  '- An error in a row (`int("x")`, division by zero) is a row error: use `on_error`, or `if_error(...)`.',
  '- An expression has at most 4,096 bytes, 1,000 parts, 64 levels, and the number of steps of one evaluation is limited.',
  '',
  'Macros: `has(row.a)` is true if the column exists; `list.all(x, condition)`, `exists`, `exists_one`, `filter` and `map` iterate over a ' +
    'list; `cel.bind(x, value, expression)` names a value.',
  '',
  ...[...FUNCTIONS_BY_THEME].flatMap(([theme, functions]) => [
    `${theme}:`,
    '',
    '| Function | Meaning | Example |',
    '|---|---|---|',
    ...functions.map(({ documentation: { form, summary, example, result } }) => {
      return `| ${code(form)} | ${cell(summary)} | ${code(example)} gives ${code(result)} |`;
    }),
    '',
  ]),
  '## Patterns',
  '',
  'Dates: `yyyy` year, `yy` its last two digits, `MM` and `dd` two digits, `M` and `d` one or two digits, `MMM` and `MMMM` the name of the ' +
    'month (short and full), `E` and `EEEE` the day of the week, `HH` hour 00 to 23, `hh` hour with `a` (AM, PM, p. m., p), `mm` minute, ' +
    "`DDD` or `D` day of the year, `ss` second, `SSS` fraction (any number of digits after a decimal separator), `X` offset such as +0200 (written three times: +02:00) or Z. Put text in `'...'`; other characters match themselves. Case " +
    'matters: `MM` is the month, `mm` the minute. Languages of names: ' +
    `${[...DATE_NAMES.keys()].map((locale) => `\`${locale}\``).join(', ')}. Names are read regardless of case and accents; ` +
    'short names may have a dot, or another common form (`Sept`, `Mrz`).',
  '',
  'Texts (`pattern`, `mode: regex`, `matches`): RE2 syntax, in linear time, without look-ahead, look-behind and back references. ' +
    "In YAML, write patterns in single quotes: `'\\d+'`.",
  '',
];

// Prose of the reference: rules that do not belong to a single parameter.

/** Text between the sections and the operations. */
const RULES: readonly string[] = [
  '## How columns are found',
  '',
  "The header of each column in `input.columns` is found by the column's name and by `match`: first an exact match, then, level " +
    'by level, what `header_match` allows. A header belongs to at most one column. `{pattern}` is matched against the header as ' +
    'written, then against the header without invisible characters and repeated spaces; `{position}` counts from 1 and is tried ' +
    'last. If two headers match a column on the same level, this is an error (422 TEMPLATE_COLUMNS_MISSING, "ambiguous"), never a ' +
    'guess. Names that an operation reads and no earlier operation creates are found in the same way, without a declaration.',
  '',
  '- The columns keep the order of the file; with `other_columns: drop` they have the order of `input.columns`. Columns with ' +
    'blank headers are called column_<n>; equal headers become a, a_2, a_3.',
  '- If the file lacks a column with `required: false`, a column of nulls is added after those of the file; with ' +
    '`other_columns: drop` it is at its position in `input.columns`. If every operation that uses the column has ' +
    '`if_missing: skip`, the column does not exist at all.',
  '- `if_missing: null` creates a column of nulls for any name that the file lacks; `skip` ignores the name in this operation.',
  '- `other_columns: drop` keeps only the columns that the Template declares or uses.',
  '- After `select` and other operations that determine all columns, an unknown name is an error of the Template.',
  '- If a column of the file has the name of a column that the Template creates, this is an error. It is never overwritten.',
  '- The flag column exists if some operation has `on_error: flag`. It is the last column at every step. `select` keeps it; only ' +
    'a list in `output.columns` without its name removes it.',
  '',
  '## Negative zero',
  '',
  'Decimals and integers have no negative zero: `-0,00` is 0.00. Doubles have one; it equals 0, and every output, `cast` to text ' +
    'and `to_json` write it as `0`, so that amounts never show a meaningless sign. Only `string(x)` in an expression gives ' +
    '`-0`, as in CEL.',
  '',
  '## Fragments',
  '',
  '`fragments: {tidy: [...]}` names a list of operations; `{use: {fragment: tidy, with: {name: value}}}` puts them in ' +
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the placeholders of fragments look like this
    'its place. In a fragment, `${name}` is a value of `with`: a text that consists only of it becomes the value ' +
    // biome-ignore lint/suspicious/noTemplateCurlyInString: as above
    'itself (a list, a number), and in a longer text it is replaced by the text of the value. Every `${name}` must have a value. Fragments may ' +
    'use other fragments, but not themselves. A Template has at most 1,000 operations, including those of fragments.',
  '',
  '## Limits of a Template',
  '',
  'At most 1,048,576 characters, 200,000 values, 64 levels; in YAML no tags, one document, 100 aliases. Integers of ' +
    'more than 15 digits must be in quotes.',
  '',
];

export function templateReference(language: TemplateLanguage): string {
  const table = language.operations;
  return [
    '# Reference of Templates',
    '',
    'A Template is a JSON or YAML file. Unknown keys, operations and parameters are errors.',
    '',
    '## Sections',
    '',
    ...sections(language),
    ...RULES,
    ...EXPRESSIONS,
    '## Operations',
    '',
    'An operation is written as `{op: name, ...parameters}`, or in short as `{name: {...parameters}}`. The examples use the short form.',
    '',
    'All operations have these parameters:',
    '',
    ...parameterTable(baseParameters, []),
    'Operations on cells also have:',
    '',
    ...parameterTable(cellParameters, []),
    ...[...table.values()].flatMap(operation),
    ...structureOperations.flatMap(structure),
  ].join('\n');
}

function sections(language: TemplateLanguage): string[] {
  const { properties, required } = mappingSchema(templateSections(language));
  const rows: Record<string, JsonSchema> = {};
  for (const [name, schema] of Object.entries(properties)) flatten(name, schema, rows);
  rows['fragments'] = { type: 'object', description: 'Lists of operations by name, for `use`.' };
  rows['operations'] = { type: 'array', description: 'The operations, in the order in which they run.' };
  return parameterTable(rows, required);
}

/** Adds one row for each setting, such as `input.csv.delimiter`. */
function flatten(path: string, schema: JsonSchema, rows: Record<string, JsonSchema>): void {
  const item = schema['items'] as JsonSchema | undefined;
  const inner = (schema['properties'] ?? item?.['properties']) as Record<string, JsonSchema> | undefined;
  if (inner === undefined || schema['description'] !== undefined) rows[path] = schema;
  const mark = schema['items'] === undefined ? '' : '[]';
  for (const [name, part] of Object.entries(inner ?? {})) flatten(`${path}${mark}.${name}`, part, rows);
}

function operation(definition: OperationDefinition): string[] {
  const { properties, required, oneOf } = mappingSchema(definition.parameters);
  const groups = oneOf?.map((group) => group.required.map(code).join(' with '));
  const { memory } = definition;
  const memoryClass =
    typeof memory === 'function' ? 'depends on its parameters' : `${memory}, ${MEMORY_CLASSES[memory]}`;
  const cells = definition.cells ? ' Works on cells: has `where`.' : '';
  return [
    `### ${definition.name}`,
    '',
    `${definition.summary} Memory: ${memoryClass}.${cells}`,
    '',
    ...parameterTable(withParts(properties), required),
    ...(groups === undefined ? [] : [`Exactly one of: ${groups.join('; ')}.`, '']),
    ...definition.examples.flatMap(example),
  ];
}

/** Adds rows for the parameters of mappings in a list, such as `metrics[].fn` after `metrics`. */
function withParts(properties: Readonly<Record<string, JsonSchema>>): Record<string, JsonSchema> {
  const rows: Record<string, JsonSchema> = {};
  for (const [name, schema] of Object.entries(properties)) {
    rows[name] = schema;
    for (const [part, inner] of Object.entries(partsOf(schema) ?? {})) {
      // If the description of the list explains its parts, these have no description themselves.
      if (inner['description'] !== undefined) rows[`${name}[].${part}`] = inner;
    }
  }
  return rows;
}

/** Properties of the mappings in a list, also if the list is one of several alternatives. */
function partsOf(schema: JsonSchema): Record<string, JsonSchema> | null {
  const alternatives = (schema['anyOf'] ?? schema['oneOf']) as JsonSchema[] | undefined;
  const lists = [schema, ...(alternatives ?? [])].flatMap(({ items }) =>
    items === undefined ? [] : [items as JsonSchema],
  );
  for (const item of lists) {
    for (const form of [item, ...((item['anyOf'] as JsonSchema[] | undefined) ?? [])]) {
      if (typeof form['properties'] === 'object') return form['properties'] as Record<string, JsonSchema>;
    }
  }
  return null;
}

function structure({ name, summary, parameters }: StructureOperation): string[] {
  const { properties, required } = mappingSchema(parameters);
  return [`### ${name}`, '', summary, '', ...parameterTable(properties, required)];
}

function parameterTable(properties: Readonly<Record<string, unknown>>, required: readonly string[]): string[] {
  const rows = Object.entries(properties).map(([name, property]) => {
    const schema = property as JsonSchema;
    const isNeeded = required.includes(name) && schema['default'] === undefined;
    const fallback =
      schema['default'] === undefined ? (isNeeded ? 'required' : '') : code(JSON.stringify(schema['default']));
    return `| ${code(name)} | ${cell(typeText(schema))} | ${cell(fallback)} | ${cell(String(schema['description'] ?? ''))} |`;
  });
  if (rows.length === 0) return [];
  return ['| Parameter | Type | Default | Meaning |', '|---|---|---|---|', ...rows, ''];
}

const TYPE_TEXTS: Readonly<Record<string, string>> = {
  string: 'text',
  integer: 'whole number',
  number: 'number',
  boolean: 'true or false',
  array: 'list',
  object: 'mapping',
  null: 'null',
};

function typeText(schema: JsonSchema): string {
  if (Array.isArray(schema['enum'])) return [...new Set(schema['enum'].map((value) => code(String(value))))].join(', ');
  if ('const' in schema) return code(String(schema['const']));
  if (typeof schema['title'] === 'string') return schema['title'].split(':')[0]!;
  const alternatives = (schema['anyOf'] ?? schema['oneOf']) as JsonSchema[] | undefined;
  if (alternatives !== undefined && schema['type'] === undefined) {
    return [...new Set(alternatives.map(typeText))].join(' or ');
  }
  const items = schema['items'];
  if (schema['type'] === 'array' && typeof items === 'object' && !Array.isArray(items)) {
    return `list of ${typeText(items as JsonSchema)}`;
  }
  const properties = schema['properties'] as object | undefined;
  if (properties !== undefined) return code(`{${Object.keys(properties).join(', ')}}`);
  return TYPE_TEXTS[String(schema['type'])] ?? 'any';
}

function example({ title, operation: written, input, output }: OperationExample): string[] {
  const grid = ({ columns, types, rows }: OperationExample['input']): string[] => [
    `| ${columns.map((name, index) => cell(types === undefined ? name : `${name} (${types[index]})`)).join(' | ')} |`,
    `|${'---|'.repeat(columns.length)}`,
    ...rows.map((row) => `| ${row.map((value) => cell(value ?? '*null*')).join(' | ')} |`),
    '',
  ];
  const text = operationText(written);
  return [`Example: ${title}.`, '', '```yaml', text, '```', '', ...grid(input), 'gives', '', ...grid(output)];
}
