// The steps of text chains: edits of texts, and replacement of e-mail addresses. Each step is a kernel and a function
// on strings.

import { CELL_BYTES_MAX } from '../../batch/batch.ts';
import {
  ACCENT_POINTS,
  AS_IT_IS,
  DROP,
  FAR_FIRST,
  FAR_POINTS,
  KEEP,
  LEAVE,
  NEAR_POINTS,
  TO_LOWER,
  TO_UPPER,
} from '../../kernel/layout/texts.ts';
import type { Heap } from '../../memory/heap.ts';
import { fingerprintOf, longFingerprint } from '../../values/similarity.ts';
import type { TextWork } from '../../values/text-edits.ts';
import * as edits from '../../values/text-edits.ts';
import { placeBytes, placeText, type TextCells, type TextStep } from './text-chain.ts';

// The steps of text chains, each as a kernel and as a function on strings.

/** Code points with two bytes in UTF-8: the first part of the table of a case kernel. */
const CASE_TABLE_FIRST = 0x80;

const TABLE_TEXT = tableText();

/** U+03A3 has two lower case letters; its position in the word decides. */
const CAPITAL_SIGMA = 0x3a3;

/** Entry in a table of bytes: DROP, KEEP or LEAVE. */
export type ByteEntry = number;

export function trimStep(): TextStep {
  return {
    run({ kernel, views, rows, count }) {
      kernel.exports.trimViews(views, rows, count);
      return true;
    },
    edit: edits.trimWhiteSpace,
  };
}

export function collapseStep(): TextStep {
  return {
    run: (cells) =>
      moved(cells, cells.kernel.exports.collapseSpaces(cells.views, cells.rows, cells.count, ...freeRange(cells))),
    edit: edits.collapseWhiteSpace,
    editInSlices: edits.collapseWhiteSpaceInSlices,
  };
}

export function caseStep(heap: Heap, to: 'upper' | 'lower' | 'fold'): TextStep {
  const edit = { upper: edits.upperCase, lower: edits.lowerCase, fold: edits.foldCase }[to];
  const inSlices = { upper: edits.upperCaseInSlices, lower: edits.lowerCaseInSlices, fold: edits.foldCaseInSlices };
  const first = to === 'upper' ? TO_UPPER : TO_LOWER;
  const table = placeBytes(heap, new Uint8Array(caseTable(edit, to === 'lower').buffer)).at;
  return {
    run(cells) {
      const { kernel, views, rows, count, todo } = cells;
      return moved(cells, kernel.exports.changeCase(views, rows, count, first, table, ...freeRange(cells), todo));
    },
    edit,
    editInSlices: inSlices[to],
  };
}

export function asciiCaseStep(to: 'upper' | 'lower'): TextStep {
  const first = to === 'upper' ? TO_UPPER : TO_LOWER;
  return {
    run(cells) {
      const { kernel, views, rows, count } = cells;
      return moved(cells, kernel.exports.changeAsciiCase(views, rows, count, first, ...freeRange(cells)));
    },
    edit: to === 'upper' ? edits.upperAscii : edits.lowerAscii,
  };
}

export function accentStep(heap: Heap): TextStep {
  const table = placeBytes(heap, new Uint8Array(accentTable().buffer)).at;
  return {
    run(cells) {
      const { kernel, views, rows, count, todo } = cells;
      return moved(cells, kernel.exports.stripAccents(views, rows, count, table, ...freeRange(cells), todo));
    },
    edit: edits.stripAccents,
    editInSlices: edits.stripAccentsInSlices,
  };
}

/** Fingerprint keys, which are equal for different spellings of a name. */
export function fingerprintStep(heap: Heap): TextStep {
  const spelled = (byte: number): ByteEntry => {
    if (byte >= 0x80) return LEAVE;
    const character = String.fromCharCode(byte);
    return /\s/.test(character) ? 32 : fingerprintOf(character).charCodeAt(0) || DROP;
  };
  const table = placeBytes(heap, byteTable(spelled)).at;
  return {
    run(cells) {
      const { kernel, views, rows, count, todo } = cells;
      return moved(cells, kernel.exports.wordKeys(views, rows, count, table, ...freeRange(cells), todo));
    },
    edit: fingerprintOf,
    editInSlices: longFingerprint,
  };
}

