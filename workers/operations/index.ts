// The table of the operations that this version has, by the name that a Template uses. A new operation is its file and
// one line here.
import { copy } from './copy.ts';
import { dedupe } from './dedupe.ts';
import { drop } from './drop.ts';
import type { OperationDefinition } from './operation.ts';
import { rename } from './rename.ts';
import { reorder } from './reorder.ts';
import { select } from './select.ts';
import { set } from './set.ts';
import { text } from './text.ts';

/** In the order of the reference (templates.md, "Operations"). */
const definitions: readonly OperationDefinition[] = [select, drop, rename, reorder, copy, set, text, dedupe];

export const operationTable: ReadonlyMap<string, OperationDefinition> = new Map(
  definitions.map((definition) => [definition.name, definition]),
);
