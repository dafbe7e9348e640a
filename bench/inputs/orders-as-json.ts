// The benchmark's orders as JSON: in the form that most programs write, and in the worst form for the reader.
import { type OrderCells, orderCells } from './orders.ts';
import { type Random, writeSeededFile } from './seeded-file.ts';

const SEED = 20_261_121;

type Member = readonly [key: string, json: string];

/** Columns of the orders that are numbers in JSON. */
const NUMBERS: ReadonlySet<string> = new Set(['order_id', 'amount', 'qty']);

/** One order in this many lacks a key, but never its number. */
const SPARSE_ONE_IN = 3;

function membersOf(cells: OrderCells): Member[] {
  return cells.map(([key, cell]) => [key, NUMBERS.has(key) ? cell : JSON.stringify(cell)]);
}

function object(members: readonly Member[]): string {
  return `{${members.map(([key, json]) => `"${key}":${json}`).join(',')}}`;
}

function mixed(members: Member[], random: Random): string {
  const left = [...members];
  return object(members.map(() => left.splice(random(left.length), 1)[0]!));
}

function sparse(members: Member[], random: Random): string {
  return object(members.filter(([key]) => key === 'order_id' || random(SPARSE_ONE_IN) > 0));
}

function nested(members: Member[], random: Random): string {
  const items = Array.from({ length: 1 + random(3) }, () => `{"sku":"S${random(1000)}","qty":${random(9)}}`);
  return object([...members, ['lines', `[${items.join(',')}]`]]);
}

function pretty(members: Member[]): string {
  return `  {\n${members.map(([key, json]) => `    "${key}": ${json}`).join(',\n')}\n  }`;
}

/** Writes the lines to which each order is converted. */
function lines(form: (members: Member[], random: Random) => string): (path: string, bytes: number) => void {
  return (path, bytes) => {
    const line = (id: number, random: Random): string => `${form(membersOf(orderCells(id, random)), random)}\n`;
    writeSeededFile({ path, bytes, seed: SEED, header: null, line });
  };
}

function prettyList(path: string, bytes: number): void {
  const line = (id: number, random: Random): string =>
    `${id === 1 ? '' : ',\n'}${pretty(membersOf(orderCells(id, random)))}`;
  writeSeededFile({ path, bytes, seed: SEED, header: '[', line, footer: '\n]\n' });
}

export const ORDERS_AS_JSON = {
  ndjson: { title: 'orders as NDJSON', delimiter: ',', type: 'ndjson', make: lines(object) },
  'ndjson-mixed': { title: 'orders as NDJSON, keys in any order', delimiter: ',', type: 'ndjson', make: lines(mixed) },
  'ndjson-sparse': { title: 'orders as NDJSON, keys missing', delimiter: ',', type: 'ndjson', make: lines(sparse) },
  'ndjson-nested': { title: 'orders as NDJSON, with lists', delimiter: ',', type: 'ndjson', make: lines(nested) },
  'json-pretty': { title: 'orders as an indented JSON list', delimiter: ',', type: 'json', make: prettyList },
} as const;
