// What a Run of a Template reserves from the memory budget before it is admitted.
import { RUN_RESERVATION_BYTES, SPILL_ROOM_BYTES } from '../memory/budget.ts';
import { operationTable } from '../operations/index.ts';
import type { Template } from '../template/template.ts';

/** Operations with state hand rows from one to the next: of a long list, seldom more than two spill at once. */
const SPILLING_OPERATIONS_MAX = 2;

/** An expression or a parameter that looks into a reference table, which goes to the disk when the budget refuses it. */
const LOOKUP = /\blookup\s*\(|"table":/;

/** In bytes: the room of every Run, and what each operation whose state may grow needs to put it on the disk. */
export function reservationBytes({ operations, tables }: Pick<Template, 'operations' | 'tables'>): number {
  const hasTables = Object.keys(tables).length > 0;
  const spilling = operations.filter(({ name, parameters, where }) => {
    const definition = operationTable.get(name);
    const memory = typeof definition?.memory === 'function' ? definition.memory(parameters) : definition?.memory;
    if (memory === 'K' || memory === 'B' || definition?.handsOnAtEnd?.(parameters) === true) return true;
    return hasTables && LOOKUP.test(JSON.stringify([where, parameters]));
  });
  return RUN_RESERVATION_BYTES + Math.min(spilling.length, SPILLING_OPERATIONS_MAX) * SPILL_ROOM_BYTES;
}