export function capitaliseStep(unit: 'word' | 'sentence'): TextStep {
  const sentences = unit === 'sentence' ? 1 : 0;
  return {
    run(cells) {
      const { kernel, views, rows, count, todo } = cells;
      return moved(cells, kernel.exports.capitalise(views, rows, count, sentences, ...freeRange(cells), todo));
    },
    edit: unit === 'sentence' ? edits.sentenceCase : edits.titleCase,
    editInSlices: unit === 'sentence' ? edits.sentenceCaseInSlices : edits.titleCaseInSlices,
  };
}

/** A step that skips cells unless they contain a byte of this kind. Other cells are edited as strings. */
export function stringStep(
  heap: Heap,
  concerns: 'not_ascii' | 'any' | '<' | '&',
  edit: (text: string) => string,
  editInSlices?: (text: string) => TextWork,
): TextStep {
  const holds = (byte: number): boolean =>
    concerns === 'any' || (concerns === 'not_ascii' ? byte >= 0x80 : byte === concerns.charCodeAt(0));
  const step = handBackStep(heap, holds, edit);
  return editInSlices === undefined ? step : { ...step, editInSlices };
}

function handBackStep(heap: Heap, concerns: (byte: number) => boolean, edit: (text: string) => string): TextStep {
  const placed = placeBytes(
    heap,
    byteTable((byte) => (concerns(byte) ? LEAVE : KEEP)),
  ).at;
  return {
    run({ kernel, views, rows, count, todo }) {
      kernel.exports.listTodo(views, rows, count, placed, todo);
      return true;
    },
    edit,
  };
}

/** A step that drops characters, according to the entry of each byte. */
function keepStep(
  heap: Heap,
  entry: (byte: number) => ByteEntry,
  edit: (text: string) => string,
  editInSlices?: (text: string) => TextWork,
): TextStep {
  const table = placeBytes(heap, byteTable(entry)).at;
  return {
    run(cells) {
      const { kernel, views, rows, count, todo } = cells;
      return moved(cells, kernel.exports.keepBytes(views, rows, count, table, ...freeRange(cells), todo));
    },
    edit,
    ...(editInSlices === undefined ? {} : { editInSlices }),
  };
}

/** Replaces control characters by spaces. Those beyond ASCII begin with the byte 0xC2 in UTF-8. */
export function controlStep(heap: Heap): TextStep {
  const step = handBackStep(heap, (byte) => byte === 0xc2 || byte < 32 || byte === 127, edits.removeControls);
  return { ...step, editInSlices: edits.removeControlsInSlices };
}

export function digitStep(heap: Heap): TextStep {
  return keepStep(heap, (byte) => (byte >= 48 && byte <= 57 ? KEEP : DROP), edits.digitsOnly);
}

export function letterStep(heap: Heap): TextStep {
  const entry = (byte: number): ByteEntry => {
    if (byte >= 0x80) return LEAVE;
    const lower = byte | 0x20;
    return lower >= 97 && lower <= 122 ? KEEP : DROP;
  };
  return keepStep(heap, entry, edits.lettersOnly, edits.lettersOnlyInSlices);
}

/** Keeps or removes the listed characters. */
export function characterStep(heap: Heap, characters: string, action: 'keep' | 'remove'): TextStep {
  const named = new Set(characters);
  const keeps = (character: string): boolean => named.has(character) === (action === 'keep');
  const wide = [...named].some((character) => character.codePointAt(0)! >= 0x80);
  const others = wide ? LEAVE : action === 'keep' ? DROP : KEEP;
  return keepStep(
    heap,
    (byte) => (byte >= 0x80 ? others : keeps(String.fromCharCode(byte)) ? KEEP : DROP),
    (text) => edits.filterCharacters(text, keeps),
    (text) => edits.filterCharactersInSlices(text, keeps),
  );
}

export function aroundStep(heap: Heap, before: string, after: string): TextStep {
  const [a, b] = [placeText(heap, before), placeText(heap, after)];
  return {
    run(cells) {
      const { kernel, views, rows, count } = cells;
      return moved(
        cells,
        kernel.exports.putAround(views, rows, count, a.at, a.bytes, b.at, b.bytes, ...freeRange(cells)),
      );
    },
    edit: (text) => before + text + after,
  };
}

export function padStep(heap: Heap, length: number, character: string, side: 'left' | 'right'): TextStep {
  const fill = placeText(heap, character);
  const left = side === 'left' ? 1 : 0;
  return {
    run(cells) {
      const { kernel, views, rows, count } = cells;
      return moved(
        cells,
        kernel.exports.padCells(views, rows, count, length, fill.at, fill.bytes, left, ...freeRange(cells)),
      );
    },
    edit(text) {
      const missing = character.repeat(Math.max(0, length - edits.characterCount(text)));
      return left ? missing + text : text + missing;
    },
  };
}

