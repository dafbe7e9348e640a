// Owns cutting an expression into tokens. What strings and numbers mean is literal.ts, what tokens mean together is
// parser.ts.
import { ProblemFound } from './problem.ts';

/** Kinds of tokens; `operator` includes brackets and the word `in`, `keyword` is true, false and null. */
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

/** `text` is the name, the number without its suffix, the operator, or a string's source with its prefix and quotes. */
export interface Token {
  readonly kind: TokenKind;
  readonly text: string;
  readonly start: number;
  readonly end: number;
}

/** All tokens of a source, the last one of kind `end`. Throws ProblemFound. */
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

/** Words that CEL keeps for itself: they cannot be names of variables or columns without quoting. */
export const RESERVED_WORDS: ReadonlySet<string> = new Set(
  'as break const continue else for function if import let loop package namespace return var void while'.split(' '),
);

const BLANKS = /(?:[\t\n\f\r ]+|\/\/[^\n]*)*/y;
const STRING_START = /[rR]?[bB]?(?:"""|'''|"|')|[bB][rR](?:"""|'''|"|')/y;
// A column's name may hold letters of any script; CEL itself knows ASCII letters only, so nothing of CEL changes meaning.
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
    '#': 'A remark stands behind //.',
    ';': 'Arguments are parted by commas.',
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
