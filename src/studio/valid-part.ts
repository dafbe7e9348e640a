// The part of a Template above its first mistake. The studio runs it, so that a mistake hides only the steps after it.
import { checkTemplate } from '../../workers/plan/template-cache.ts';
import type { Problem } from '../../workers/template/template.ts';
import { type ParsedTemplate, parseTemplate, type TemplateFormat } from '../../workers/template/template-text.ts';

export interface ValidPart {
  /** A valid Template in JSON. */
  readonly source: string;
  /** Number of its steps. */
  readonly steps: number;
  /** Index of the first operation that is left out; null: all operations are valid, and the mistake is elsewhere. */
  readonly mistakeItem: number | null;
  /** Line of a part in the original text, from 1. */
  readonly lineOf: (pointer: string) => number;
}

/** Each attempt leaves out one more operation or section. A Template has fewer sections than this. */
const ATTEMPTS_MAX = 20;

/** Lines above a syntax error at which a readable text may end. The list item with the error begins at one of them. */
const LINES_TRIED_MAX = 60;

/** Sections that the rows of a step do not depend on. */
const UNUSED = ['output', 'tests', 'name', 'description'];

/** Null: the mistake is in a section that all steps depend on, such as `input`. */
export function validPart(source: string, format: TemplateFormat, problems: readonly Problem[]): ValidPart | null {
  const parsed = parseTemplate(source, format);
  const isReadable = 'text' in parsed;
  const text = isReadable ? parsed.text : format === 'json' ? null : textAbove(source, problems[0]?.line ?? 1);
  if (text === null || !isRecord(text.root.value)) return null;
  const root = Object.fromEntries(Object.entries(text.root.value).filter(([name]) => !UNUSED.includes(name)));
  // A text that is cut at a syntax error ends where the item with the error begins.
  const cut = isReadable ? null : operationsOf(root).length;
  const made = withoutMistakes(root, isReadable ? problems : [], cut);
  if (made === null) return null;
  return { ...made, lineOf: (pointer) => text.problem(pointer, '', '').line };
}

/** Problems that may be those of a column that the sample does not have: a check without a file takes it as a text. */
const TYPE_CODES: readonly string[] = ['EXPR_TYPE', 'WRONG_TYPE'];

/**
 * The problems, with those about the type of a column that is missing in the sample as problems about the missing
 * column.
 *
 * @param names of the columns after the input
 */
export function withMissingColumns(
  source: string,
  format: TemplateFormat,
  problems: readonly Problem[],
  names: readonly string[],
): readonly Problem[] {
  if (!problems.some(({ code }) => TYPE_CODES.includes(code))) return problems;
  const parsed = parseTemplate(source, format);
  if (!('text' in parsed) || !isRecord(parsed.text.root.value)) return problems;
  const root = parsed.text.root.value;
  // After this step no other columns are possible, so that the check reports a missing one.
  const select = { select: { columns: names } };
  const known = JSON.stringify({ ...root, operations: [select, ...operationsOf(root)] });
  const checked = checkTemplate(known, 'json');
  const missing = 'problems' in checked ? checked.problems.filter(({ code }) => code === 'UNKNOWN_COLUMN') : [];
  return problems.map((problem) => {
    const cause = missing.find(({ pointer }) => pointer === pointerAfter(problem.pointer));
    if (cause === undefined || !TYPE_CODES.includes(problem.code)) return problem;
    return { ...problem, code: cause.code, message: cause.message };
  });
}

/** The place of an operation that has one more operation above it. */
function pointerAfter(pointer: string): string {
  return pointer.replace(/^\/operations\/(\d+)/, (_, index: string) => `/operations/${Number(index) + 1}`);
}

type Root = Readonly<Record<string, unknown>>;

function withoutMistakes(whole: Root, found: readonly Problem[], cut: number | null): Omit<ValidPart, 'lineOf'> | null {
  let root = whole;
  let mistakeItem = cut;
  let problems = found;
  for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
    for (const { pointer } of problems) {
      const [, section = '', item] = pointer.split('/');
      if (['', 'input', 'format'].includes(section)) return null;
      const index = section === 'operations' && item !== undefined ? Number(item) : null;
      if (index === null) root = Object.fromEntries(Object.entries(root).filter(([name]) => name !== section));
      else if (mistakeItem === null || index < mistakeItem) mistakeItem = index;
    }
    if (mistakeItem !== null) root = { ...root, operations: operationsOf(root).slice(0, mistakeItem) };
    const source = JSON.stringify(root);
    const checked = checkTemplate(source, 'json');
    if (!('problems' in checked)) return { source, mistakeItem, steps: checked.template.operations.length };
    problems = checked.problems;
  }
  return null;
}

/** The longest readable text above a line that ends before an item of the list of operations, or before a section. */
function textAbove(source: string, line: number): ParsedTemplate | null {
  const lines = source.split('\n');
  const head = lines.findIndex((each) => /^operations:/.test(each));
  const indent = /^(\s*)- /.exec(lines.slice(head + 1).find((each) => /^\s*- /.test(each)) ?? '')?.[1] ?? '';
  let tried = 0;
  for (let end = Math.min(line, lines.length); end > head && head >= 0 && tried < LINES_TRIED_MAX; end--) {
    const next = lines[end] ?? '';
    // An item may be indented wrongly, but not so far that it would belong to a list inside of an operation.
    const dash = next.search(/- /);
    const isItem = /^\s*- /.test(next) && (dash === indent.length || (end === line - 1 && dash < indent.length + 2));
    // The line with the mistake may be an item that lacks its "- ".
    const isMistake = end === line - 1 && next.search(/\S/) === indent.length;
    const isBorder = /^\S/.test(next) || isItem || isMistake || end === lines.length;
    if (!isBorder) continue;
    tried++;
    const parsed = parseTemplate(lines.slice(0, end).join('\n'), 'yaml');
    if ('text' in parsed) return parsed.text;
  }
  return null;
}

function operationsOf({ operations }: Root): readonly unknown[] {
  return Array.isArray(operations) ? operations : [];
}

function isRecord(value: unknown): value is Root {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
