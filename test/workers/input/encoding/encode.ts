// Encodes texts for tests, by inverting the decoding of each byte by TextDecoder and our own tables.
import { TextDecoder } from 'node:util';
import { charactersOf } from '../../../../workers/input/encoding/single-byte-table.ts';

const tables = new Map<string, ReadonlyMap<string, readonly number[]>>();

/** Throws if the encoding lacks a character. */
export function encode(text: string, encoding: string): Buffer {
  let table = tables.get(encoding);
  if (table === undefined) {
    table = tableOf(encoding);
    tables.set(encoding, table);
  }
  const bytes: number[] = [];
  for (const character of text) {
    const code = character.codePointAt(0)!;
    const encoded = code < 0x80 ? [code] : table.get(character);
    if (encoded === undefined) throw new Error(`${encoding} has no ${character}`);
    bytes.push(...encoded);
  }
  return Buffer.from(bytes);
}

function tableOf(encoding: string): ReadonlyMap<string, readonly number[]> {
  const table = new Map<string, readonly number[]>();
  const characters = charactersOf(encoding);
  if (characters !== null) {
    for (const [index, unit] of characters.entries()) table.set(String.fromCharCode(unit), [0x80 + index]);
    return table;
  }
  for (let lead = 0x81; lead < 0xff; lead++) {
    put(table, encoding, [lead]);
    for (let trail = 0x40; trail < 0xff; trail++) put(table, encoding, [lead, trail]);
  }
  return table;
}

function put(table: Map<string, readonly number[]>, encoding: string, bytes: readonly number[]): void {
  const text = new TextDecoder(encoding).decode(Uint8Array.from(bytes));
  if ([...text].length === 1 && text !== '\ufffd' && !table.has(text)) table.set(text, bytes);
}
