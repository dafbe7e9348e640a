// The columns of a file that somebody reads: each of them made of its stored columns.
import type { Arena } from '../../memory/arena.ts';
import { FlatColumn } from './flat-column.ts';
import { LeafCells } from './leaf-cells.ts';
import { LeafPages, type PageTools } from './leaf-pages.ts';
import { NestedColumn } from './nested-column.ts';
import { NestedLeaf } from './nested-leaf.ts';
import { NullTexts } from './null-texts.ts';
import { REPEATED, type SchemaNode } from './schema.ts';
import { hasKind, valueForm } from './value-form.ts';

export interface UsedColumns {
  /** By the column's place in the file. */
  readonly flat: ReadonlyMap<number, FlatColumn>;
  /** See `flat`. */
  readonly nested: ReadonlyMap<number, NestedColumn>;
  /** Of all of them, by the number of the leaf. */
  readonly leaves: ReadonlyMap<number, LeafPages>;
}

export interface ColumnTools {
  readonly pages: PageTools;
  readonly arena: Arena;
  readonly nullValues: readonly string[];
  /** Of the metadata in the file. */
  readonly position: number;
}

/** Whether a column has one value a row at most, and no parts. */
export function isFlat({ physical, repetition }: SchemaNode): boolean {
  return physical !== null && repetition !== REPEATED;
}

/** Throws Failed for types that are not read. */
export function useColumns(columns: readonly SchemaNode[], used: ReadonlySet<number>, tools: ColumnTools): UsedColumns {
  const flat = new Map<number, FlatColumn>();
  const nested = new Map<number, NestedColumn>();
  const leaves = new Map<number, LeafPages>();
  const { arena } = tools;
  const nullTexts = new NullTexts(tools.nullValues);
  const noTexts = new NullTexts([]);
  const open = (leaf: SchemaNode, place: number, isNested: boolean): readonly [LeafPages, LeafCells] => {
    const pages = new LeafPages(tools.pages, leaf);
    leaves.set(leaf.leaves[0], pages);
    const form = valueForm(leaf, tools.position);
    const settings = { form, arena, nullTexts: isNested ? noTexts : nullTexts, column: place + 1 };
    return [pages, new LeafCells(pages, settings, isNested)];
  };
  for (const place of used) {
    const node = columns[place]!;
    if (isFlat(node)) flat.set(place, new FlatColumn(...open(node, place, false), arena, hasKind(node)));
    else {
      const parts = leavesOf(node).map((leaf) => new NestedLeaf(...open(leaf, place, true), arena));
      nested.set(place, new NestedColumn(node, parts, place + 1));
    }
  }
  return { flat, nested, leaves };
}

function leavesOf(node: SchemaNode): readonly SchemaNode[] {
  return node.physical === null ? node.children.flatMap(leavesOf) : [node];
}
