// The columns of `window` that come to one value of a whole group, whatever its order: what `aggregate` computes, beside each row.
import { columnTypeOf, type StoredType } from '../../batch/schema.ts';
import type { TotalColumn } from '../aggregate/group-totals.ts';
import { percentOfSum } from './window-shares.ts';
import type { WindowColumn, WindowTotal } from './window-step.ts';

/** Null where the column looks at the order or at single rows. @param frame of functions that have one */
export function windowTotal(fn: string, frame: string | undefined, hasColumn: boolean): WindowTotal | null {
  if (frame === 'up_to_here') return null;
  switch (fn) {
    case 'group_size':
      return { fn: 'count', shares: false };
    case 'count':
      return { fn: hasColumn ? 'count_values' : 'count', shares: false };
    case 'sum':
    case 'mean':
    case 'min':
    case 'max':
      return { fn, shares: false };
    case 'percent_of_total':
      return { fn: 'sum', shares: true };
    default:
      return null;
  }
}

export function totalColumn({ fn, shares }: WindowTotal, column: WindowColumn): TotalColumn {
  const { function: made, column: place, columnType, condition } = column;
  const type = place < 0 ? null : columnTypeOf(columnType);
  // A sum of integers that is only compared with may be larger than an integer.
  const sums: StoredType = type === 'number' ? 'number' : 'decimal';
  const metric = {
    fn,
    type,
    reads: place < 0 ? null : columnType,
    makes: shares ? sums : made.type,
    place,
    condition,
    separator: '',
    percent: 0,
  };
  const share = { type: made.type, column: place, columnType, value: percentOfSum(type ?? 'decimal') };
  return { metric, share: shares ? share : null };
}
