// Owns what the literals of an expression mean: escapes of strings and bytes, ranges of numbers.
import { parseDecimal } from '../../values/decimal.ts';
import { INT_MAX, INT_MIN, UINT_MAX, Uint, type Value } from '../compile/value.ts';
import type { Token } from './lexer.ts';
import { ProblemFound } from './problem.ts';

/** The value of a literal token; `negative` when a minus sign stands right before a number. Throws ProblemFound. */
export function literalValue(token: Token, negative: boolean): Value {
  switch (token.kind) {
    case 'keyword':
      return token.text === 'null' ? null : token.text === 'true';
    case 'int': {
      const value = negative ? -BigInt(token.text) : BigInt(token.text);
      if (value < INT_MIN || value > INT_MAX)
        throw outOfRange(token, 'An int has 64 bits: at most 9223372036854775807.');
      return value;
    }
    case 'uint': {
      const value = BigInt(token.text);
      if (value > UINT_MAX) throw outOfRange(token, 'A uint has 64 bits: at most 18446744073709551615.');
      return new Uint(value);
    }
    case 'double': {
      const value = Number(token.text);
      if (!Number.isFinite(value)) throw outOfRange(token, 'The number is too large for a double.');
      return negative ? -value : value;
    }
    case 'decimal': {
      const value = parseDecimal(`${negative ? '-' : ''}${token.text}`, true);
      if (value === null) throw outOfRange(token, 'The decimal has too many digits.');
      return value;
    }
    case 'bytes':
      return unquote(token, true) as Uint8Array;
    default:
      return unquote(token, false) as string;
  }
}

const SIMPLE_ESCAPES: Readonly<Record<string, string>> = {
  a: '\x07',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
  '"': '"',
  "'": "'",
  '\\': '\\',
  '?': '?',
  '`': '`',
};

const ESCAPE = /\\(?:([abfnrtv"'\\?`])|[xX]([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([0-3][0-7]{2}))/y;

function outOfRange(token: Token, message: string): ProblemFound {
  return new ProblemFound('EXPR_SYNTAX', message, token.start);
}

function unquote(token: Token, bytes: boolean): string | Uint8Array {
  const opening = /^([rRbB]*)("""|'''|"|')/.exec(token.text)!;
  const [prefix, quote] = [opening[1]!, opening[2]!];
  const body = token.text.slice(prefix.length + quote.length, -quote.length);
  if (/[rR]/.test(prefix) || !body.includes('\\')) return bytes ? new TextEncoder().encode(body) : body;
  const pieces: (string | number)[] = [];
  let position = 0;
  while (position < body.length) {
    const next = body.indexOf('\\', position);
    if (next !== position) pieces.push(body.slice(position, next < 0 ? body.length : next));
    if (next < 0) break;
    ESCAPE.lastIndex = next;
    const match = ESCAPE.exec(body);
    const offset = token.start + prefix.length + quote.length + next;
    if (match === null) {
      throw new ProblemFound(
        'EXPR_SYNTAX',
        'This escape is unknown. Write \\\\ for a backslash, or r"..." for a text without escapes.',
        offset,
      );
    }
    pieces.push(escapeValue(match, bytes, offset));
    position = next + match[0].length;
  }
  if (!bytes) return pieces.join('');
  return Buffer.concat(
    pieces.map((piece) => (typeof piece === 'number' ? Uint8Array.of(piece) : new TextEncoder().encode(piece))),
  );
}

/** A text; a number stands for one byte of a bytes literal. */
function escapeValue(match: RegExpExecArray, bytes: boolean, offset: number): string | number {
  const [, simple, two, four, eight, octal] = match;
  if (simple !== undefined) return SIMPLE_ESCAPES[simple]!;
  const code = octal !== undefined ? Number.parseInt(octal, 8) : Number.parseInt((two ?? four ?? eight)!, 16);
  if (bytes) {
    if (two !== undefined || octal !== undefined) return code;
    throw new ProblemFound('EXPR_SYNTAX', 'Bytes take \\x and octal escapes only.', offset);
  }
  if (code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff)) {
    throw new ProblemFound('EXPR_SYNTAX', 'This escape names no character.', offset);
  }
  return String.fromCodePoint(code);
}
