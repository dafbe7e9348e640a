// W1: select and rename, on orders, on a hundred columns, and on a file with every field quoted.
import { type Selected, selecting } from './selecting.ts';

export const ORDER_SELECTED: Selected = [
  ['order_id', 'order_id'],
  ['customer', 'name'],
  ['email', 'email'],
  ['status', 'status'],
  ['amount', 'total'],
  ['notes', 'notes'],
];

export const w1 = selecting({
  name: 'W1',
  title: 'select 6 of 12 columns, rename 2',
  input: 'orders',
  ending: 'csv',
  selected: ORDER_SELECTED,
});

export const w1Wide = selecting({
  name: 'W1-wide',
  title: 'select 10 of 100 columns, rename 2',
  input: 'wide',
  ending: 'csv',
  selected: [
    ['c2', 'first'],
    ['c3', 'c3'],
    ['c10', 'c10'],
    ['c27', 'c27'],
    ['c28', 'c28'],
    ['c45', 'c45'],
    ['c60', 'c60'],
    ['c77', 'c77'],
    ['c81', 'c81'],
    ['c98', 'last'],
  ],
});

export const w1Quoted = selecting({
  name: 'W1-quoted',
  title: 'select 5 of 8 columns, rename 2, every field quoted',
  input: 'quoted',
  ending: 'csv',
  selected: [
    ['id', 'id'],
    ['name', 'customer'],
    ['email', 'email'],
    ['amount', 'total'],
    ['notes', 'notes'],
  ],
});
