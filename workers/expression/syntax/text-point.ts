// Owns positions in texts by code points, as CEL counts them, and the limit on texts that are made.
import { INDEX_OUT_OF_RANGE, TEXT_TOO_LONG } from '../compile/evaluation-error.ts';
import type { Integer } from '../compile/value.ts';
import { TEXT_LENGTH_MAX } from './limits.ts';

/** Number of code points. */
export function countPoints(text: string): number {
  if (!SURROGATE.test(text)) return text.length;
  let count = 0;
  for (let index = 0; index < text.length; count++) index += text.codePointAt(index)! > 0xffff ? 2 : 1;
  return count;
}

/** UTF-16 position of a code point; INDEX_OUT_OF_RANGE outside of 0 to the number of points. */
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

/** The first `count` code points (all of them when there are fewer, none below zero). */
export function firstPoints(text: string, count: Integer): string {
  if (count <= 0) return '';
  if (typeof count !== 'number' || count >= text.length) return text;
  if (!SURROGATE.test(text)) return text.slice(0, count);
  return [...text].slice(0, count).join('');
}

/** The last `count` code points. */
export function lastPoints(text: string, count: Integer): string {
  if (count <= 0) return '';
  if (typeof count !== 'number' || count >= text.length) return text;
  if (!SURROGATE.test(text)) return text.slice(-count);
  return [...text].slice(-count).join('');
}

/** The text itself, or TEXT_TOO_LONG. */
export function limited(text: string): string {
  if (text.length > TEXT_LENGTH_MAX) throw TEXT_TOO_LONG;
  return text;
}

/** Refuses a text before it is made. */
export function checkLength(length: number): void {
  if (!(length <= TEXT_LENGTH_MAX)) throw TEXT_TOO_LONG;
}

const SURROGATE = /[\ud800-\udfff]/;
