// Writes the lines of a draft as a Template in YAML: what is active stands there, what is offered as a comment, each with its evidence.
import { type DraftLine, type DraftPlace, scalar } from './draft-line.ts';

/** Where editors find the schema: relative to the Template, or an address. */
export const SCHEMA_ADDRESS = './node_modules/template-run/dist/schema.json';

export interface DraftHead {
  readonly name: string;
  /** About the sample as a whole. */
  readonly remark: string;
}

export function writeDraft({ name, remark }: DraftHead, lines: readonly DraftLine[]): string {
  const at = (place: DraftPlace): DraftLine[] => lines.filter((line) => line.place === place);
  const [input, columns, operations] = [at('input'), at('column'), at('operation')];
  const body = [...csvSection(at('csv')), ...input.map((line) => entry('  ', line)), ...columnSection(columns)];
  const hasInput = [...at('csv'), ...input, ...columns].some(({ isActive }) => isActive);
  const hasOperations = operations.some(({ isActive }) => isActive);
  return `${[
    `# yaml-language-server: $schema=${SCHEMA_ADDRESS}`,
    `# ${remark}`,
    '# What stands here loses nothing of it. Lines behind a # are offered: take the # away where they are right.',
    'format: 1',
    `name: ${scalar(name)}`,
    ...(body.length === 0 ? [] : [hasInput ? 'input:' : '# input:', ...body]),
    ...(operations.length === 0 ? ['operations: []'] : [hasOperations ? 'operations:' : '# operations:']),
    ...operations.map((line) => item('  ', line)),
    'output: {format: csv}',
  ].join('\n')}\n`;
}

function csvSection(lines: readonly DraftLine[]): string[] {
  if (lines.length === 0) return [];
  return [lines.some(({ isActive }) => isActive) ? '  csv:' : '  # csv:', ...lines.map((line) => entry('    ', line))];
}

function columnSection(lines: readonly DraftLine[]): string[] {
  return lines.length === 0 ? [] : ['  columns:', ...lines.map((line) => item('    ', line))];
}

function item(indent: string, { text, ...line }: DraftLine): string {
  return entry(indent, { ...line, text: `- ${text}` });
}

function entry(indent: string, { text, evidence, isActive }: DraftLine): string {
  return `${indent}${isActive ? '' : '# '}${text}  # ${evidence}`;
}
