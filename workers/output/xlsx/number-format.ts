// Number formats of spreadsheets (ECMA-376 part 1, 18.8.31): whether a code can be one, and what cells it is for. What it makes
// of a number is the spreadsheet's to know.
import type { SheetForm } from '../../kernel/plain/emit-sheet.ts';

/** What a spreadsheet takes, in UTF-16 units. */
const CODE_LENGTH_MAX = 255;
/** For positive, negative, zero, and text. */
const SECTIONS_MAX = 4;

/** What stands for itself: a quoted text, an escaped character, the width or the repetition of one; and what stands in brackets. */
const LITERAL = /"[^"]*"|[\\_*][\s\S]|\[[^\]]*\]/g;
/** A duration: hours, minutes or seconds that go on counting. */
const DURATION = /\[(?:h+|m+|s+)\]/i;
const WORDS = /General|AM\/PM|A\/P|E[+-]/gi;
const TIME_LETTERS = /[ymdhs]/i;
/** Placeholders of digits and texts, letters of dates (with the eras of Japan and Thailand), and what needs no quotes. */
const KNOWN = /^[0-9#?.,%@ymdhsegb$€£¥+\-/():!^&'~{}<>= ]*$/i;

/** What is wrong with a code, or null. */
export function numberFormatProblem(code: string): string | null {
  if (code.length > CODE_LENGTH_MAX) {
    return `A number format has at most ${CODE_LENGTH_MAX} characters, this one has ${code.length}.`;
  }
  const rest = withoutLiterals(code);
  if (rest.includes('"')) return 'A quote in the number format is not closed.';
  if (/[[\]]/.test(rest)) return 'A bracket in the number format is not closed.';
  if (/[\\_*]/.test(rest)) return 'The number format ends where a character has to follow.';
  const sections = rest.split(';');
  if (sections.length > SECTIONS_MAX) return `A number format has at most ${SECTIONS_MAX} sections.`;
  if (!sections.every((section) => KNOWN.test(section.replace(WORDS, '')))) {
    return 'The number format holds a character that means nothing there. Put text in quotes, such as 0.00" EUR".';
  }
  return null;
}

/** The cells that a code is for: dates and times where it names their parts, texts where it is the text's, else numbers. */
export function formsOf(code: string): readonly SheetForm[] {
  // A sum of hours and minutes is a number of days.
  if (DURATION.test(code)) return ['number', 'date', 'datetime', 'time'];
  if (TIME_LETTERS.test(withoutLiterals(code).replace(/General/gi, ''))) {
    return ['date', 'datetime', 'time'];
  }
  return code === '@' ? ['text', 'number', 'date', 'datetime', 'time', 'boolean'] : ['number'];
}

function withoutLiterals(code: string): string {
  return code.replace(LITERAL, '');
}
