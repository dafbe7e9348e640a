// The table behind the chosen step: a grid that makes only the cells that can be seen, with one cell that has the focus.
import { useComputed, useSignal, useSignalEffect } from '@preact/signals';
import type { HTMLAttributes, JSX } from "preact";
import { useLayoutEffect, useRef } from 'preact/hooks';
import type { WatchedColumn, WatchedRow } from '../workers/watch/watch-messages.ts';
import { HEADER_ROW, type Place, placeAfter } from './grid-keys.ts';
import { ColumnHead } from './column-head.tsx';
import { RowPages } from './row-pages.ts';
import type { Studio } from './studio.ts';

const ROW_HEIGHT = 26;
const HEAD_HEIGHT = 70;
const COLUMN_WIDTH = 150;
const NUMBER_WIDTH = 64;
/** Rows and columns that are made beyond those that can be seen. */
const OVERSCAN = 6;

export function Grid({ studio }: { readonly studio: Studio }): JSX.Element {
  const scroller = useRef<HTMLDivElement>(null);
  const view = useSignal({ top: 0, left: 0, width: 800, height: 300 });
  const active = useSignal<Place>({ row: 0, column: 0 });
  const pages = useComputed(() => {
    studio.version.value;
    return new RowPages(studio.step.value, studio.filter.value);
  });
  const measure = (): void => {
    const box = scroller.current;
    if (box === null) return;
    view.value = { top: box.scrollTop, left: box.scrollLeft, width: box.clientWidth, height: box.clientHeight };
  };
  useLayoutEffect(() => {
    const observer = new ResizeObserver(measure);
    observer.observe(scroller.current!);
    return () => observer.disconnect();
  }, []);
  const columns = columnsShown(studio);
  const count = pages.value.count.value;
  pages.value.arrived.value;
  const { top, left, width, height } = view.value;
  const firstRow = Math.max(0, Math.floor(top / ROW_HEIGHT) - OVERSCAN);
  const lastRow = Math.min(count - 1, Math.ceil((top + height) / ROW_HEIGHT) + OVERSCAN);
  const firstColumn = Math.max(0, Math.floor(left / COLUMN_WIDTH) - OVERSCAN);
  const lastColumn = Math.min(columns.length - 1, Math.ceil((left + width) / COLUMN_WIDTH) + OVERSCAN);
  useSignalEffect(() => {
    const { top: from, height: shown } = view.value;
    pages.value.count.value;
    pages.value.want(Math.floor(from / ROW_HEIGHT), Math.ceil((from + shown) / ROW_HEIGHT));
  });
  const focus = (place: Place): void => {
    active.value = place;
    scrollTo(scroller.current!, place);
    // When it has been made.
    requestAnimationFrame(() => {
      scroller.current?.querySelector<HTMLElement>('[data-active="true"]')?.focus({ preventScroll: true });
    });
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const place = active.value;
    const row = place.row === HEADER_ROW ? null : pages.value.row(place.row);
    const column = columns[place.column];
    const page = Math.max(1, Math.floor((height - HEAD_HEIGHT) / ROW_HEIGHT) - 1);
    const next = placeAfter(place, event, { rows: count, columns: columns.length, page });
    if (next !== null) focus(next);
    else if (event.key === ' ' && row !== null) studio.mark(row.sourceRow);
    else if (event.key === 'Enter' && column !== undefined) open(studio, place, row, column);
    else return;
    event.preventDefault();
  };
  const isActive = (row: number, column: number): boolean => active.value.row === row && active.value.column === column;
  const shownColumns = columns.slice(firstColumn, lastColumn + 1);
  const cellProps = (row: number, column: number) => ({
    tabIndex: isActive(row, column) ? 0 : -1,
    'data-active': isActive(row, column),
    'aria-colindex': column + 2,
    style: { left: `${NUMBER_WIDTH + column * COLUMN_WIDTH}px`, width: `${COLUMN_WIDTH}px` },
    onFocus: () => {
      active.value = { row, column };
    },
  });
  return (
    <div
      ref={scroller}
      class="grid"
      role="grid"
      aria-label="Rows behind the step"
      aria-rowcount={count + 1}
      aria-colcount={columns.length + 1}
      aria-multiselectable="true"
      onScroll={measure}
      onKeyDown={onKeyDown}
    >
      <div
        class="canvas"
        role="presentation"
        style={{ height: `${HEAD_HEIGHT + count * ROW_HEIGHT}px`, width: `${NUMBER_WIDTH + columns.length * COLUMN_WIDTH}px` }}
      >
        <div class="row head" role="row" aria-rowindex={1} style={{ height: `${HEAD_HEIGHT}px` }}>
          <div class="cell number" role="columnheader" aria-colindex={1} style={{ width: `${NUMBER_WIDTH}px` }}>
            row
          </div>
          {shownColumns.map((column, index) => (
            <div
              key={column.id}
              class="cell"
              role="columnheader"
              {...cellProps(HEADER_ROW, firstColumn + index)}
              onClick={() => open(studio, { row: HEADER_ROW, column: firstColumn + index }, null, column)}
            >
              <ColumnHead studio={studio} column={column} index={firstColumn + index} />
            </div>
          ))}
        </div>
        {Array.from({ length: Math.max(0, lastRow - firstRow + 1) }, (_, index) => firstRow + index).map((place) => {
          const row = pages.value.row(place);
          const isMarked = row !== null && studio.marked.value.has(row.sourceRow);
          return (
            <div
              key={place}
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
                onClick={() => row !== null && studio.mark(row.sourceRow)}
              >
                {isMarked ? '✓ ' : ''}
                {row?.sourceRow ?? '…'}
              </div>
              {shownColumns.map((column, offset) => (
                <Cell
                  key={column.id}
                  row={row}
                  column={column}
                  index={firstColumn + offset}
                  place={cellProps(place, firstColumn + offset)}
                  onOpen={() => open(studio, { row: place, column: firstColumn + offset }, row, column)}
                />
              ))}
            </div>
          );
        })}
      </div>
    </div>
  );
}

