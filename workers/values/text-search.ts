// Finds a text in another in time that grows with both lengths. The runtime's own search takes their product at worst, which
// for long texts that repeat themselves is hours; for short ones it is the faster.

/** The runtime's own search does not do more than so much for each character. */
const SHORT_LENGTH_MAX = 32;

/** Like String.prototype.indexOf. Prepares a long text anew each time: looking on behind each place found stays linear. */
export function indexOfText(text: string, part: string, from = 0): number {
  return part.length <= SHORT_LENGTH_MAX ? text.indexOf(part, from) : longIndexOf(text, part, from);
}

/** Like String.prototype.lastIndexOf. */
export function lastIndexOfText(text: string, part: string, from = text.length): number {
  if (part.length <= SHORT_LENGTH_MAX) return text.lastIndexOf(part, from);
  const end = Math.min(from + part.length, text.length);
  const found = longIndexOf(reversed(text.slice(0, end)), reversed(part), 0);
  return found < 0 ? -1 : end - found - part.length;
}

/** Like String.prototype.split with a text that is not empty; at most `limit` pieces. */
export function splitText(text: string, separator: string, limit?: number): string[] {
  if (separator.length <= SHORT_LENGTH_MAX) return text.split(separator, limit);
  const pieces: string[] = [];
  let from = 0;
  for (let at = indexOfText(text, separator); at >= 0; at = indexOfText(text, separator, from)) {
    if (pieces.length === limit) return pieces;
    pieces.push(text.slice(from, at));
    from = at + separator.length;
  }
  if (pieces.length !== limit) pieces.push(text.slice(from));
  return pieces;
}

/** Like String.prototype.replaceAll with a text that is not empty; `by` is put as it is. */
export function replaceAllText(text: string, part: string, by: string): string {
  if (part.length <= SHORT_LENGTH_MAX) return text.replace(literalPattern(part), by.replaceAll('$', '$$$$'));
  return splitText(text, part).join(by);
}

/** String.replaceAll makes a node of 32 bytes of each place, 130 MB of a long cell; a pattern writes the text at once. */
function literalPattern(text: string): RegExp {
  return new RegExp(text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&'), 'g');
}

/** Knuth, Morris, Pratt: Fast Pattern Matching in Strings (1977). */
function longIndexOf(text: string, part: string, from: number): number {
  if (part.length > text.length - from) return -1;
  const borders = bordersOf(part);
  let matched = 0;
  for (let at = from; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    while (matched > 0 && part.charCodeAt(matched) !== unit) matched = borders[matched - 1]!;
    if (part.charCodeAt(matched) === unit) matched++;
    if (matched === part.length) return at - part.length + 1;
  }
  return -1;
}

/** For each start of the text, ending at an index, the length of the longest shorter start that it also ends with. */
function bordersOf(part: string): Int32Array {
  const borders = new Int32Array(part.length);
  let length = 0;
  for (let at = 1; at < part.length; at++) {
    const unit = part.charCodeAt(at);
    while (length > 0 && part.charCodeAt(length) !== unit) length = borders[length - 1]!;
    if (part.charCodeAt(length) === unit) length++;
    borders[at] = length;
  }
  return borders;
}

/** Unit by unit: nobody reads it. */
function reversed(text: string): string {
  const units = new Uint16Array(text.length);
  for (let at = 0; at < text.length; at++) units[text.length - 1 - at] = text.charCodeAt(at);
  return Buffer.from(units.buffer).toString('utf16le');
}
