// The table after the chosen step: a grid that renders only visible cells, one of which has the focus.
import { type Signal, signal, useSignal, useSignalEffect } from '@preact/signals';
import type { JSX, RefObject } from 'preact';
import { useLayoutEffect, useMemo, useRef } from 'preact/hooks';
import type {
  CellFilter,
  RowFilter,
  WatchedColumn,
  WatchedRow,
  WatchedRows,
} from '../../../workers/watch/watch-messages.ts';
import { ask } from './ask.ts';
import { ColumnHead } from './column-head.tsx';
import { HEADER_ROW, type Place, placeAfter } from './grid-keys.ts';
import {
  boundedWidth,
  ColumnLayout,
  fittingWidth,
  HEAD_HEIGHT,
  NUMBER_WIDTH,
  pageRows,
  ROW_HEIGHT,
  scrollTo,
  shownOf,
  viewOf,
} from './grid-window.ts';
import { openMenu, selectedColumns } from './open-menu.ts';
import type { Studio } from './studio.ts';

export function Grid({ studio }: { readonly studio: Studio }): JSX.Element {
  const scroller = useRef<HTMLDivElement>(null);
  const active = useSignal<Place>({ row: 0, column: 0 });
  const { pages, view, measure } = useRows(studio, scroller);
  const [columns, count] = [pages.columns, pages.count.value];
  pages.arrived.value;
  const layout = useLayout(studio, pages);
  const shown = shownOf(view, count, layout);
  const current = placeInside(active.value, count, columns.length);
  const placeOf = placesIn(active, current, layout);
  useLayoutEffect(() => keepFocusInView(scroller.current!, current, layout), [view.width]);
  useAddedColumn(studio, scroller, columns, layout);
  const onKeyDown = (event: KeyboardEvent): void => {
    const place = current;
    const row = place.row === HEADER_ROW ? null : pages.row(place.row);
    const next = placeAfter(place, event, { rows: count, columns: columns.length, page: pageRows(view) });
    if (event.altKey && resizeByKey(studio, columns[place.column], layout.width(place.column), event.key)) {
      // The column has another width.
    } else if (next !== null) {
      active.value = next;
      focus(scroller.current!, next, layout);
    } else if (event.key === ' ' && row !== null) studio.mark(row);
    else if (event.key === ' ' && columns[place.column] !== undefined) studio.selectColumn(columns[place.column]!.name);
    else if (event.key === 'm' || event.key === 'ContextMenu' || (event.key === 'F10' && event.shiftKey))
      openMenu(studio, place, row, columns, event.target as HTMLElement);
    else if (event.key === 'Enter') open(studio, place, row, columns);
    else return;
    event.preventDefault();
  };
  const shownColumns = columns.slice(shown.firstColumn, shown.lastColumn + 1);
  return (
    <div
      ref={scroller}
      class="grid"
      role="grid"
      aria-label="Rows after the step"
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
        style={{ height: `${HEAD_HEIGHT + count * ROW_HEIGHT}px`, width: `${NUMBER_WIDTH + layout.total}px` }}
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
              onMark={() => row !== null && studio.mark(row)}
              onOpen={(column) => open(studio, { row: place, column }, row, columns)}
              onMenu={(column, event) => openMenu(studio, { row: place, column }, row, columns, event)}
            />
          );
        })}
      </div>
    </div>
  );
}

/** The pane with the details of a cell makes the grid narrower, and must not hide the cell. */
function keepFocusInView(box: HTMLElement, place: Place, layout: ColumnLayout): void {
  if (box.contains(document.activeElement)) scrollTo(box, place, layout);
}

/** Scrolls to the first column that the step of an open form adds, which could be outside of the view. */
function useAddedColumn(
  studio: Studio,
  scroller: RefObject<HTMLDivElement | null>,
  columns: readonly WatchedColumn[],
  layout: ColumnLayout,
): void {
  const before = studio.watched.value?.steps[studio.step.value - 1]?.columns ?? columns;
  const isAdded = ({ name }: WatchedColumn): boolean => before.every((column) => column.name !== name);
  const column = studio.preview.value === null ? -1 : columns.findIndex(isAdded);
  useLayoutEffect(() => {
    if (column >= 0) scrollTo(scroller.current!, { row: HEADER_ROW, column }, layout);
  }, [column, columns[column]?.name]);
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
          aria-selected={studio.selected.value.has(column.name)}
          title="Ctrl and a click, or Space: select several columns"
          onClick={(event) => clickHead(studio, firstColumn + offset, column, event)}
          onContextMenu={(event) => openMenu(studio, { row: HEADER_ROW, column: offset }, null, columns, event)}
        >
          <button
            type="button"
            class="small menu-button"
            tabIndex={-1}
            aria-label={`Menu of ${column.name}`}
            aria-haspopup="menu"
            title="Key m"
            onClick={(event) => {
              event.stopPropagation();
              openMenu(studio, { row: HEADER_ROW, column: offset }, null, columns, event.currentTarget);
            }}
          >
            ▾
          </button>
          <ColumnHead studio={studio} column={column} index={firstColumn + offset} />
          <WidthHandle studio={studio} column={column} />
        </div>
      ))}
    </div>
  );
}

