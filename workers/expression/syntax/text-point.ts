// Positions in texts by code points, as CEL counts them, and the maximum length of created texts.
import { INDEX_OUT_OF_RANGE, type Integer, TEXT_TOO_LONG } from '../compile/value.ts';
import { TEXT_LENGTH_MAX } from './limits.ts';

/** Number of code points. */
export function countPoints(text: string): number {
  if (!SURROGATE.test(text)) return text.length;
  let count = 0;
  for (let index = 0; index < text.length; count++) index += text.codePointAt(index)! > 0xffff ? 2 : 1;
  return count;
}

/** UTF-16 position of a code point. Throws INDEX_OUT_OF_RANGE outside of 0 to the number of code points. */
export function unitPosition(text: string, point: Integer): number {
  if (typeof point !== 'number' || point < 0 || point > text.length) throw INDEX_OUT_OF_RANGE;
  if (!SURROGATE.test(text)) return point;
  let index = 0;
  for (let count = 0; count < point; count++) {
    if (index >= text.length) throw INDEX_OUT_OF_RANGE;
    index += text.codePointAt(index)! > 0xffff ? 2 : 1;
  }
  return index;
}

/** The first `count` code points; all if there are fewer, none if it is negative. */
export function firstPoints(text: string, count: Integer): string {
  if (count <= 0) return '';
  if (typeof count !== 'number' || count >= text.length) return text;
  if (!SURROGATE.test(text)) return text.slice(0, count);
  return text.slice(0, unitAfter(text, count));
}

/** The last `count` code points. */
export function lastPoints(text: string, count: Integer): string {
  if (count <= 0) return '';
  if (typeof count !== 'number' || count >= text.length) return text;
  if (!SURROGATE.test(text)) return text.slice(-count);
  let index = text.length;
  for (let left = count; left > 0 && index > 0; left--)
    index -= index > 1 && text.codePointAt(index - 2)! > 0xffff ? 2 : 1;
  return text.slice(index);
}

/** UTF-16 position after a number of code points, at most the end of the text. */
function unitAfter(text: string, points: number): number {
  let index = 0;
  for (let count = 0; count < points && index < text.length; count++)
    index += text.codePointAt(index)! > 0xffff ? 2 : 1;
  return index;
}

/** Returns the text, or throws TEXT_TOO_LONG. */
export function limited(text: string): string {
  if (text.length > TEXT_LENGTH_MAX) throw TEXT_TOO_LONG;
  return text;
}

/** Checks the length of a text before it is created. */
export function checkLength(length: number): void {
  if (!(length <= TEXT_LENGTH_MAX)) throw TEXT_TOO_LONG;
}

const SURROGATE = /[\ud800-\udfff]/;
