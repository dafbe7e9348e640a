// Splits an expression into tokens, reads the values of literals, and describes problems of the text.
import { parseDecimal } from '../../values/decimal.ts';
import { INT_MAX, INT_MIN, UINT_MAX, Uint, type Value } from '../compile/value.ts';

// Problems of an expression when a Template is saved: shown to the author, never an error of a row.

/**
 * One problem. `offset` counts UTF-16 units from the start of the expression; `code` is stable, `message` is English.
 */
export interface ExpressionProblem {
  readonly code: ProblemCode;
  readonly message: string;
  readonly offset: number;
}

/** All problem codes. */
export type ProblemCode =
  | 'EXPR_SYNTAX'
  | 'EXPR_LIMIT'
  | 'EXPR_UNKNOWN_COLUMN'
  | 'EXPR_UNKNOWN_FUNCTION'
  | 'EXPR_UNKNOWN_TABLE'
  | 'EXPR_TYPE'
  | 'EXPR_BAD_ARGUMENT'
  | 'EXPR_UNSUPPORTED';

/** Thrown inside the parser only; parseExpression returns it as a value. */
export class ProblemFound extends Error {
  readonly problem: ExpressionProblem;

  constructor(code: ProblemCode, message: string, offset: number) {
    super(message);
    this.problem = { code, message, offset };
  }
}

// Splits an expression into tokens. The values of literals are read further below, and the grammar is in parser.ts.

/** Kinds of tokens. `operator` includes brackets and the word `in`; `keyword` is true, false and null. */
export type TokenKind =
  | 'identifier'
  | 'quoted'
  | 'keyword'
  | 'int'
  | 'uint'
  | 'double'
  | 'decimal'
  | 'string'
  | 'bytes'
  | 'operator'
  | 'end';

/**
 * `text` is the name, the number without its suffix, the operator, or the source of a string with prefix and quotes.
 */
export interface Token {
  readonly kind: TokenKind;
  readonly text: string;
  readonly start: number;
  readonly end: number;
}

/** All tokens of a source; the last one has the kind `end`. Throws ProblemFound. */
export function tokenize(source: string): Token[] {
  const tokens: Token[] = [];
  let position = skipBlanks(source, 0);
  while (position < source.length) {
    const token = readToken(source, position);
    tokens.push(token);
    position = skipBlanks(source, token.end);
  }
  tokens.push({ kind: 'end', text: 'the end', start: source.length, end: source.length });
  return tokens;
}

/** Reserved words of CEL, which cannot be names of variables or columns without quoting. */
export const RESERVED_WORDS: ReadonlySet<string> = new Set(
  'as break const continue else for function if import let loop package namespace return var void while'.split(' '),
);

