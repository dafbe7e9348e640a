// The Template of `run -e`: operations written on the command line. Also gives a Template another output format (--to).
import { createHash } from 'node:crypto';
import { outputFormats } from '../../workers/output/index.ts';
import { outputFile } from '../../workers/output/planned-output.ts';
import { templateLanguage } from '../../workers/plan/plan.ts';
import { checkTemplate } from '../../workers/plan/template-cache.ts';
import { isMapping } from '../../workers/template/source-node.ts';
import { parseTemplate, type TemplateText } from '../../workers/template/template-text.ts';
import { UsageError } from './command.ts';
import type { LocalTemplate } from './template-file.ts';

/** Formats of --to that are made from a CSV output: text with aligned columns, and a table in Markdown. */
export const TEXT_TABLES: readonly string[] = ['table', 'markdown'];

export const TO_FORMATS: readonly string[] = [...outputFormats.keys(), ...TEXT_TABLES];

/** Separates the fields of the CSV that is printed as a table. Cells rarely contain it, so few are quoted. */
export const TABLE_DELIMITER = '\u001f';

/** Settings of a CSV that determine how values are written. The others describe the file, which a table does not have. */
const VALUE_SETTINGS: readonly string[] = ['decimal', 'date_format', 'boolean', 'null'];

export interface CommandLineInput {
  /** Names of the reference tables in the folder of --tables. */
  readonly tables: readonly string[];
  readonly hasHeader: boolean;
}

/**
 * @param expressions operations in the notation of a Template, such as `sort: amount`
 * @param to format of the output
 * @throws UsageError that names the operation
 */
export function operationsTemplate(
  expressions: readonly string[],
  to: string,
  { tables, hasHeader }: CommandLineInput,
): LocalTemplate {
  const operations = expressions.map(operationOf);
  // The encoding is detected, because no Template could declare it. The summary names the encoding.
  const input = { csv: { encoding: 'auto', ...(hasHeader ? {} : { header_row: 'none' }) } };
  const used = tables.filter((name) => expressions.some((expression) => expression.includes(name)));
  const declared = Object.fromEntries(used.map((name) => [name, { ref: name }]));
  const template = { format: 1, name: 'Command line', input, tables: declared, operations, output: outputOf({}, to) };
  return checked(template, (pointer) => {
    const [, place = '', ...rest] = pointer.split('/').slice(1);
    return `-e ${JSON.stringify(expressions[Number(place)] ?? '')}${rest.length === 0 ? '' : ` at /${rest.join('/')}`}`;
  });
}

/** The Template with another output format. Its tests are left out, because they expect the Template's own format. */
export function withFormat({ source, format }: TemplateText, to: string): LocalTemplate {
  const parsed = parseTemplate(source, format);
  if ('problems' in parsed) throw new Error('a valid Template cannot be parsed');
  const { output, tests: _, ...others } = parsed.text.root.value as Readonly<Record<string, unknown>>;
  return checked(
    { ...others, output: outputOf(isMapping(output) ? output : {}, to) },
    (pointer) => `--to at ${pointer}`,
  );
}

function operationOf(expression: string): unknown {
  const parsed = parseTemplate(expression, 'yaml');
  const form =
    "Write an operation as in a Template, such as -e 'sort: amount' or -e 'filter: {where: country == \"DE\"}'.";
  if ('problems' in parsed) {
    throw new UsageError(`-e ${JSON.stringify(expression)}: ${parsed.problems[0]!.message} ${form}`);
  }
  const { value } = parsed.text.root;
  if (typeof value === 'string' && /^\w+$/.test(value)) return { [value]: {} };
  if (!isMapping(value)) throw new UsageError(`-e ${JSON.stringify(expression)} is not an operation. ${form}`);
  // In the long form, `{op: sort, by: amount}`, the other keys are parameters.
  if ('op' in value) return value;
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, parametersOf(name, inner)]));
}

/** Main parameters of operations that have no single required parameter: `slice: 10` is `slice: {limit: 10}`. */
const MAIN_PARAMETERS: Readonly<Record<string, string>> = {
  dedupe: 'by',
  reorder: 'first',
  sample: 'n',
  slice: 'limit',
  unpivot: 'columns',
};

/** Operations whose main parameter `columns` is a mapping: `rename: {a: b}` is `rename: {columns: {a: b}}`. */
const COLUMN_MAPPINGS: readonly string[] = ['cast', 'rename', 'set'];

/**
 * Completes short forms. A value that is not a mapping is the main parameter or the only required one: `sort: amount` is
 * `sort: {by: amount}`.
 */
function parametersOf(name: string, inner: unknown): unknown {
  const { required = [], properties = {} } = (templateLanguage.operations.get(name)?.parameters ?? {}) as {
    readonly required?: readonly string[];
    readonly properties?: Readonly<Record<string, unknown>>;
  };
  if (isMapping(inner)) {
    const isParameter = (key: string): boolean => Object.hasOwn(properties, key) || COMMON_PARAMETERS.includes(key);
    return COLUMN_MAPPINGS.includes(name) && !Object.keys(inner).some(isParameter) ? { columns: inner } : inner;
  }
  if (inner === null) return inner;
  const main = MAIN_PARAMETERS[name] ?? (required.length === 1 ? required[0]! : null);
  return main === null ? inner : { [main]: inner };
}

/** Parameters of every operation. In the short form, these words are not read as names of columns. */
const COMMON_PARAMETERS: readonly string[] = ['id', 'note', 'enabled', 'if_missing', 'on_error', 'where'];

function outputOf(output: Readonly<Record<string, unknown>>, to: string): object {
  const { json, csv, ...all } = output;
  // Text for a terminal or a document is not split into files.
  const { split_by, file_name, ...others } = all;
  if (!TEXT_TABLES.includes(to)) {
    // The layout belongs to the Template's own format.
    const { layout: _, ...settings } = isMapping(json) ? json : {};
    return {
      ...all,
      format: to,
      ...(csv === undefined ? {} : { csv }),
      ...(json === undefined ? {} : { json: settings }),
    };
  }
  const values = Object.entries(isMapping(csv) ? csv : {}).filter(([name]) => VALUE_SETTINGS.includes(name));
  return {
    ...others,
    format: 'csv',
    formula_guard: 'off',
    csv: { ...Object.fromEntries(values), delimiter: TABLE_DELIMITER },
  };
}

/** Replaces the advice to declare the table in the Template, because here --tables names the tables. */
function tableHint(message: string): string {
  return message.replace(
    /^The Template declares no table (.*?)\. Write tables: .*$/,
    'There is no table $1. With --tables DIR, each DIR/NAME.csv is the table NAME.',
  );
}

function checked(template: object, placeOf: (pointer: string) => string): LocalTemplate {
  const source = JSON.stringify(template);
  const result = checkTemplate(source, 'json');
  if ('problems' in result) {
    const lines = result.problems.map(
      ({ pointer, code, message }) =>
        `${placeOf(pointer)}: ${code}: ${code === 'UNKNOWN_TABLE' ? tableHint(message) : message}`,
    );
    throw new UsageError(lines.join('\n'));
  }
  const { extension, otherExtensions = [] } = outputFile(outputFormats, result.template.output);
  const sha256 = createHash('sha256').update(source).digest('hex');
  return { template: { source, format: 'json', sha256 }, ending: extension, otherEndings: otherExtensions };
}
