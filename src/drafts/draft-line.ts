// One line of a drafted Template: what it says, what speaks for it, and whether it stands there or is only offered.
import type { ColumnMatching } from './like/match-columns.ts';
import type { TargetColumn } from './like/target-column.ts';
import type { SampleProfile } from './sample-profile.ts';

/** Where a line stands, in the order of a Template. */
export type DraftPlace = 'csv' | 'input' | 'column' | 'operation';

export interface DraftLine {
  readonly place: DraftPlace;
  /** A mapping's entry (`encoding: utf-8`); of columns and operations an item in YAML's flow form. */
  readonly text: string;
  /** One line for a person: counts, never a cell. */
  readonly evidence: string;
  /** False: it is written as a comment, as it could lose or change something, or is not sure. */
  readonly isActive: boolean;
  /** Of an operation on cells: its columns, each with its own evidence. The prover takes out those that make errors. */
  readonly columns?: readonly DraftedColumn[];
  /** The parameters behind its columns. */
  readonly parameters?: string;
  /** Of an operation that takes rows out: how many, as they were counted. */
  readonly rowsDropped?: number;
  /** Of a sum at the foot: where the table ends, or a part of the check of its amounts, whose lines hold together only. */
  readonly footer?: 'end' | 'total';
}

export interface DraftedColumn {
  readonly name: string;
  readonly evidence: string;
}

/** An operation on cells: the same text for all who make one of these columns. */
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
    evidence:
      columns.length === 1
        ? only!.evidence
        : columns.map(({ name, evidence }) => `${scalar(name)}: ${evidence}`).join('; '),
    isActive,
    columns,
    parameters,
  };
}

/** What is known of a sample, and what its columns are called in the draft. */
export interface DraftedSample {
  readonly profile: SampleProfile;
  /** By position. */
  readonly names: readonly string[];
  /** What it should be like; null: nothing was said. */
  readonly like: SampleLikeness | null;
}

export interface SampleLikeness {
  readonly targets: readonly TargetColumn[];
  readonly matchings: readonly ColumnMatching[];
}

export type DraftRule = (sample: DraftedSample) => readonly DraftLine[];

/** A text as a scalar of YAML's flow form: plain where no reader could take it for anything else. */
export function scalar(text: string): string {
  const isPlain =
    /^[\p{L}_][\p{L}\p{N}_]*(?: [\p{L}\p{N}_]+)*$/u.test(text) &&
    !/^(?:true|false|null|yes|no|on|off|y|n)$/i.test(text);
  return isPlain ? text : quoted(text);
}

/** In double quotes and on one line, as YAML and expressions read it. */
export function quoted(text: string): string {
  return JSON.stringify(text)
    .replaceAll('\u2028', '\\u2028')
    .replaceAll('\u2029', '\\u2029')
    .replaceAll('\u0085', '\\u0085')
    .replaceAll('\u007f', '\\u007f');
}

/** One column by itself, several as a list. */
export function columnSet(names: readonly string[]): string {
  return names.length === 1 ? scalar(names[0]!) : list(names);
}

export function list(texts: readonly string[]): string {
  return `[${texts.map(scalar).join(', ')}]`;
}

/** `1 row`, `1,234 rows`. */
export function counted(count: number, unit: string, units = `${unit}s`): string {
  return `${grouped(count)} ${count === 1 ? unit : units}`;
}

export function grouped(count: number): string {
  return String(count).replace(/\B(?=(?:\d{3})+$)/g, ',');
}
