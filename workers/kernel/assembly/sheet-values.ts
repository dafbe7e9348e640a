// The value of a cell of a sheet, by its type and style: its canonical text lies behind the texts of the batch, or among the
// shared ones, and nothing of the state has changed.
import { KIND_BOOLEAN, KIND_NUMBER, KIND_TEXT } from '../layout/native-kinds';
import {
  IS_1904,
  MEANING_PLAIN,
  SHARED_COUNT,
  SHARED_PAGES,
  STYLES,
  STYLES_COUNT,
  TEXTS_AT,
  TEXTS_END,
} from '../layout/sheet';
import { PAGE_SHIFT } from '../layout/shared-strings';
import { isCanonical, putNumber, putSerial, readNumber, serialKind } from './sheet-numbers';
import { IS_CLOSES, readRichText } from './sheet-rich-text';
import { LESS } from './sheet-tags';
import { copiedEnd, copyText } from './sheet-texts';

export const TYPE_NUMBER: u32 = 0;
export const TYPE_SHARED: u32 = 1;
export const TYPE_BOOLEAN: u32 = 2;
export const TYPE_TEXT: u32 = 3;
export const TYPE_INLINE: u32 = 4;

const TRUE_TEXT: u32 = 0x65757274;
const FALSE_TEXT: u64 = 0x65736c6166;
const TRUE_BYTES: u32 = 4;
const FALSE_BYTES: u32 = 5;

/** Shared strings with more digits than these are left. */
const INDEX_DIGITS_MAX: usize = 9;

/** Bytes that are written at once for a number or a date: a region has more behind it. */
const NUMBER_BYTES_MAX: usize = 48;

/** What was read: the address of its text, 0 as long as there is none. */
export let valueKind: u32 = 0;
export let valueAt: usize = 0;
export let valueBytes: u32 = 0;
export let isSharedValue: bool = false;

// @ts-ignore: decorator
@inline
export function forgetValue(): void {
  valueAt = 0;
  valueBytes = 0;
  isSharedValue = false;
}

/** The value is an empty text. */
export function setEmptyText(state: usize): void {
  valueKind = KIND_TEXT;
  valueAt = <usize>load<u32>(state, TEXTS_AT);
}

/**
 * Reads what stands from `at` up to the next `<`, of which the address is given; 0: it is left, behind `end`: more bytes are wanted.
 */
export function readValue(at: usize, end: usize, state: usize, type: u32, style: u32): usize {
  if (type == TYPE_SHARED) return readShared(at, state);
  const out = <usize>load<u32>(state, TEXTS_AT);
  if (type == TYPE_TEXT) {
    const behind = copyText(at, end, out, <usize>load<u32>(state, TEXTS_END));
    return setText(behind, end, out);
  }
  if (<u32>load<u8>(at) == LESS) return at;
  if (out + NUMBER_BYTES_MAX > <usize>load<u32>(state, TEXTS_END)) return 0;
  if (type == TYPE_BOOLEAN) return readBoolean(at, out);
  const behind = readNumber(at);
  if (behind == 0) return 0;
  const meaning = style < load<u32>(state, STYLES_COUNT) ? <u32>load<u8>(<usize>load<u32>(state, STYLES) + <usize>style) : MEANING_PLAIN;
  let textEnd: usize = 0;
  valueKind = KIND_NUMBER;
  if (meaning != MEANING_PLAIN) {
    textEnd = putSerial(out, meaning, load<u32>(state, IS_1904) != 0);
    valueKind = serialKind;
  } else if (isCanonical) {
    v128.store(out, v128.load(at));
    v128.store(out, v128.load(at, 16), 16);
    textEnd = out + (behind - at);
  } else textEnd = putNumber(out);
  if (textEnd == 0) return 0;
  valueAt = out;
  valueBytes = <u32>(textEnd - out);
  return behind;
}

/** As readValue, of what stands within `<is>`; gives the address behind its closing tag. */
export function readInline(at: usize, end: usize, state: usize): usize {
  const out = <usize>load<u32>(state, TEXTS_AT);
  return setText(readRichText(at, end, out, <usize>load<u32>(state, TEXTS_END), IS_CLOSES), end, out);
}

// @ts-ignore: decorator
@inline
function setText(behind: usize, end: usize, out: usize): usize {
  if (behind == 0 || behind > end) return behind;
  valueKind = KIND_TEXT;
  valueAt = out;
  valueBytes = <u32>(copiedEnd - out);
  return behind;
}

function readShared(at: usize, state: usize): usize {
  const from = at;
  let index: u32 = 0;
  for (let digit = <u32>load<u8>(at) - 0x30; digit < 10; digit = <u32>load<u8>(at) - 0x30) {
    index = index * 10 + digit;
    at++;
  }
  if (<u32>load<u8>(at) != LESS || at - from > INDEX_DIGITS_MAX) return 0;
  if (at == from) return at;
  if (index >= load<u32>(state, SHARED_COUNT)) return 0;
  const page = <usize>load<u32>(<usize>load<u32>(state, SHARED_PAGES) + ((<usize>index >> PAGE_SHIFT) << 2));
  const entry = page + ((<usize>index & ((1 << PAGE_SHIFT) - 1)) << 3);
  valueKind = KIND_TEXT;
  valueAt = <usize>load<u32>(entry);
  valueBytes = load<u32>(entry, 4);
  isSharedValue = true;
  return at;
}

function readBoolean(at: usize, out: usize): usize {
  const byte = <u32>load<u8>(at);
  if ((byte != 0x30 && byte != 0x31) || <u32>load<u8>(at, 1) != LESS) return 0;
  if (byte == 0x31) store<u32>(out, TRUE_TEXT);
  else store<u64>(out, FALSE_TEXT);
  valueKind = KIND_BOOLEAN;
  valueAt = out;
  valueBytes = byte == 0x31 ? TRUE_BYTES : FALSE_BYTES;
  return at + 1;
}
