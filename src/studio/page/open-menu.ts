// Opens the menu of a header, of several selected columns, of a row or of a cell, with the entries that fit it.
import type { Profile } from '../../../workers/watch/column-profile.ts';
import type { WatchedColumn, WatchedRow } from '../../../workers/watch/watch-messages.ts';
import { profileOf } from './column-head.tsx';
import { HEADER_ROW, type Place } from './grid-keys.ts';
import { cellMenu, columnMenu, columnsMenu, type MenuGroup, rowMenu } from './menu-entries.ts';
import type { MenuAction } from './page-parts.ts';
import { type Part, partMenu } from './part-pattern.ts';
import type { Studio } from './studio.ts';

/**
 * @param place its column is null for a row number
 * @param columns the columns that the place counts
 * @param at the menu opens at the mouse, or under the element
 */
export function openMenu(
  studio: Studio,
  place: { readonly row: number; readonly column: number | null },
  row: WatchedRow | null,
  columns: readonly WatchedColumn[],
  at: MouseEvent | HTMLElement,
): void {
  const column = place.column === null ? null : columns[place.column];
  const isHead = place.row === HEADER_ROW;
  if (column === undefined || (!isHead && row === null)) return;
  if (!(at instanceof HTMLElement)) at.preventDefault();
  const opener = at instanceof HTMLElement ? at : (at.target as HTMLElement).closest<HTMLElement>('.cell');
  const box = opener?.getBoundingClientRect();
  const found =
    column === null
      ? rowEntries(studio, place.row, row!, columns)
      : isHead
        ? headEntries(studio, column)
        : cellEntries(studio, { row: place.row, column: place.column! }, row!, columns);
  studio.menu.value = {
    ...found,
    left: at instanceof HTMLElement ? (box?.left ?? 0) : at.clientX,
    top: at instanceof HTMLElement ? (box?.bottom ?? 0) : at.clientY,
    opener,
  };
}

interface Found {
  readonly title: string;
  readonly groups: readonly MenuGroup[];
  readonly actions: readonly MenuAction[];
}

function headEntries(studio: Studio, column: WatchedColumn): Found {
  const { name } = column;
  const selected = selectedColumns(studio);
  const isSelected = selected.some((each) => each.name === name);
  const toggle = {
    label: isSelected ? 'Do not select this column' : selected.length === 0 ? 'Select this column' : 'Select it, too',
    run: () => studio.selectColumn(name),
  };
  const clear = { label: 'Select no column', run: () => studio.selectColumns([]) };
  const actions = selected.length === 0 ? [toggle] : [toggle, clear];
  if (isSelected && selected.length > 1)
    return { title: `${selected.length} columns`, groups: columnsMenu(selected), actions };
  return { title: `Column ${name}`, groups: columnMenu(column, profileOfName(studio, name)), actions };
}

/** The selected columns that exist, in the order of the table. */
export function selectedColumns(studio: Studio): readonly WatchedColumn[] {
  const selected = studio.selected.value;
  return (studio.chosen.value?.columns ?? []).filter(({ name }) => selected.has(name));
}

function rowEntries(studio: Studio, place: number, row: WatchedRow, columns: readonly WatchedColumn[]): Found {
  const profiles = columns.map(({ name }) => profileOfName(studio, name));
  const mark = {
    label: row.fileRow !== null && studio.marked.value.has(row.fileRow) ? 'Do not mark it' : 'Mark for a test',
    run: () => studio.mark(row),
  };
  const test = {
    label: '+ Test',
    run: () => {
      if (!studio.marked.value.has(row.fileRow!)) studio.mark(row);
      void studio.addTest();
    },
  };
  return {
    title: row.fileRow === null ? 'Added row' : `Row ${row.fileRow}`,
    groups: rowMenu(columns, row.cells, profiles, rowsAbove(studio, place)),
    actions: row.fileRow === null ? [] : [mark, test, ...headerActions(studio, row.fileRow, row.cells)],
  };
}

/** Only in files of records and in workbooks. */
function headerActions(studio: Studio, fileRow: number, cells: WatchedRow['cells']): readonly MenuAction[] {
  const { firstRecord = null, sheetRows = null } = studio.watched.value ?? {};
  const record = firstRecord === null ? sheetRows?.[fileRow - 1] : firstRecord + fileRow - 1;
  if (record === undefined) return [];
  const alone: MenuAction = {
    label: 'Use this row as the header…',
    run: (form) => void form.useHeader(record, cells, 1),
  };
  const joined: MenuAction = {
    label: 'Use this row and the one above as the header…',
    run: (form) => void form.useHeader(record, [], 2),
  };
  return record === 0 ? [alone] : [alone, joined];
}

function cellEntries(studio: Studio, place: Place, row: WatchedRow, columns: readonly WatchedColumn[]): Found {
  const column = columns[place.column]!;
  const text = row.cells[place.column] ?? null;
  const part = column.type === 'text' && text !== null ? selectedPart(text) : null;
  const parts = part === null ? [] : [partMenu(column.name, part, frequentTexts(studio, column.name))];
  const { groups, actions } = rowEntries(studio, place.row, row, columns);
  return { title: `Cell of ${column.name}`, groups: [...parts, ...cellMenu(column, text), ...groups], actions };
}

/** Number of rows of this step above a row; null: unknown, because not all of them are shown. */
function rowsAbove(studio: Studio, place: number): number | null {
  const rowsMax = studio.sampleRowsMax.value;
  const isAll = studio.filter.value === 'all' && studio.facet.value === null;
  return isAll && (rowsMax === null || place < rowsMax) ? place : null;
}

/** The part of a cell that is selected with the mouse. Line breaks are shown as one sign, so offsets may differ. */
function selectedPart(text: string): Part | null {
  const selection = getSelection();
  const node = selection?.anchorNode;
  const chosen = selection?.toString() ?? '';
  if (selection === null || node !== selection.focusNode || node?.parentElement?.closest('[role=gridcell]') == null)
    return null;
  const offset = Math.min(selection.anchorOffset, selection.focusOffset);
  const from = text.startsWith(chosen, offset) ? offset : text.indexOf(chosen);
  return chosen === '' || from < 0 ? null : { text, from, to: from + chosen.length };
}

export function frequentTexts(studio: Studio, name: string): readonly string[] {
  return (profileOfName(studio, name)?.frequent ?? []).map(({ text }) => text);
}

function profileOfName(studio: Studio, name: string): Profile | null {
  const index = studio.chosen.value?.columns.findIndex((column) => column.name === name) ?? -1;
  return profileOf(studio, index);
}