/** A click shows the profile; with Ctrl it selects the column, with Shift the columns from the last selected one to here. */
function clickHead(studio: Studio, index: number, { name }: WatchedColumn, event: MouseEvent): void {
  if (event.ctrlKey || event.metaKey) {
    studio.selectColumn(name);
    return;
  }
  if (!event.shiftKey) {
    studio.showProfile(index);
    return;
  }
  const names = (studio.chosen.value?.columns ?? []).map((column) => column.name);
  const last = names.indexOf(selectedColumns(studio).at(-1)?.name ?? name);
  studio.selectColumns([...studio.selected.value, ...names.slice(Math.min(last, index), Math.max(last, index) + 1)]);
}

/** Change of a width for one press of an arrow key, in pixels. */
const KEY_PIXELS = 24;

/** Alt and an arrow key change the width of a column. */
function resizeByKey(studio: Studio, column: WatchedColumn | undefined, width: number, key: string): boolean {
  const by = key === 'ArrowRight' ? KEY_PIXELS : key === 'ArrowLeft' ? -KEY_PIXELS : 0;
  if (by === 0 || column === undefined) return false;
  resize(studio, column, width + by);
  return true;
}

function resize(studio: Studio, { name }: WatchedColumn, width: number): void {
  studio.widths.value = { ...studio.widths.value, [name]: boundedWidth(width) };
}

/** The right border of a header, which can be dragged. */
function WidthHandle({ studio, column }: { readonly studio: Studio; readonly column: WatchedColumn }): JSX.Element {
  return (
    <span
      class="width-handle"
      aria-hidden="true"
      title="Drag, or Alt and an arrow key"
      onClick={(event) => event.stopPropagation()}
      onPointerDown={(event) => {
        event.currentTarget.setPointerCapture(event.pointerId);
        event.preventDefault();
        event.stopPropagation();
      }}
      onPointerMove={(event) => {
        const handle = event.currentTarget;
        if (!handle.hasPointerCapture(event.pointerId)) return;
        resize(studio, column, event.clientX - handle.parentElement!.getBoundingClientRect().left);
      }}
    />
  );
}