const BLANKS = /(?:[\t\n\f\r ]+|\/\/[^\n]*)*/y;
const STRING_START = /[rR]?[bB]?(?:"""|'''|"|')|[bB][rR](?:"""|'''|"|')/y;
// Column names may contain letters of any script. CEL allows ASCII letters only, so this changes no valid CEL.
const NAME = /[\p{L}_][\p{L}\p{M}\p{Nd}_]*/uy;
const QUOTED_NAME = /`([^`\n\r]*)`/y;
const NUMBER = /0[xX][0-9a-fA-F]+|(?:[0-9]+(?:\.[0-9]+)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?/y;
const OPERATOR = /==|!=|<=|>=|&&|\|\||[-+*/%<>!?:.,()[\]{}]/y;

function skipBlanks(source: string, position: number): number {
  BLANKS.lastIndex = position;
  BLANKS.test(source);
  return Math.max(position, BLANKS.lastIndex);
}

function matchAt(pattern: RegExp, source: string, position: number): RegExpExecArray | null {
  pattern.lastIndex = position;
  return pattern.exec(source);
}

function readToken(source: string, start: number): Token {
  const string = matchAt(STRING_START, source, start);
  if (string !== null) return readString(source, start, string[0]);
  const name = matchAt(NAME, source, start);
  if (name !== null) {
    const text = name[0];
    const kind =
      text === 'in' ? 'operator' : text === 'true' || text === 'false' || text === 'null' ? 'keyword' : 'identifier';
    return { kind, text, start, end: start + text.length };
  }
  const number = matchAt(NUMBER, source, start);
  if (number !== null) return readNumber(source, start, number[0]);
  const operator = matchAt(OPERATOR, source, start);
  if (operator !== null) return { kind: 'operator', text: operator[0], start, end: start + operator[0].length };
  const quoted = matchAt(QUOTED_NAME, source, start);
  if (quoted !== null) {
    if (quoted[1] === '') throw new ProblemFound('EXPR_SYNTAX', 'A name in backticks cannot be empty.', start);
    return { kind: 'quoted', text: quoted[1]!, start, end: start + quoted[0].length };
  }
  throw new ProblemFound('EXPR_SYNTAX', strayCharacter(source, start), start);
}

const PLAIN_QUOTES = 'Write plain quotes: "..." or \'...\'.';

function strayCharacter(source: string, start: number): string {
  const character = String.fromCodePoint(source.codePointAt(start)!);
  if (source.startsWith('=~', start))
    return 'The sign =~ has no meaning here. Write x.matches("a regular expression").';
  if (source.startsWith('=>', start)) return 'The sign => has no meaning here. Write >= for at least.';
  if (source.startsWith('=<', start)) return 'The sign =< has no meaning here. Write <= for at most.';
  const hints: Readonly<Record<string, string>> = {
    '=': source.slice(0, start).trim() === '' ? 'An expression begins without =.' : 'Write == to compare.',
    '&': 'Write && for and, + to join texts.',
    '|': 'Write || for or.',
    '`': 'A name in backticks is not closed.',
    $: 'Write the name of a column alone, without $.',
    '@': 'Write the name of a column alone, without @.',
    '~': 'Write x.matches("a regular expression").',
    '#': 'Write a comment after //.',
    ';': 'Separate arguments with commas.',
    '“': PLAIN_QUOTES,
    '”': PLAIN_QUOTES,
    '„': PLAIN_QUOTES,
    '‘': PLAIN_QUOTES,
    '’': PLAIN_QUOTES,
    '≠': 'Write != for not equal.',
    '≤': 'Write <=.',
    '≥': 'Write >=.',
    '^': 'There are no powers: write x * x.',
  };
  const hint = Object.hasOwn(hints, character) ? ` ${hints[character]}` : '';
  return `The character ${JSON.stringify(character)} has no meaning here.${hint}`;
}

function readNumber(source: string, start: number, text: string): Token {
  const hexadecimal = /^0[xX]/.test(text);
  let end = start + text.length;
  let kind: TokenKind = hexadecimal || /^[0-9]+$/.test(text) ? 'int' : 'double';
  const suffix = source.charAt(end);
  if (kind === 'int' && (suffix === 'u' || suffix === 'U')) {
    kind = 'uint';
    end++;
  } else if (!hexadecimal && (suffix === 'd' || suffix === 'D')) {
    kind = 'decimal';
    end++;
  }
  if (matchAt(NAME, source, end) !== null) {
    throw new ProblemFound('EXPR_SYNTAX', 'A number is followed by a letter. Put an operator or a space between.', end);
  }
  return { kind, text, start, end };
}

function readString(source: string, start: number, opening: string): Token {
  const raw = /[rR]/.test(opening);
  const kind = /[bB]/.test(opening) ? 'bytes' : 'string';
  const quote = opening.replace(/^[rRbB]+/, '');
  let position = start + opening.length;
  while (position < source.length) {
    if (source.startsWith(quote, position)) {
      const end = position + quote.length;
      return { kind, text: source.slice(start, end), start, end };
    }
    const character = source.charAt(position);
    if (quote.length === 1 && (character === '\n' || character === '\r')) break;
    position += character === '\\' && !raw ? 2 : 1;
  }
  throw new ProblemFound('EXPR_SYNTAX', `A text that begins with ${quote} is not closed.`, start);
}

// Values of literals: escapes of strings and bytes, and ranges of numbers.

/** The value of a literal token. `negative` if a minus sign directly precedes a number. Throws ProblemFound. */
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

/** Returns a text; in a bytes literal, a number for a single byte. */
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
