// Parts of the page's state: what is open, chosen or shown.
import type { TracedCell, ValueRange, WatchedStep } from '../../../workers/watch/watch-messages.ts';
import type { SimilarityMethod } from '../studio-answers.ts';
import type { MenuGroup } from './menu-entries.ts';

export interface Traced {
  /** Null for a row that an operation added. */
  readonly fileRow: number | null;
  readonly column: string;
  readonly steps: readonly TracedCell[];
}

/** The part of the forms that entries of a menu use. */
interface HeaderForm {
  /** Opens the form of the input with another header, whose last line is the given record. */
  useHeader(record: number, headers: readonly (string | null)[], lines: number): Promise<void>;
}

export interface MenuAction {
  readonly label: string;
  readonly run: (form: HeaderForm) => void;
}

export interface OpenMenu {
  /** Name of the column, and the cell's text if the menu is about a cell. */
  readonly title: string;
  readonly groups: readonly MenuGroup[];
  /** Entries that do something other than adding a step. */
  readonly actions: readonly MenuAction[];
  /** Place on the screen, in pixels. */
  readonly left: number;
  readonly top: number;
  /** Element that gets the focus again. */
  readonly opener: HTMLElement | null;
}

/** A value or a range of a column, of which only the rows are shown. */
export interface Facet {
  readonly column: string;
  readonly type: string;
  /** The value; null: blank cells, or a range. */
  readonly text: string | null;
  readonly range: ValueRange | null;
}

/** How the similar values in the open profile are found. */
export type Reviewed = SimilarityMethod;

export interface OtherText {
  readonly source: string;
  readonly sha256: string;
}

/** Index of a step in the list of operations; null: the step is the input or belongs to a fragment. */
export function itemOf(step: WatchedStep | undefined): number | null {
  const found = /^\/operations\/(\d+)(?:\/|$)/.exec(step?.pointer ?? '');
  return found === null ? null : Number(found[1]);
}
