// One row of the grid: its number, which marks it, and those of its cells that can be seen.
import type { JSX } from 'preact';
import type { WatchedColumn, WatchedRow } from '../../../workers/watch/watch-messages.ts';
import { HEAD_HEIGHT, NUMBER_WIDTH, ROW_HEIGHT } from './grid-window.ts';

/** Attributes that put a cell in its place and let it have the focus. */
export type PlaceOf = (row: number, column: number) => JSX.IntrinsicElements['div'];

interface RowProps {
  /** Among the rows that are shown, from 0. */
  readonly place: number;
  /** Null: it is on its way. */
  readonly row: WatchedRow | null;
  readonly columns: readonly WatchedColumn[];
  /** Index of the first of them. */
  readonly firstColumn: number;
  readonly isMarked: boolean;
  readonly placeOf: PlaceOf;
  readonly onMark: () => void;
  readonly onOpen: (column: number) => void;
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
      >
        {isMarked ? '✓ ' : ''}
        {row?.sourceRow ?? '…'}
      </div>
      {columns.map((column, offset) => (
        <Cell
          key={column.id}
          row={row}
          column={column}
          index={firstColumn + offset}
          place={placeOf(place, firstColumn + offset)}
          onOpen={() => onOpen(firstColumn + offset)}
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
}

function Cell({ row, column, index, place, onOpen }: CellProps): JSX.Element {
  const text = row?.cells[index];
  const change = row?.changed.find(({ column: changed }) => changed === index);
  const trouble = row?.troubles.find(({ column: name }) => name === column.name);
  const title = [
    ...(change === undefined ? [] : [`before: ${change.text === null ? '(null)' : change.text}`]),
    ...(trouble === undefined ? [] : [trouble.code]),
  ].join('\n');
  const mark = change === undefined ? '' : ' changed';
  return (
    <div
      class={`cell ${column.type}${mark}${trouble === undefined ? '' : ' trouble'}`}
      role="gridcell"
      {...place}
      {...(title === '' ? {} : { title })}
      onClick={onOpen}
    >
      {trouble !== undefined && <span aria-hidden="true">⚠ </span>}
      {row === null ? '…' : text === null || text === undefined ? <span class="null">null</span> : oneLine(text)}
      {change !== undefined && <span class="hidden">, changed</span>}
    </div>
  );
}

/** A row has the height of one line. */
function oneLine(text: string): string {
  return text.replaceAll(/\r\n|\r|\n/g, '↵');
}