function Cell({
  row,
  column,
  index,
  place,
  onOpen,
}: {
  readonly row: WatchedRow | null;
  readonly column: WatchedColumn;
  readonly index: number;
  readonly place: HTMLAttributes<HTMLDivElement>;
  readonly onOpen: () => void;
}): JSX.Element {
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
      {row === null ? '…' : text === null || text === undefined ? <span class="null">null</span> : text}
      {change !== undefined && <span class="hidden">, changed</span>}
    </div>
  );
}

function open(studio: Studio, place: Place, row: WatchedRow | null, column: WatchedColumn): void {
  if (place.row === HEADER_ROW) {
    studio.traced.value = null;
    studio.profiled.value = place.column;
  } else if (row !== null) void studio.trace(row.sourceRow, row.repeat, column.id, column.name);
}

/** Rows in trouble are shown as they came to the operation. */
function columnsShown(studio: Studio): readonly WatchedColumn[] {
  const steps = studio.watched.value?.steps ?? [];
  const step = studio.filter.value === 'errors' ? Math.max(0, studio.step.value - 1) : studio.step.value;
  return steps[step]?.columns ?? [];
}

function scrollTo(box: HTMLElement, { row, column }: Place): void {
  const left = column * COLUMN_WIDTH;
  if (left < box.scrollLeft) box.scrollLeft = left;
  const right = left + COLUMN_WIDTH + NUMBER_WIDTH - box.clientWidth;
  if (right > box.scrollLeft) box.scrollLeft = right;
  if (row === HEADER_ROW) return;
  const top = row * ROW_HEIGHT;
  if (top < box.scrollTop) box.scrollTop = top;
  const bottom = top + ROW_HEIGHT + HEAD_HEIGHT - box.clientHeight;
  if (bottom > box.scrollTop) box.scrollTop = bottom;
}