/** Rules for the characters of a text that are masked, and the character that replaces them. */
export interface MaskRules {
  readonly first: number;
  readonly last: number;
  /** If fewer characters than this would be masked, all characters are masked. */
  readonly hiddenMin: number;
  readonly sign: string;
}

export function maskStep(heap: Heap, { first, last, hiddenMin, sign }: MaskRules): TextStep {
  const placed = placeText(heap, sign);
  return {
    run(cells) {
      const { kernel, views, rows, count } = cells;
      const given = [views, rows, count, first, last, hiddenMin, placed.at, placed.bytes] as const;
      return moved(cells, kernel.exports.maskCells(...given, ...freeRange(cells)));
    },
    edit: (text) => edits.maskCharacters(text, first, last, hiddenMin, sign),
  };
}

export function truncateStep(length: number): TextStep {
  return {
    run({ kernel, views, rows, count }) {
      kernel.exports.truncateCells(views, rows, count, length);
      return true;
    },
    edit: (text) => edits.firstCharacters(text, length),
  };
}

/** First free address and limit of the arena, for kernels. */
export function freeRange({ arena }: TextCells): [next: number, limit: number] {
  return [arena.next, arena.limit];
}

/** Takes over a kernel's next free address. Returns false if it was 0 (arena full). */
export function moved({ arena }: TextCells, next: number): boolean {
  if (next === 0) return false;
  arena.next = next >>> 0;
  return true;
}

function byteTable(entry: (byte: number) => ByteEntry): Uint8Array {
  return Uint8Array.from({ length: 256 }, (_, byte) => entry(byte));
}

/**
 * For each character of the table, its counterpart, or 0 if the counterpart is not a single character of the same
 * length. All are converted in one call, separated by a character without case.
 */
function caseTable(change: (text: string) => string, sigmaVaries: boolean): Uint16Array {
  const table = new Uint16Array(NEAR_POINTS + FAR_POINTS);
  const changed = change(TABLE_TEXT);
  for (let index = CASE_TABLE_FIRST, at = 0; index < table.length; index++) {
    const becomes = changed.charCodeAt(at);
    let length = 0;
    while (changed.charCodeAt(at + length) !== 0) length++;
    at += length + 1;
    const isNear = index < NEAR_POINTS;
    const from = isNear ? CASE_TABLE_FIRST : FAR_FIRST;
    const to = isNear ? NEAR_POINTS : FAR_FIRST + FAR_POINTS;
    if (length === 1 && becomes >= from && becomes < to) table[index] = becomes;
  }
  if (sigmaVaries) table[CAPITAL_SIGMA] = 0;
  return table;
}

/** For each character, the one or two ASCII letters without its accent. Converted in one call, as above. */
function accentTable(): Uint16Array {
  const table = new Uint16Array(ACCENT_POINTS);
  const characters = Array.from({ length: ACCENT_POINTS }, (_, point) => String.fromCharCode(Math.max(point, 1)));
  for (const [point, letters] of edits.stripAccents(characters.join('\0')).split('\0').entries()) {
    const [first = 0, second = 0, third = 0] = Buffer.from(letters);
    if (letters === characters[point]) table[point] = AS_IT_IS;
    else if (first < 0x80 && second < 0x80 && third === 0) table[point] = first | (second << 8);
  }
  return table;
}

/** The characters of the table, each followed by a NUL. */
function tableText(): string {
  const units: number[] = [];
  for (let index = CASE_TABLE_FIRST; index < NEAR_POINTS + FAR_POINTS; index++) {
    units.push(index < NEAR_POINTS ? index : index - NEAR_POINTS + FAR_FIRST, 0);
  }
  return String.fromCharCode(...units);
}

// The step that replaces e-mail addresses by a text. A kernel handles ASCII cells.

/** `edit` does the same for one text. */
export function emailStep(heap: Heap, replacement: string, edit: (text: string) => string): TextStep {
  const { at, bytes } = placeText(heap, replacement);
  return {
    run(cells) {
      const { kernel, views, rows, count, todo } = cells;
      const { redactEmails } = kernel.exports;
      return moved(cells, redactEmails(views, rows, count, at, bytes, CELL_BYTES_MAX, ...freeRange(cells), todo));
    },
    edit,
  };
}
