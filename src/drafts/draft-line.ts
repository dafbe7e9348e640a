// One line of a drafted Template: its text, the evidence for it, and whether it is active or only proposed as a
// comment.
import type { ColumnMatching, TargetColumn } from './like/match-columns.ts';
import type { SampleProfile } from './sample-profile.ts';

/** Section of the Template that a line belongs to, in the order of sections in a Template. */
export type DraftPlace = 'csv' | 'input' | 'column' | 'operation';

export interface DraftLine {
  readonly place: DraftPlace;
  /**
   * In sections that are mappings, an entry such as `encoding: utf-8`. For columns and operations, a list item in YAML
   * flow style.
   */
  readonly text: string;
  /** One line for people, with counts but never a cell value. */
  readonly evidence: string;
  /** False: written as a comment, because the line could lose or change data, or is uncertain. */
  readonly isActive: boolean;
  /**
   * For an operation on cells: its columns, each with separate evidence. The proof run removes columns that cause
   * errors.
   */
  readonly columns?: readonly DraftedColumn[];
  /** The parameters that follow the columns. */
  readonly parameters?: string;
  /** For an operation that removes rows: the number of rows counted in the sample. */
  readonly rowsDropped?: number;
  /**
   * Set on the lines for a total row. `end`: the line ends the table at that row. `total`: one of the lines that
   * together check the amounts of that row.
   */
  readonly footer?: 'end' | 'total';
}

export interface DraftedColumn {
  readonly name: string;
  readonly evidence: string;
}

/** Line for an operation on cells. Columns with the same operation and parameters share one line. */
export function cellLine(
  operation: string,
  columns: readonly DraftedColumn[],
  parameters: string,
  isActive: boolean,
): DraftLine {
  const set = `columns: ${columnSet(columns.map(({ name }) => name))}`;
  const [only] = columns;
  return {
    place: 'operation',
    text: `{${operation}: {${set}${parameters === '' ? '' : `, ${parameters}`}}}`,
    evidence: columns.length === 1 ? only!.evidence : sharedEvidence(columns),
    isActive,
    columns,
    parameters,
  };
}

/** Columns with the same evidence are named together. */
function sharedEvidence(columns: readonly DraftedColumn[]): string {
  const groups = new Map<string, string[]>();
  for (const { name, evidence } of columns) groups.set(evidence, [...(groups.get(evidence) ?? []), scalar(name)]);
  const [first] = groups.keys();
  if (groups.size === 1) return `each: ${first}`;
  return [...groups].map(([evidence, names]) => `${names.join(', ')}: ${evidence}`).join('; ');
}

/** A sample's profile and the column names that the draft uses. */
export interface DraftedSample {
  readonly profile: SampleProfile;
  /** By position. */
  readonly names: readonly string[];
  /** Matches between columns of the sample and the wanted columns; null: no target was given. */
  readonly like: TargetMatching | null;
}

export interface TargetMatching {
  readonly targets: readonly TargetColumn[];
  readonly matchings: readonly ColumnMatching[];
}

export type DraftRule = (sample: DraftedSample) => readonly DraftLine[];

/** A text as a scalar of YAML flow style, unquoted only if every YAML reader reads it as a string. */
export function scalar(text: string): string {
  const isPlain =
    /^[\p{L}_][\p{L}\p{N}_]*(?: [\p{L}\p{N}_]+)*$/u.test(text) &&
    !/^(?:true|false|null|yes|no|on|off|y|n)$/i.test(text);
  return isPlain ? text : quoted(text);
}

/** In double quotes and on one line, in a form that both YAML and expressions read. */
export function quoted(text: string): string {
  return JSON.stringify(text)
    .replaceAll('\u2028', '\\u2028')
    .replaceAll('\u2029', '\\u2029')
    .replaceAll('\u0085', '\\u0085')
    .replaceAll('\u007f', '\\u007f');
}

/** A single column as a scalar, several as a list. */
export function columnSet(names: readonly string[]): string {
  return names.length === 1 ? scalar(names[0]!) : list(names);
}

export function list(texts: readonly string[]): string {
  return `[${texts.map(scalar).join(', ')}]`;
}

/** A count with its unit: `1 row`, `1,234 rows`. */
export function counted(count: number, unit: string, units = `${unit}s`): string {
  return `${grouped(count)} ${count === 1 ? unit : units}`;
}

export function grouped(count: number): string {
  return String(count).replace(/\B(?=(?:\d{3})+$)/g, ',');
}
