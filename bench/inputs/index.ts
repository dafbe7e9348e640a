// The table of input files.

import { makeOrders, makeOrdersInWindows1252 } from './orders.ts';
import { ORDERS_AS_JSON } from './orders-as-json.ts';
import { makeOrdersAsParquet } from './orders-as-parquet.ts';
import { makeQuoted } from './quoted.ts';
import { makeStatement } from './statement.ts';
import { makeWide } from './wide.ts';

export type InputName =
  | 'orders'
  | 'orders-windows-1252'
  | 'orders-parquet'
  | 'wide'
  | 'quoted'
  | 'statement'
  | JsonInputName;
type JsonInputName = 'ndjson' | 'ndjson-mixed' | 'ndjson-sparse' | 'ndjson-nested' | 'json-pretty';

export interface Input {
  readonly title: string;
  readonly delimiter: ',' | ';';
  /** CSV by default. */
  readonly type?: 'ndjson' | 'json' | 'parquet';
  /** Encoding name as in Templates; UTF-8 by default. */
  readonly encoding?: string;
  /** Writes about `bytes` bytes unless a file of that size exists. */
  make(path: string, bytes: number): void;
}

export const INPUTS: Readonly<Record<InputName, Input>> = {
  orders: { title: 'orders of 12 columns', delimiter: ',', make: makeOrders },
  'orders-windows-1252': {
    title: 'orders in windows-1252',
    delimiter: ',',
    encoding: 'windows-1252',
    make: makeOrdersInWindows1252,
  },
  'orders-parquet': { title: 'orders as Parquet', delimiter: ',', type: 'parquet', make: makeOrdersAsParquet },
  wide: { title: '100 columns of numbers', delimiter: ',', make: makeWide },
  quoted: { title: 'orders with every field quoted', delimiter: ',', make: makeQuoted },
  statement: { title: "a bank's statement", delimiter: ';', make: makeStatement },
  ...ORDERS_AS_JSON,
};
