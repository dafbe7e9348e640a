// Memory that a Run of a Template reserves from the budget before it is admitted.
import { RUN_RESERVATION_BYTES, SPILL_ROOM_BYTES } from '../memory/budget.ts';
import { operationTable } from '../operations/index.ts';
import type { Template } from '../template/template.ts';

/**
 * Operations with state process rows one after the other: even in a long list, rarely more than two spill at the same
 * time.
 */
const SPILLING_OPERATIONS_MAX = 2;

/**
 * Matches expressions and parameters that read a reference table, which moves to the disk if the budget refuses more
 * memory.
 */
const LOOKUP = /\blookup\s*\(|"table":/;

/**
 * Reservation in bytes: the base amount of every Run, plus the amount that each operation with growing state needs to
 * move that state to the disk.
 */
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
