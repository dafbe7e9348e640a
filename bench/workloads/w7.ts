// W7: W1 with NDJSON output.
import { selecting } from './selecting.ts';
import { ORDER_SELECTED } from './w1.ts';

export const w7 = selecting({
  name: 'W7',
  title: 'select 6 of 12 columns, rename 2, to NDJSON',
  input: 'orders',
  ending: 'ndjson',
  selected: ORDER_SELECTED,
});
