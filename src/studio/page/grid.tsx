// The table behind the chosen step: a grid that makes only the cells that can be seen, with one cell that has the focus.
import { type Signal, useSignal, useSignalEffect } from '@preact/signals';
import type { JSX, RefObject } from 'preact';
import { useLayoutEffect, useMemo, useRef } from 'preact/hooks';
import type { WatchedColumn, WatchedRow } from '../../../workers/watch/watch-messages.ts';
import { ColumnHead } from './column-head.tsx';
import { HEADER_ROW, type Place, placeAfter } from './grid-keys.ts';
import { GridRow, type PlaceOf } from './grid-row.tsx';
import {
  COLUMN_WIDTH,
  HEAD_HEIGHT,
  NUMBER_WIDTH,
  pageRows,
  ROW_HEIGHT,
  scrollTo,
  shownOf,
  viewOf,
} from './grid-window.ts';
import { RowPages } from './row-pages.ts';
import type { Studio } from './studio.ts';

export function Grid({ studio }: { readonly studio: Studio }): JSX.Element {
  const scroller = useRef<HTMLDivElement>(null);
  const active = useSignal<Place>({ row: 0, column: 0 });
  const { pages, view, measure } = useRows(studio, scroller);
  const { columns } = pages;
  const count = pages.count.value;
  pages.arrived.value;
  const shown = shownOf(view, count, columns.length);
  const placeOf = placesIn(active);
  const onKeyDown = (event: KeyboardEvent): void => {
    const place = active.value;
    const row = place.row === HEADER_ROW ? null : pages.row(place.row);
    const next = placeAfter(place, event, { rows: count, columns: columns.length, page: pageRows(view) });
    if (next !== null) {
      active.value = next;
      focus(scroller.current!, next);
    } else if (event.key === ' ' && row !== null) studio.mark(row.sourceRow);
    else if (event.key === 'Enter') open(studio, place, row, columns);
    else return;
    event.preventDefault();
  };
  const shownColumns = columns.slice(shown.firstColumn, shown.lastColumn + 1);
  const width = NUMBER_WIDTH + columns.length * COLUMN_WIDTH;
  return (
    <div
      ref={scroller}
      class="grid"
      role="grid"
      aria-label="Rows behind the step"
      aria-rowcount={count + 1}
      aria-colcount={columns.length + 1}
      aria-multiselectable="true"
      aria-busy={!pages.isWhole.value}
      onScroll={measure}
      onKeyDown={onKeyDown}
    >
      <div
        class="canvas"
        role="presentation"
        style={{ height: `${HEAD_HEIGHT + count * ROW_HEIGHT}px`, width: `${width}px` }}
      >
        <GridHead studio={studio} columns={shownColumns} firstColumn={shown.firstColumn} placeOf={placeOf} />
        {range(shown.firstRow, shown.lastRow).map((place) => {
          const row = pages.row(place);
          return (
            <GridRow
              key={place}
              place={place}
              row={row}
              columns={shownColumns}
              firstColumn={shown.firstColumn}
              isMarked={row !== null && studio.marked.value.has(row.sourceRow)}
              placeOf={placeOf}
              onMark={() => row !== null && studio.mark(row.sourceRow)}
              onOpen={(column) => open(studio, { row: place, column }, row, columns)}
            />
          );
        })}
      </div>
    </div>
  );
}

interface HeadProps {
  readonly studio: Studio;
  readonly columns: readonly WatchedColumn[];
  readonly firstColumn: number;
  readonly placeOf: PlaceOf;
}

function GridHead({ studio, columns, firstColumn, placeOf }: HeadProps): JSX.Element {
  return (
    <div class="row head" role="row" aria-rowindex={1} style={{ height: `${HEAD_HEIGHT}px` }}>
      <div class="cell number" role="columnheader" aria-colindex={1} style={{ width: `${NUMBER_WIDTH}px` }}>
        row
      </div>
      {columns.map((column, offset) => (
        <div
          key={column.id}
          class="cell"
          role="columnheader"
          {...placeOf(HEADER_ROW, firstColumn + offset)}
          onClick={() => openProfile(studio, firstColumn + offset)}
        >
          <ColumnHead studio={studio} column={column} index={firstColumn + offset} />
        </div>
      ))}
    </div>
  );
}

/** The rows of the step that is looked at, and the part of them that can be seen; what is missing of it is fetched. */
function useRows(studio: Studio, scroller: RefObject<HTMLDivElement | null>) {
  const view = useSignal({ top: 0, left: 0, width: 800, height: 300 });
  // The rows before stay until those that take their place are here: nothing flickers while somebody types.
  const pages = useSignal(useMemo(() => new RowPages(0, 'all', []), []));
  const wanted = useRef<RowPages | null>(null);
  useSignalEffect(() => {
    studio.version.value;
    const next = new RowPages(studio.step.value, studio.filter.value, columnsShown(studio));
    wanted.current?.close();
    wanted.current = next;
    void next.begun.then(() => {
      if (wanted.current !== next) return;
      pages.value = next;
      void next.readAhead();
    });
  });
  const measure = (): void => {
    if (scroller.current !== null) view.value = viewOf(scroller.current);
  };
  useLayoutEffect(() => {
    const observer = new ResizeObserver(measure);
    observer.observe(scroller.current!);
    return () => observer.disconnect();
  }, []);
  useSignalEffect(() => {
    const { top, height } = view.value;
    pages.value.count.value;
    pages.value.want(Math.floor(top / ROW_HEIGHT), Math.ceil((top + height) / ROW_HEIGHT));
  });
  return { pages: pages.value, view: view.value, measure };
}

/** One cell of the grid is in the order of the Tab key: the one that had the focus last. */
function placesIn(active: Signal<Place>): PlaceOf {
  return (row, column) => {
    const isActive = active.value.row === row && active.value.column === column;
    return {
      tabIndex: isActive ? 0 : -1,
      'data-active': isActive,
      'aria-colindex': column + 2,
      style: { left: `${NUMBER_WIDTH + column * COLUMN_WIDTH}px`, width: `${COLUMN_WIDTH}px` },
      onFocus: () => {
        active.value = { row, column };
      },
    };
  };
}

function focus(box: HTMLElement, place: Place): void {
  scrollTo(box, place);
  // When it has been made.
  requestAnimationFrame(() => {
    box.querySelector<HTMLElement>('[data-active="true"]')?.focus({ preventScroll: true });
  });
}

function open(studio: Studio, place: Place, row: WatchedRow | null, columns: readonly WatchedColumn[]): void {
  const column = columns[place.column];
  if (place.row === HEADER_ROW) openProfile(studio, place.column);
  else if (row !== null && column !== undefined) void studio.trace(row.sourceRow, row.repeat, column.id, column.name);
}

function openProfile(studio: Studio, column: number): void {
  studio.traced.value = null;
  studio.profiled.value = column;
}

/** Rows in trouble are shown as they came to the operation. */
function columnsShown(studio: Studio): readonly WatchedColumn[] {
  const steps = studio.watched.value?.steps ?? [];
  const step = studio.filter.value === 'errors' ? Math.max(0, studio.step.value - 1) : studio.step.value;
  return steps[step]?.columns ?? [];
}

function range(first: number, last: number): number[] {
  return Array.from({ length: Math.max(0, last - first + 1) }, (_, index) => first + index);
}
