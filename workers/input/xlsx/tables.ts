// The tables of a sheet: named ranges of cells with a header row.
import type { Coroutine } from '../../thread/coroutine.ts';
import type { ZipArchive } from '../zip/zip-archive.ts';
import { type CellRange, parseRange } from './cell-range.ts';
import { visitElements } from './part-elements.ts';
import { readRelationships } from './relationships.ts';

export interface SheetTable {
  /** As formulas and people call it. */
  readonly name: string;
  readonly range: CellRange;
  readonly headerRows: number;
  readonly totalsRows: number;
}

/** Throws Failed. */
export function* readTables(archive: ZipArchive, sheetPart: string): Coroutine<SheetTable[]> {
  const tables: SheetTable[] = [];
  for (const { kind, target } of yield* readRelationships(archive, sheetPart)) {
    const source = kind === 'table' ? archive.open(target) : null;
    if (source === null) continue;
    yield* visitElements('a table', source, archive.giveWay, (name, attributes, parent) => {
      const range = parseRange(attributes.get('ref') ?? '');
      if (name !== 'table' || parent !== '' || range === null) return;
      tables.push({
        name: attributes.get('displayName') ?? attributes.get('name') ?? '',
        range,
        headerRows: Number(attributes.get('headerRowCount') ?? 1),
        totalsRows: Number(attributes.get('totalsRowCount') ?? 0),
      });
    });
  }
  return tables;
}
