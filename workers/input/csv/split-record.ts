// Splits the text of one record exactly by the rules of docs/reference/input.md, whatever its dialect. Used where csv-parse has lost
// how a field was written (text behind a closing quote), and to find a place in a record.

export interface SplitRecord {
  readonly texts: readonly string[];
  /** Where each field begins. */
  readonly starts: readonly number[];
  /** Fields with text behind their closing quote. */
  readonly strays: readonly number[];
  /** Where the quoted field begins that is not closed, or -1. */
  readonly open: number;
}

/** @param quote '' for none */
export function splitRecord(text: string, delimiter: string, quote: string): SplitRecord {
  const texts: string[] = [];
  const starts: number[] = [];
  const strays: number[] = [];
  let at = 0;
  for (;;) {
    const start = at;
    starts.push(start);
    const closing = quote !== '' && text.startsWith(quote, at) ? closingQuote(text, quote, at + quote.length) : -2;
    if (closing === -1) return { texts, starts, strays, open: start };
    const from = closing === -2 ? start : closing + quote.length;
    at = fieldEnd(text, from, delimiter);
    if (closing === -2 || at > from) {
      if (closing !== -2) strays.push(texts.length);
      texts.push(text.slice(start, at));
    } else texts.push(text.slice(start + quote.length, closing).replaceAll(quote + quote, quote));
    if (!text.startsWith(delimiter, at)) return { texts, starts, strays, open: -1 };
    at += delimiter.length;
  }
}

function closingQuote(text: string, quote: string, from: number): number {
  let at = text.indexOf(quote, from);
  while (at >= 0 && text.startsWith(quote, at + quote.length)) at = text.indexOf(quote, at + 2 * quote.length);
  return at;
}

function fieldEnd(text: string, from: number, delimiter: string): number {
  for (let at = from; at < text.length; at++) {
    const character = text[at];
    if (character === '\n' || character === '\r' || text.startsWith(delimiter, at)) return at;
  }
  return text.length;
}
