// The cell of the row so many before, for functions of `window`.
import { NativeText } from '../../batch/native-text.ts';
import { Failed } from '../../protocol/failure.ts';
import { CELL_BYTES_MAX } from '../cells/cell-limit.ts';
import type { WindowStep } from './window-step.ts';

/** Characters of the cells that are held for a look further back than one row: as many as one cell may have. */
const HELD_CHARACTERS_MAX = CELL_BYTES_MAX;

/** Null where the group does not go back that far. */
export function rowBefore(offset = 1): WindowStep {
  /** The last cells in turn: the place of the oldest is the next to be written. */
  let cells: unknown[] = [];
  let seen = 0;
  let held = 0;
  return {
    begin: () => {
      cells = [];
      seen = 0;
      held = 0;
    },
    next: (value) => {
      const place = seen++ % offset;
      const given = cells[place] ?? null;
      cells[place] = value;
      held += charactersOf(value) - charactersOf(given);
      if (offset > 1 && held > HELD_CHARACTERS_MAX) {
        throw new Failed(
          'RUN_RESOURCE_LIMIT',
          'window: the cells that an "offset" spans have more than 4 MiB of text.',
        );
      }
      return given;
    },
  };
}

function charactersOf(value: unknown): number {
  if (typeof value === 'string') return value.length;
  return value instanceof NativeText ? value.text.length : 0;
}
