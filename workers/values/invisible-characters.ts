// Takes characters that are not seen out of a text, and leaves those that can be seen in what stands around them.
import { characterBefore } from './text-edits.ts';

/** The engine of regular expressions keeps 16 bytes for each repetition: none has more than a thousand. */
const INVISIBLES = /\p{Default_Ignorable_Code_Point}{1,1000}/gu;

const ZERO_WIDTH_NON_JOINER = 0x200c;
const ZERO_WIDTH_JOINER = 0x200d;
/** Behind a character of an emoji: as text, as picture (UTS 51, "Emoji Presentation"). */
const TEXT_STYLE = 0xfe0e;
const PICTURE_STYLE = 0xfe0f;
const KEYCAP = '\u20E3';
/** Tags behind this flag spell a region (UTS 51, "Emoji Tag Sequences"). */
const BLACK_FLAG = '\u{1F3F4}';
const FIRST_TAG = 0xe0020;
const LAST_TAG = 0xe007f;
/** Choose one of the forms in which an ideograph is written (UTS 37). */
const FIRST_IDEOGRAPHIC_SELECTOR = 0xe0100;
const LAST_IDEOGRAPHIC_SELECTOR = 0xe01ef;

const PICTURE = /^\p{Extended_Pictographic}$/u;
const PICTURE_OR_MODIFIER = /^[\p{Extended_Pictographic}\p{Emoji_Modifier}]$/u;
const KEY = /^[0-9#*]$/;
const IDEOGRAPH = /^\p{Unified_Ideograph}$/u;
/** Letters and marks whose form depends on their neighbours: there both joiners are part of the spelling (Unicode, 23.2). */
const SHAPED = new RegExp(
  `^[${['Arabic', 'Syriac', 'Mandaic', 'Nko', 'Mongolian', 'Phags_Pa', 'Devanagari', 'Bengali', 'Gurmukhi', 'Gujarati']
    .concat(['Oriya', 'Tamil', 'Telugu', 'Kannada', 'Malayalam', 'Sinhala', 'Khmer', 'Myanmar', 'Tibetan'])
    .map((script) => `\\p{Script_Extensions=${script}}`)
    .join('')}]$`,
  'u',
);
const LETTER_OR_MARK = /^[\p{L}\p{M}]$/u;

/** All of them: for comparing. */
export function withoutInvisibles(text: string): string {
  return text.replace(INVISIBLES, '');
}

/**
 * Without zero-width characters, soft hyphens and their like. Stay: joiners and styles inside an emoji, joiners between two
 * letters of a script that joins them, and what chooses the form of an ideograph.
 */
export function removeInvisibles(text: string): string {
  return text.replace(INVISIBLES, (run, at: number) => {
    let before = characterBefore(text, at);
    let kept = '';
    const characters = [...run];
    for (const [index, character] of characters.entries()) {
      const after = characters[index + 1] ?? characterAt(text, at + run.length);
      if (!isSeen(character.codePointAt(0)!, before, after)) continue;
      kept += character;
      // A style or tag belongs to its picture: what joins may stand behind it.
      if (character.codePointAt(0) === ZERO_WIDTH_JOINER) before = character;
    }
    return kept;
  });
}

function isSeen(point: number, before: string, after: string): boolean {
  if (point === ZERO_WIDTH_JOINER && PICTURE_OR_MODIFIER.test(before)) return PICTURE.test(after);
  if (point === ZERO_WIDTH_JOINER || point === ZERO_WIDTH_NON_JOINER) return isShaped(before) && isShaped(after);
  if (point === TEXT_STYLE || point === PICTURE_STYLE) {
    return PICTURE_OR_MODIFIER.test(before) || (KEY.test(before) && after === KEYCAP);
  }
  if (point >= FIRST_TAG && point <= LAST_TAG) return before === BLACK_FLAG;
  return point >= FIRST_IDEOGRAPHIC_SELECTOR && point <= LAST_IDEOGRAPHIC_SELECTOR && IDEOGRAPH.test(before);
}

function isShaped(character: string): boolean {
  return SHAPED.test(character) && LETTER_OR_MARK.test(character);
}

function characterAt(text: string, at: number): string {
  const point = text.codePointAt(at);
  return point === undefined ? '' : String.fromCodePoint(point);
}
