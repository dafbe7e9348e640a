// One cell of each native kind, and the expected results of an operation.
import {
  KIND_BOOLEAN,
  KIND_DATE,
  KIND_DATETIME,
  KIND_JSON,
  KIND_NUMBER,
  KIND_TEXT,
  KIND_TIME,
} from '../../workers/kernel/layout/cells.ts';
import type { TypedCell } from '../fixtures/typed-table.ts';

/** One cell of each kind. */
export const CELLS: readonly TypedCell[] = [
  [KIND_TEXT, '1.234,50'],
  [KIND_NUMBER, '1.234'],
  [KIND_BOOLEAN, 'true'],
  [KIND_DATE, '2026-01-31'],
  [KIND_DATETIME, '2026-01-31T13:05:00.5'],
  [KIND_TIME, '13:05:00'],
  [KIND_JSON, '[1,"b"]'],
];
/** Every cell becomes a text: its canonical text. */
export const CANONICAL = CELLS.map((cell) => `text:${cell![1]}`);

export type Known = string | null;

/** Every cell is unchanged. */
export const KEPT: readonly Known[] = [
  'text:1.234,50',
  'number:1.234',
  'boolean:true',
  'date:2026-01-31',
  'datetime:2026-01-31T13:05:00.5',
  'time:13:05:00',
  'json:[1,"b"]',
];

export interface NativeKindCase {
  readonly steps: readonly Readonly<Record<string, unknown>>[];
  /** The column under test. */
  readonly column?: string;
  /** Expected cells by kind, in the order of CELLS. Missing entries are removed rows. */
  readonly gives: readonly Known[];
  readonly tables?: Readonly<Record<string, string>>;
}

/** An operation and the expected cells of a column. */
export const expected = (
  op: string,
  parameters: Readonly<Record<string, unknown>>,
  gives: readonly Known[],
  column = 'v',
): NativeKindCase => ({
  steps: [{ op, ...parameters }],
  gives,
  column,
});
/** The cell is null for every kind. */
export const NULLS: Known[] = CELLS.map(() => null);
/** Cells that cannot be parsed become blank. */
export const BLANK = { on_error: 'blank' };
