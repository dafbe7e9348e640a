// Makes a test of a Template out of rows of the sample: their cells scrambled in the same shape, and what the Template makes of
// them now as what is expected. The test is put into the Template's text, whose other lines stay as they are.

import { checkTemplate } from '../../workers/plan/check-template.ts';
import { parseTemplate, type TemplateFormat } from '../../workers/template/template-text.ts';
import type { SourceRows } from '../../workers/watch/watch-messages.ts';
import { type RunTest, rowsOf, type TestInput } from '../template-tests/run-tests.ts';
import { Scrambler } from './scramble.ts';
import type { MadeTest } from './studio-answers.ts';

/** The rows or the Template do not make a test; the message says why. */
export class NoTestError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'NoTestError';
  }
}

export interface TemplateToTest {
  readonly path: string;
  readonly source: string;
  readonly format: TemplateFormat;
}

interface NewTest {
  readonly name: string;
  readonly input: { readonly text: string; readonly delimiter: string; readonly header_row: number };
  readonly expect: Readonly<Record<string, unknown>>;
}

export async function withGoldenTest(
  { source, format }: TemplateToTest,
  { headers, rows }: SourceRows,
  run: RunTest,
): Promise<MadeTest> {
  const checked = checkTemplate(source, format);
  const parsed = parseTemplate(source, format);
  if ('problems' in checked || 'problems' in parsed)
    throw new NoTestError('The Template has problems. Mend them first.');
  const scrambler = new Scrambler(textsOf(parsed.text.root.value));
  const cells = rows.map((row) => row.map((cell) => (cell === null ? '' : scrambler.scramble(cell))));
  const text = csvText([headers, ...cells]);
  const parts: TestInput = { input: Buffer.from(text), ending: 'csv', delimiter: ',', headerRow: 0, tables: {} };
  const { failure } = await run({ source, format, ...parts });
  const expect = failure === null ? { rows: await rowsOf({ source, format }, parts, run) } : { error: failure.code };
  const name = testName(checked.template.tests.length, rows.length);
  const test: NewTest = { name, input: { text, delimiter: ',', header_row: 0 }, expect };
  const made = format === 'json' ? inJson(source, test) : inYaml(source, test);
  if ('problems' in checkTemplate(made, format)) {
    throw new NoTestError(
      'The tests of this Template are written in a way that nothing can be added to. Write them as a list of lines.',
    );
  }
  return { source: made, name };
}

function testName(tests: number, rows: number): string {
  return `rows of a sample, scrambled (${tests + 1}, ${rows === 1 ? '1 row' : `${rows} rows`})`;
}

/** All texts of the Template, and what stands in quotes inside of them, as in expressions. */
function textsOf(value: unknown, found = new Set<string>()): ReadonlySet<string> {
  if (typeof value === 'string') {
    found.add(value);
    for (const [, text] of value.matchAll(/["']([^"']+)["']/g)) found.add(text!);
  } else if (typeof value === 'object' && value !== null) {
    for (const part of Object.values(value)) textsOf(part, found);
  }
  return found;
}

function csvText(rows: readonly (readonly string[])[]): string {
  const cell = (text: string): string => (/[",\r\n]|^\s|\s$/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
  return rows.map((row) => `${row.map(cell).join(',')}\n`).join('');
}

function inJson(source: string, test: NewTest): string {
  const template = JSON.parse(source) as { tests?: unknown[] };
  return `${JSON.stringify({ ...template, tests: [...(template.tests ?? []), test] }, null, 2)}\n`;
}

/** At the end of the list of tests, or as a new one at the end of the text. JSON is YAML, too: so no text needs care. */
function inYaml(source: string, test: NewTest): string {
  const end = source.endsWith('\n') || source === '' ? '' : '\n';
  const lines = (source + end).split('\n');
  const head = lines.findIndex((line) => /^tests:\s*(?:#.*)?$/.test(line));
  if (head < 0) return `${source}${end}tests:\n${yamlTest(test, '  ').join('\n')}\n`;
  const next = lines.findIndex((line, index) => index > head && /^[^\s#-]/.test(line));
  let last = (next < 0 ? lines.length : next) - 1;
  while (last > head && /^\s*(?:#.*)?$/.test(lines[last]!)) last--;
  const indent = /^(\s*)- /.exec(lines.slice(head + 1).find((line) => /^\s*- /.test(line)) ?? '  - ')![1]!;
  return [...lines.slice(0, last + 1), ...yamlTest(test, indent), ...lines.slice(last + 1)].join('\n');
}

function yamlTest({ name, input, expect }: NewTest, indent: string): string[] {
  const rows = expect['rows'] as readonly unknown[] | undefined;
  return [
    `${indent}- name: ${JSON.stringify(name)}`,
    `${indent}  input:`,
    ...textLines(input.text, `${indent}    `),
    `${indent}    delimiter: ${JSON.stringify(input.delimiter)}`,
    `${indent}    header_row: ${input.header_row}`,
    `${indent}  expect:`,
    ...(rows === undefined
      ? [`${indent}    error: ${expect['error']}`]
      : rows.length === 0
        ? [`${indent}    rows: []`]
        : [`${indent}    rows:`, ...rows.map((row) => `${indent}      - ${JSON.stringify(row)}`)]),
  ];
}

/** As it stands where that is plain, else with escapes. */
function textLines(text: string, indent: string): string[] {
  const lines = text.replace(/\n$/, '').split('\n');
  const isPlain = lines.every((line) => /^[^\s\p{C}][^\p{C}]*$/u.test(line));
  if (!isPlain) return [`${indent}text: ${JSON.stringify(text)}`];
  return [`${indent}text: |`, ...lines.map((line) => `${indent}  ${line}`)];
}
