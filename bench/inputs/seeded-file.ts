// Writes the benchmark's files: lines from a seeded generator, so that each run uses the same bytes.
import { closeSync, openSync, statSync, writeSync } from 'node:fs';

/** Returns a whole number from 0 up to, but excluding, `below`. */
export type Random = (below: number) => number;

export interface SeededFile {
  readonly path: string;
  /** Approximate size: the line that reaches it is the last. */
  readonly bytes: number;
  readonly seed: number;
  /** The first line, or null without a header. */
  readonly header: string | null;
  /** Returns the line of data row `id`, counted from 1, with its line break. */
  line(id: number, random: Random): string;
  /** UTF-8 by default. */
  readonly encoding?: 'latin1';
  /** Text below the last row. */
  readonly footer?: string;
}

/** Number of characters collected before each write. */
const WRITE_CHARACTERS = 1_048_576;

/** Writes the file unless a file of that size exists. */
export function writeSeededFile(seeded: SeededFile): void {
  const { path, bytes, seed, header, line, encoding = 'utf8', footer = '' } = seeded;
  if (isThere(path, bytes)) return;
  const random = seededRandom(seed);
  const file = openSync(path, 'w');
  try {
    let text = header === null ? '' : `${header}\n`;
    let written = 0;
    for (let id = 1; written < bytes; id++) {
      text += line(id, random);
      if (text.length < WRITE_CHARACTERS && written + text.length < bytes) continue;
      written += writeSync(file, text, null, encoding);
      text = '';
    }
    if (footer !== '') writeSync(file, footer, null, encoding);
  } finally {
    closeSync(file);
  }
}

export function pick(list: readonly string[], random: Random): string {
  return list[random(list.length)]!;
}

/** Formats the number with two digits. */
export function two(number: number): string {
  return String(number).padStart(2, '0');
}

export function isThere(path: string, bytes: number): boolean {
  const stat = statSync(path, { throwIfNoEntry: false });
  return stat !== undefined && stat.size >= bytes && stat.size < bytes + 4 * WRITE_CHARACTERS;
}

/** Mulberry32, a small generator of good quality: the file must only be the same each time. */
export function seededRandom(seed: number): Random {
  let state = seed;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296) * below);
  };
}
