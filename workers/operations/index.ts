// The table of the operations that this version has, by the name that a Template uses. A new operation is its file and
// one line here.
import { drop } from './drop.ts';
import type { OperationDefinition } from './operation.ts';
import { rename } from './rename.ts';

/** In the order of the reference (templates.md, "Operations"). */
const definitions: readonly OperationDefinition[] = [drop, rename];

export const operationTable: ReadonlyMap<string, OperationDefinition> = new Map(
  definitions.map((definition) => [definition.name, definition]),
);
