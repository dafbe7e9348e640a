// Creates the benchmark's file: orders with names in many scripts, padded cells, quoted notes.
import { pick, type Random, two, writeSeededFile } from './seeded-file.ts';

const SEED = 20_261_121;

/** Number of addresses in each domain: in a file of 200 MB, one in six occurs twice. */
const ADDRESSES = 1_100_000;

/** One order in ten is from one of these customers, so that even a small file has repeated customers. */
const REGULARS = 300;

export const FIRST_NAMES =
  'Ada Björn Chloé Dagmar Émile Fatima Giorgos Håkon Inés Jürgen Kofi Łucja Mei Ngozi Óscar Priya Raúl Şule Thảo Yūto'.split(
    ' ',
  );
export const LAST_NAMES =
  "Adeyemi Bergström Castaño D'Angelo Eriksen Fröhlich Grzelak Hughes Ibáñez Jansson Köhler Lindqvist Mårtensson Nuñez O'Hara Popescu Quispe Žižka".split(
    ' ',
  );
export const COUNTRIES =
  'DE FR PL ES IT NL SE NO DK FI PT CZ AT CH BE IE GB US CA MX BR AR JP KR IN NG GH KE ZA AU'.split(' ');
export const STATES = ['paid', 'open', 'refunded', 'cancelled', 'shipped'];
const DOMAINS = ['example.com', 'example.org', 'mail.example.net'];
const NOTE_WORDS =
  'please leave parcel with neighbour ring twice gift wrap invoice by mail fragile second attempt schnell geliefert très pressé sin tilde'.split(
    ' ',
  );

export const ORDER_HEADER = 'order_id,customer,email,country,status,order_date,amount,qty,sku,phone,notes,updated_at';

/** Writes about `bytes` bytes of orders unless a file of that size exists. */
export function makeOrders(path: string, bytes: number): void {
  writeSeededFile({ path, bytes, seed: SEED, header: ORDER_HEADER, line: orderLine });
}

/** The same in windows-1252, limited to Latin-1, because the other systems support no more. */
export function makeOrdersInWindows1252(path: string, bytes: number): void {
  const line = (id: number, random: Random): string => orderLine(id, random).replace(/[^\u0000-\u00ff]/g, '?');
  writeSeededFile({ path, bytes, seed: SEED, header: ORDER_HEADER, line, encoding: 'latin1' });
}

/** Columns and cells of one order. */
export type OrderCells = readonly (readonly [column: string, cell: string])[];

export function orderCells(id: number, random: Random): OrderCells {
  const cells = orderOf(id, random);
  return ORDER_HEADER.split(',').map((column, index) => [column, cells[index]!]);
}

function orderLine(id: number, random: Random): string {
  return orderOf(id, random).map(minimallyQuoted).join(',').concat('\n');
}

function orderOf(id: number, random: Random): string[] {
  const day = `${2019 + random(7)}-${two(1 + random(12))}-${two(1 + random(28))}`;
  const name = `${pick(FIRST_NAMES, random)} ${pick(LAST_NAMES, random)}`;
  return [
    String(id),
    random(20) === 0 ? `  ${name} ` : name,
    `user${random(random(10) === 0 ? REGULARS : ADDRESSES)}@${pick(DOMAINS, random)}`,
    pick(COUNTRIES, random),
    pick(STATES, random),
    day,
    `${random(1000)}.${two(random(100))}`,
    String(1 + random(20)),
    `SKU-${two(random(100))}-${100_000 + random(900_000)}`,
    `+${1 + random(98)} ${100 + random(900)} ${1_000_000 + random(9_000_000)}`,
    noteText(random),
    `${day}T${two(random(24))}:${two(random(60))}:${two(random(60))}Z`,
  ];
}

/** Ten percent of the notes need quotes, because of a comma, a quote or a line break. */
export function noteText(random: Random): string {
  const text = Array.from({ length: 3 + random(9) }, () => pick(NOTE_WORDS, random)).join(' ');
  const kind = random(200);
  if (kind < 12) return text.replace(' ', ', ');
  if (kind < 17) return text.replace(' ', ' "now" ');
  if (kind < 20) return text.replace(' ', '\n');
  return text;
}

function minimallyQuoted(cell: string): string {
  return /[",\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell;
}
