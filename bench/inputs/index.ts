// The table of input files.

import { makeOrders } from './orders.ts';
import { ORDERS_AS_JSON } from './orders-as-json.ts';
import { makeQuoted } from './quoted.ts';
import { makeStatement } from './statement.ts';
import { makeWide } from './wide.ts';

export type InputName = 'orders' | 'wide' | 'quoted' | 'statement' | JsonInputName;
type JsonInputName = 'ndjson' | 'ndjson-mixed' | 'ndjson-sparse' | 'ndjson-nested' | 'json-pretty';

export interface Input {
  readonly title: string;
  readonly delimiter: ',' | ';';
  /** CSV unless said. */
  readonly type?: 'ndjson' | 'json';
  /** Writes about so many bytes unless the file is there with that size. */
  make(path: string, bytes: number): void;
}

export const INPUTS: Readonly<Record<InputName, Input>> = {
  orders: { title: 'orders of 12 columns', delimiter: ',', make: makeOrders },
  wide: { title: '100 columns of numbers', delimiter: ',', make: makeWide },
  quoted: { title: 'orders with every field quoted', delimiter: ',', make: makeQuoted },
  statement: { title: "a bank's statement", delimiter: ';', make: makeStatement },
  ...ORDERS_AS_JSON,
};
