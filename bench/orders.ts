// Makes the benchmark's file: orders with names in many scripts, padded cells, quoted notes, seeded so that each run of
// the benchmark sees the same bytes.
import { closeSync, openSync, statSync, writeSync } from 'node:fs';

const SEED = 20_261_121;

/** Bytes gathered before each write. */
const WRITE_BYTES = 1_048_576;

/** Addresses are drawn from this many, so that a file of 200 MB holds each about 1.1 times. */
const ADDRESSES = 1_100_000;

const FIRST_NAMES =
  'Ada Björn Chloé Dagmar Émile Fatima Giorgos Håkon Inés Jürgen Kofi Łucja Mei Ngozi Óscar Priya Raúl Şule Thảo Yūto'.split(
    ' ',
  );
const LAST_NAMES =
  "Adeyemi Bergström Castaño D'Angelo Eriksen Fröhlich Grzelak Hughes Ibáñez Jansson Köhler Lindqvist Mårtensson Nuñez O'Hara Popescu Quispe Žižka".split(
    ' ',
  );
const COUNTRIES = 'DE FR PL ES IT NL SE NO DK FI PT CZ AT CH BE IE GB US CA MX BR AR JP KR IN NG GH KE ZA AU'.split(
  ' ',
);
const STATES = ['paid', 'open', 'refunded', 'cancelled', 'shipped'];
const DOMAINS = ['example.com', 'example.org', 'mail.example.net'];
const NOTE_WORDS =
  'please leave parcel with neighbour ring twice gift wrap invoice by mail fragile second attempt schnell geliefert très pressé sin tilde'.split(
    ' ',
  );

export const ORDER_HEADER = 'order_id,customer,email,country,status,order_date,amount,qty,sku,phone,notes,updated_at';

/** Writes about `bytes` bytes of orders unless the file is there with that size. */
export function makeOrders(path: string, bytes: number): void {
  if (isThere(path, bytes)) return;
  const random = generator(SEED);
  const file = openSync(path, 'w');
  try {
    let text = `${ORDER_HEADER}\n`;
    let written = 0;
    for (let id = 1; written < bytes; id++) {
      text += orderLine(id, random);
      if (text.length < WRITE_BYTES && written + text.length < bytes) continue;
      written += writeSync(file, text);
      text = '';
    }
  } finally {
    closeSync(file);
  }
}

function isThere(path: string, bytes: number): boolean {
  const stat = statSync(path, { throwIfNoEntry: false });
  return stat !== undefined && stat.size >= bytes && stat.size < bytes + 2 * WRITE_BYTES;
}

type Random = (below: number) => number;

function orderLine(id: number, random: Random): string {
  const day = `${2019 + random(7)}-${two(1 + random(12))}-${two(1 + random(28))}`;
  const name = `${pick(FIRST_NAMES, random)} ${pick(LAST_NAMES, random)}`;
  return [
    id,
    random(20) === 0 ? `  ${name} ` : name,
    `user${random(ADDRESSES)}@${pick(DOMAINS, random)}`,
    pick(COUNTRIES, random),
    pick(STATES, random),
    day,
    `${random(1000)}.${two(random(100))}`,
    1 + random(20),
    `SKU-${two(random(100))}-${100_000 + random(900_000)}`,
    `+${1 + random(98)} ${100 + random(900)} ${1_000_000 + random(9_000_000)}`,
    notes(random),
    `${day}T${two(random(24))}:${two(random(60))}:${two(random(60))}Z`,
  ]
    .join(',')
    .concat('\n');
}

/** Ten in a hundred notes need quotes: for a comma, a quote or a line break. */
function notes(random: Random): string {
  const text = Array.from({ length: 3 + random(9) }, () => pick(NOTE_WORDS, random)).join(' ');
  const kind = random(200);
  if (kind < 12) return `"${text.replace(' ', ', ')}"`;
  if (kind < 17) return `"${text.replace(' ', ' ""now"" ')}"`;
  if (kind < 20) return `"${text.replace(' ', '\n')}"`;
  return text;
}

function pick(list: readonly string[], random: Random): string {
  return list[random(list.length)]!;
}

function two(number: number): string {
  return String(number).padStart(2, '0');
}

/** Mulberry32, a small well-mixed generator: the file only has to be the same each time. */
function generator(seed: number): Random {
  let state = seed;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296) * below);
  };
}
