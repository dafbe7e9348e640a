// One row of the grid: its row number, which toggles the mark of the row, and its visible cells.
import type { JSX } from 'preact';
import type { WatchedColumn, WatchedRow } from '../../../workers/watch/watch-messages.ts';
import { HEAD_HEIGHT, NUMBER_WIDTH, ROW_HEIGHT } from './grid-window.ts';

/** Attributes that position a cell and make it focusable. */
export type PlaceOf = (row: number, column: number) => JSX.IntrinsicElements['div'];

interface RowProps {
  /** Index among the rows that are shown. */
  readonly place: number;
  /** Null: still being fetched. */
  readonly row: WatchedRow | null;
  readonly columns: readonly WatchedColumn[];
  /** Index of the first visible column. */
  readonly firstColumn: number;
  readonly isMarked: boolean;
  readonly placeOf: PlaceOf;
  readonly onMark: () => void;
  readonly onOpen: (column: number) => void;
  /** The column is null for the row number. */
  readonly onMenu: (column: number | null, event: MouseEvent) => void;
}

export function GridRow({
  place,
  row,
  columns,
  firstColumn,
  isMarked,
  placeOf,
  onMark,
  onOpen,
  onMenu,
}: RowProps): JSX.Element {
  return (
    <div
      class={`row${isMarked ? ' marked' : ''}`}
      role="row"
      aria-rowindex={place + 2}
      aria-selected={isMarked}
      style={{ top: `${HEAD_HEIGHT + place * ROW_HEIGHT}px`, height: `${ROW_HEIGHT}px` }}
    >
      <div
        class="cell number"
        role="rowheader"
        aria-colindex={1}
        style={{ width: `${NUMBER_WIDTH}px` }}
        title="Mark for a test (Space)"
        onClick={onMark}
        onContextMenu={(event) => onMenu(null, event)}
      >
        {isMarked ? '✓ ' : ''}
        {row === null ? '…' : (row.fileRow ?? 'added')}
      </div>
      {columns.map((column, offset) => (
        <Cell
          key={column.id}
          row={row}
          column={column}
          index={firstColumn + offset}
          place={placeOf(place, firstColumn + offset)}
          onOpen={() => onOpen(firstColumn + offset)}
          onMenu={(event) => onMenu(firstColumn + offset, event)}
        />
      ))}
    </div>
  );
}

interface CellProps {
  readonly row: WatchedRow | null;
  readonly column: WatchedColumn;
  readonly index: number;
  readonly place: JSX.IntrinsicElements['div'];
  readonly onOpen: () => void;
  readonly onMenu: (event: MouseEvent) => void;
}

function Cell({ row, column, index, place, onOpen, onMenu }: CellProps): JSX.Element {
  const text = row?.cells[index];
  const change = row?.changed.find(({ column: changed }) => changed === index);
  const rowError = row?.errors.find(({ column: name }) => name === column.name);
  const title = [
    ...(change === undefined ? [] : [`before: ${change.text === null ? '(null)' : change.text}`]),
    ...(rowError === undefined ? [] : [rowError.code]),
  ].join('\n');
  const mark = change === undefined ? '' : ' changed';
  return (
    <div
      class={`cell ${column.type}${mark}${rowError === undefined ? '' : ' error'}`}
      role="gridcell"
      {...place}
      {...(title === '' ? {} : { title })}
      onClick={onOpen}
      onContextMenu={onMenu}
    >
      {rowError !== undefined && <span aria-hidden="true">⚠ </span>}
      {row === null ? '…' : text === null || text === undefined ? <span class="null">null</span> : oneLine(text)}
      {change !== undefined && <span class="hidden">, changed</span>}
    </div>
  );
}

/** Replaces line breaks, because a row has the height of one line. */
function oneLine(text: string): string {
  return text.replaceAll(/\r\n|\r|\n/g, '↵');
}