/** The rows of the chosen step and the visible part of them. Fetches missing rows. */
function useRows(studio: Studio, scroller: RefObject<HTMLDivElement | null>) {
  const view = useSignal({ top: 0, left: 0, width: 800, height: 300 });
  // The previous rows stay until their replacements have arrived, so that nothing flickers during typing.
  const pages = useSignal(useMemo(() => new RowPages(0, 'all', null, []), []));
  const wanted = useRef<RowPages | null>(null);
  useSignalEffect(() => {
    studio.version.value;
    const next = new RowPages(studio.step.value, studio.filter.value, cellShown(studio), columnsShown(studio));
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

/** Widths that the user has chosen, or that fit the first rows. Without a choice, a column never becomes narrower, so that the table stays calm while a step is edited. */
function useLayout(studio: Studio, pages: RowPages): ColumnLayout {
  const widest = useRef(new Map<string, number>());
  const fitting = useMemo(() => {
    const rows = pages.first;
    return pages.columns.map((column, index) => {
      const texts = rows.map(({ cells }) => cells[index] ?? '');
      const width = Math.max(widest.current.get(column.name) ?? 0, fittingWidth(column, texts));
      widest.current.set(column.name, width);
      return width;
    });
  }, [pages]);
  return new ColumnLayout(pages.columns.map(({ name }, index) => studio.widths.value[name] ?? fitting[index]!));
}

/** The nearest place that exists: the row of the focus may be gone after a step that drops rows. */
function placeInside({ row, column }: Place, rows: number, columns: number): Place {
  return { row: Math.max(HEADER_ROW, Math.min(row, rows - 1)), column: Math.max(0, Math.min(column, columns - 1)) };
}

/** Only one cell of the grid is in the Tab order: the cell that had the focus last. */
function placesIn(active: Signal<Place>, current: Place, layout: ColumnLayout): PlaceOf {
  return (row, column) => {
    const isActive = current.row === row && current.column === column;
    return {
      tabIndex: isActive ? 0 : -1,
      'data-active': isActive,
      'aria-colindex': column + 2,
      style: { left: `${NUMBER_WIDTH + layout.left(column)}px`, width: `${layout.width(column)}px` },
      onFocus: () => {
        active.value = { row, column };
      },
    };
  };
}

function focus(box: HTMLElement, place: Place, layout: ColumnLayout): void {
  scrollTo(box, place, layout);
  // Waits until the cell has been rendered.
  requestAnimationFrame(() => {
    box.querySelector<HTMLElement>('[data-active="true"]')?.focus({ preventScroll: true });
  });
}

function open(studio: Studio, place: Place, row: WatchedRow | null, columns: readonly WatchedColumn[]): void {
  const column = columns[place.column];
  if (place.row === HEADER_ROW) studio.showProfile(place.column);
  else if (row !== null && column !== undefined) void studio.trace(row, column.id, column.name);
}

/** Rows with errors are shown as they were before the operation. */
function columnsShown(studio: Studio): readonly WatchedColumn[] {
  const steps = studio.watched.value?.steps ?? [];
  const step = studio.filter.value === 'errors' ? Math.max(0, studio.step.value - 1) : studio.step.value;
  return steps[step]?.columns ?? [];
}

/** The value whose rows are shown, unless its column is gone. */
function cellShown(studio: Studio): CellFilter | null {
  const facet = studio.facet.value;
  if (facet === null) return null;
  const column = columnsShown(studio).findIndex(({ name }) => name === facet.column);
  return column < 0 ? null : { column, text: facet.text, range: facet.range };
}

function range(first: number, last: number): number[] {
  return Array.from({ length: Math.max(0, last - first + 1) }, (_, index) => first + index);
}

// One row of the grid: its row number, which toggles the mark of the row, and its visible cells.

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

// The rows that the grid shows. They are fetched in pages and kept until another Run has been watched or another step
// is chosen. Visible rows are fetched first, then the others. With 2,000 rows and 500 columns they take about 10 MB.

const PAGE_ROWS = 100;

export class RowPages {
  /** Number of pages that have arrived; components that show rows subscribe to it. */
  readonly arrived: Signal<number> = signal(0);
  readonly count: Signal<number> = signal(0);
  readonly #step: number;
  readonly #filter: RowFilter;
  readonly #cell: CellFilter | null;
  readonly #pages = new Map<number, readonly WatchedRow[] | null>();
  /** First and last page requested most recently. When other pages arrive, nothing that is shown changes. */
  #wanted = { first: 0, last: 0 };
  #isClosed = false;

  /** The columns of these rows; an earlier Run may have had other columns. */
  readonly columns: readonly WatchedColumn[];
  /** True when all rows have arrived. */
  readonly isWhole: Signal<boolean> = signal(false);
  /** Resolves when the first rows have arrived. */
  readonly begun: Promise<void>;

  constructor(step: number, filter: RowFilter, cell: CellFilter | null, columns: readonly WatchedColumn[]) {
    this.#step = step;
    this.#filter = filter;
    this.#cell = cell;
    this.columns = columns;
    this.begun = this.#fetch(0);
  }

  /** The rows of the first page. */
  get first(): readonly WatchedRow[] {
    return this.#pages.get(0) ?? [];
  }

  /** Null: not yet fetched. */
  row(index: number): WatchedRow | null {
    return this.#pages.get(Math.floor(index / PAGE_ROWS))?.[index % PAGE_ROWS] ?? null;
  }

  /** Fetches missing rows of this range, and the adjacent pages. */
  want(from: number, to: number): void {
    const first = Math.max(0, Math.floor(from / PAGE_ROWS) - 1);
    const last = Math.min(this.#lastPage(), Math.floor(to / PAGE_ROWS) + 1);
    this.#wanted = { first, last };
    for (let page = first; page <= last; page++) {
      if (!this.#pages.has(page)) void this.#fetch(page);
    }
  }

  /** Fetches the remaining rows one page at a time, so that they are present when the user scrolls. */
  async readAhead(): Promise<void> {
    for (let page = 0; page <= this.#lastPage(); page++) {
      if (this.#isClosed) return;
      if (!this.#pages.has(page)) await this.#fetch(page);
    }
  }

  /** Stops fetching, because other rows replace these. */
  close(): void {
    this.#isClosed = true;
  }

  #lastPage(): number {
    return Math.floor(Math.max(0, this.count.peek() - 1) / PAGE_ROWS);
  }

  async #fetch(page: number): Promise<void> {
    this.#pages.set(page, null);
    try {
      const found = await ask<WatchedRows | null>('POST /api/rows', {
        step: this.#step,
        filter: this.#filter,
        cell: this.#cell,
        from: page * PAGE_ROWS,
        count: PAGE_ROWS,
      });
      this.#pages.set(page, found?.rows ?? []);
      this.count.value = found?.count ?? 0;
      if (page >= this.#wanted.first && page <= this.#wanted.last) this.arrived.value++;
      if (this.#hasAll()) this.isWhole.value = true;
    } catch {
      // The page is requested again when it is needed again. If the server is gone, the state of the page shows that.
      this.#pages.delete(page);
    }
  }

  #hasAll(): boolean {
    for (let page = 0; page <= this.#lastPage(); page++) {
      if ((this.#pages.get(page) ?? null) === null) return false;
    }
    return true;
  }
}
