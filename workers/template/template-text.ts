// Parses a Template's text, JSON or YAML, with the positions of all values, and converts positions to problems.

import {
  Composer,
  type CST,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  Lexer,
  type Node,
  type Pair,
  Parser,
  stringify,
} from 'yaml';
import {
  checkedNumber,
  LineTable,
  PROBLEMS_MAX,
  placeOf,
  type SourceNode,
  type SourceProblem,
  SourceRefused,
  type SourceResult,
  TEMPLATE_ALIASES_MAX,
  TEMPLATE_CHARACTERS_MAX,
  TEMPLATE_DEPTH_MAX,
  TEMPLATE_NODES_MAX,
} from './source-node.ts';
import type { Problem } from './template.ts';

// Objects whose keys keep the order of the Template's text. JavaScript moves keys that are whole numbers to the
// front, in ascending order. Column names and texts to replace may be whole numbers, and their order matters.

/** A key that JavaScript would move. */
const WHOLE_NUMBER = /^(?:0|[1-9][0-9]*)$/;

/**
 * Creates a read-only object without a prototype. `Object.entries` and similar functions return the keys in the given
 * order.
 */
export function orderedRecord(entries: readonly (readonly [string, unknown])[]): Record<string, unknown> {
  const record: Record<string, unknown> = Object.create(null);
  let isMoved = false;
  for (const [key, value] of entries) {
    isMoved ||= WHOLE_NUMBER.test(key);
    record[key] = value;
  }
  if (!isMoved) return record;
  const keys = [...new Set(entries.map(([key]) => key))];
  return new Proxy(record, { ownKeys: () => keys });
}

// Reads a Template in JSON: strict RFC 8259, unique keys, positions of all values. JSON.parse reports no positions,
// and of two equal keys it silently uses the last.

/** The tree of a JSON text, or the first position at which it is not valid JSON. */
export function readJson(text: string): SourceResult {
  try {
    return { root: new JsonReader(text).read() };
  } catch (error) {
    if (error instanceof SourceRefused) return { problems: [error.problem] };
    throw error;
  }
}

class JsonReader {
  readonly #text: string;
  #at = 0;
  #nodes = 0;

  constructor(text: string) {
    this.#text = text;
  }

  read(): SourceNode {
    this.#skipSpace();
    const root = this.#value(this.#at, 0);
    this.#skipSpace();
    if (this.#at < this.#text.length) throw this.#refusal('There is more text after the end of the Template.');
    return root;
  }

  #value(at: number, depth: number): SourceNode {
    if (++this.#nodes > TEMPLATE_NODES_MAX) {
      throw this.#refusal(`A Template has at most ${TEMPLATE_NODES_MAX} values.`, 'TOO_LARGE');
    }
    if (depth > TEMPLATE_DEPTH_MAX) {
      throw this.#refusal(`A Template is nested at most ${TEMPLATE_DEPTH_MAX} levels deep.`, 'TOO_DEEP');
    }
    const first = this.#text[this.#at];
    if (first === '{') return this.#object(at, depth);
    if (first === '[') return this.#array(at, depth);
    return { at, value: first === '"' ? this.#string() : this.#literal(), children: null };
  }

  #object(at: number, depth: number): SourceNode {
    const children = new Map<string, SourceNode>();
    this.#at++;
    for (let more = !this.#took('}'); more; more = this.#another('}')) {
      this.#skipSpace();
      const keyAt = this.#at;
      if (this.#text[keyAt] !== '"') throw this.#refusal('A key in double quotes is missing here.');
      const key = this.#string();
      if (children.has(key))
        throw new SourceRefused(keyAt, 'DUPLICATE_KEY', `The key ${JSON.stringify(key)} is given twice.`);
      if (!this.#took(':')) throw this.#refusal('A colon is missing here.');
      this.#skipSpace();
      const child = this.#value(keyAt, depth + 1);
      children.set(key, child);
    }
    return { at, value: orderedRecord([...children].map(([key, child]) => [key, child.value])), children };
  }

  #array(at: number, depth: number): SourceNode {
    const children: SourceNode[] = [];
    this.#at++;
    for (let more = !this.#took(']'); more; more = this.#another(']')) {
      this.#skipSpace();
      children.push(this.#value(this.#at, depth + 1));
    }
    return { at, value: children.map((child) => child.value), children };
  }

  /** Called after an item. Returns true at a comma and false at the end. */
  #another(end: string): boolean {
    if (this.#took(end)) return false;
    if (this.#took(',')) return true;
    throw this.#refusal(`A comma or "${end}" is missing here.`);
  }

  #string(): string {
    const start = this.#at;
    let end = start + 1;
    for (; this.#text[end] !== '"'; end++) {
      if (end >= this.#text.length)
        throw new SourceRefused(start, 'SYNTAX', 'The text in quotes has no closing quote.');
      if (this.#text[end] === '\\') end++;
    }
    this.#at = end + 1;
    try {
      return JSON.parse(this.#text.slice(start, end + 1)) as string;
    } catch {
      throw new SourceRefused(start, 'SYNTAX', 'The text in quotes contains a control character or an unknown escape.');
    }
  }

  #literal(): unknown {
    const word = /[-+.\w]*/y;
    word.lastIndex = this.#at;
    const text = word.exec(this.#text)![0];
    const start = this.#at;
    if (text === 'true' || text === 'false' || text === 'null') {
      this.#at += text.length;
      return text === 'null' ? null : text === 'true';
    }
    if (!/^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/.test(text)) throw this.#refusal('A value is missing here.');
    this.#at += text.length;
    return checkedNumber(Number(text), start);
  }

  #took(character: string): boolean {
    this.#skipSpace();
    if (this.#text[this.#at] !== character) return false;
    this.#at++;
    return true;
  }

  #skipSpace(): void {
    const space = /[ \t\r\n]*/y;
    space.lastIndex = this.#at;
    space.test(this.#text);
    this.#at = space.lastIndex;
  }

  #refusal(message: string, code = 'SYNTAX'): SourceRefused {
    return new SourceRefused(this.#at, code, message);
  }
}

// Reads a Template in YAML: 1.2 core schema, one document, unique keys, no tags, few aliases. The only importer of
// `yaml`. The depth is checked before the tree is built, because the library builds it by recursion.

/** The tree of a YAML text, or its YAML problems. */
export function readYaml(text: string): SourceResult {
  try {
    const tokens = shallowTokens(text);
    // Unique keys are checked below, because the library compares every key with every other key.
    const options = { version: '1.2', schema: 'core', uniqueKeys: false, merge: false } as const;
    const documents = [...new Composer(options).compose(tokens)];
    const problems = documents.flatMap(({ errors }) => errors.map(syntaxProblem)).slice(0, PROBLEMS_MAX);
    if (problems.length > 0) return { problems: withoutConsequences(text, problems) };
    const document = documents[0];
    if (document?.contents == null) throw new SourceRefused(0, 'SYNTAX', 'The Template is empty.');
    if (documents.length > 1) {
      throw severalDocuments(documents[1]!.range[0]);
    }
    if (document.directives?.yaml.version !== '1.2') {
      throw new SourceRefused(0, 'YAML_VERSION', 'A Template is YAML 1.2: remove the %YAML line.');
    }
    return { root: new TreeBuilder().build(document.contents as Node, null, 0) };
  } catch (error) {
    if (error instanceof SourceRefused) return { problems: [error.problem] };
    throw error;
  }
}

/** Maximum number of lexemes of a YAML text, about 50,000 lines: the library takes seconds for a million lexemes. */
const LEXEMES_MAX = 300_000;

/** The lexer emits this before plain text, which may start with any character. */
const PLAIN_TEXT_FOLLOWS = '\u001f';

/** The lexer emits this where a list or mapping in brackets ends without its bracket, because the next line is less indented. */
const BRACKETS_END = '\u0018';

/** Markers that the lexer inserts. They are not part of the text. */
const INSERTED = /^[\u0002\u0018\u001f\ufeff]$/;

/** Refuses invalid texts in linear time. For these texts, the library takes seconds and hundreds of MiB. */
function checkLexemes(text: string): void {
  let left = LEXEMES_MAX;
  let at = 0;
  let depth = 0;
  let [closings, directives, documents] = [0, 0, 0];
  let before = '';
  for (const lexeme of new Lexer().lex(text)) {
    if (--left < 0) {
      throw new SourceRefused(0, 'TOO_LARGE', 'The Template is too large as YAML. Move lists into reference tables.');
    }
    if (before !== PLAIN_TEXT_FOLLOWS) {
      if ((lexeme === '[' || lexeme === '{') && ++depth > TEMPLATE_DEPTH_MAX + 1) throw tooDeep(at);
      if (lexeme === ']' || lexeme === '}') depth > 0 ? depth-- : closings++;
      if (lexeme === '---') documents++;
      if (lexeme.startsWith('%')) directives++;
      if (closings > PROBLEMS_MAX) throw new SourceRefused(at, 'SYNTAX', 'Brackets are closed that were never opened.');
      if (documents > PROBLEMS_MAX) throw severalDocuments(at);
      if (directives > PROBLEMS_MAX) throw new SourceRefused(at, 'SYNTAX', 'Remove the lines that begin with "%".');
    }
    before = lexeme;
    if (!INSERTED.test(lexeme)) at += lexeme.length;
  }
}

/** Parses the text. Refuses it if it has too many tokens or is nested too deeply. */
function shallowTokens(text: string): CST.Token[] {
  checkLexemes(text);
  const tokens = [...new Parser().parse(text)];
  const open: { token: CST.Token; depth: number }[] = tokens.map((token) => ({ token, depth: 0 }));
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { token, depth } = next;
    // One level more than the limit: the document itself counts as a level, and a single value does not.
    if (depth > TEMPLATE_DEPTH_MAX + 1) throw tooDeep(token.offset);
    if (token.type === 'document' && token.value !== undefined) open.push({ token: token.value, depth });
    if (!('items' in token)) continue;
    for (const item of token.items) {
      if (item.key) open.push({ token: item.key, depth: depth + 1 });
      if (item.value) open.push({ token: item.value, depth: depth + 1 });
    }
  }
  return tokens;
}

function severalDocuments(at: number): SourceRefused {
  const message =
    'A Template is one YAML document: remove the line "---", or what follows it if that is another document.';
  return new SourceRefused(at, 'SYNTAX', message);
}

function tooDeep(at: number): SourceRefused {
  return new SourceRefused(at, 'TOO_DEEP', `A Template is nested at most ${TEMPLATE_DEPTH_MAX} levels deep.`);
}

function syntaxProblem(error: { readonly pos: readonly [number, number]; readonly message: string }): SourceProblem {
  const plain = PLAIN_MESSAGES.find(([pattern]) => pattern.test(error.message))?.[1];
  const message = plain ?? `${error.message}.`.replace(/\.\.$/, '.');
  return { at: error.pos[0], code: 'SYNTAX', message: `Not valid YAML: ${message}` };
}

/** If a quote or bracket is never closed, the library reports a place after it, often far below. */
function atOpening(text: string, problem: SourceProblem): SourceProblem {
  const opened = /^Not valid YAML: this (quote|"[{[]") is never closed/.exec(problem.message)?.[1];
  if (opened === undefined) return problem;
  const at = opened === 'quote' ? openQuote(text, problem.at) : openBracket(text, problem.at, opened[1]!);
  return at === null ? problem : { ...problem, at };
}

/** Quoted texts that are closed, as the lexer returns them. */
const CLOSED_QUOTE = /^(?:"(?:[^"\\]|\\.)*"|'(?:[^']|'')*')$/s;

/** The first text in quotes that is never closed. Quotes within other texts do not count. */
function openQuote(text: string, end: number): number | null {
  for (const { lexeme, at } of lexemesOf(text)) {
    if (at > end) return null;
    if (/^["']/.test(lexeme) && !CLOSED_QUOTE.test(lexeme)) return at;
  }
  return null;
}

/** The first bracket of the list or mapping that is still open at `end`, or where the next item begins. */
function openBracket(text: string, end: number, bracket: string): number | null {
  const open: { readonly lexeme: string; readonly at: number }[] = [];
  const first = (): number | null => open.find(({ lexeme }) => lexeme === bracket)?.at ?? null;
  for (const { lexeme, at } of lexemesOf(text)) {
    if (at >= end) break;
    if (lexeme === '{' || lexeme === '[') open.push({ lexeme, at });
    else if (lexeme === '}' || lexeme === ']') open.pop();
    else if (lexeme === BRACKETS_END && open.length > 0) return first();
  }
  return first();
}

/** The lexemes of a text with their offsets, without plain texts and the contents of block texts. */
function* lexemesOf(text: string): Iterable<{ readonly lexeme: string; readonly at: number }> {
  let at = 0;
  let before = '';
  for (const lexeme of new Lexer().lex(text)) {
    if (before !== PLAIN_TEXT_FOLLOWS) yield { lexeme, at };
    before = lexeme;
    if (!INSERTED.test(lexeme)) at += lexeme.length;
  }
}

const DASH_MISSING =
  'Not valid YAML: this line lacks its "- ". Write "- " before each item of a list. If the line belongs to the item above, indent it further.';

/** Messages for a line that has the indentation of a list but does not begin with "- ", or for the item after it. */
const INDENTED_WRONGLY = /^Not valid YAML: (?:this line is not|this list item is not|write "key: value")/;

/**
 * Offset of the item that lacks its "- ": the line itself, or the line above it with the same indentation.
 * @param line from 1
 */
function lineWithoutDash(text: string, line: number): number | null {
  const lines = text.split('\n');
  const indent = (index: number): number => lines[index]!.search(/[^ ]/);
  const isItem = (index: number | null): boolean => index !== null && /^ *-(?:\s|$)/.test(lines[index]!);
  /** The nearest line above that is not indented further; null: it is indented less. */
  const before = (index: number): number | null => {
    let above = index - 1;
    while (above >= 0 && (/^\s*(?:#|$)/.test(lines[above]!) || indent(above) > indent(index))) above--;
    return above >= 0 && indent(above) === indent(index) ? above : null;
  };
  const at = line - 1;
  const above = before(at);
  let found: number | null = null;
  // At the margin, the line may be the next section, if no item follows it.
  if (!isItem(at) && isItem(above) && indent(at) > 0) found = at;
  // A line that ends with a colon may be the one that the list belongs to.
  else if (isItem(at) && above !== null && !isItem(above) && (isItem(before(above)) || indent(at) > 0)) found = above;
  return found === null ? null : lines.slice(0, found).join('\n').length + (found === 0 ? 0 : 1) + indent(found);
}

/** Most problems after the first one in a line, and all after an open quote, are only its consequences. */
function withoutConsequences(text: string, problems: readonly SourceProblem[]): readonly SourceProblem[] {
  const lines = new LineTable(text);
  const seen = new Set<number>();
  const left: SourceProblem[] = [];
  for (const found of problems) {
    const withoutDash = INDENTED_WRONGLY.test(found.message)
      ? lineWithoutDash(text, lines.position(found.at).line)
      : null;
    if (withoutDash !== null) {
      left.push({ at: withoutDash, code: 'SYNTAX', message: DASH_MISSING });
      break;
    }
    const problem = atOpening(text, found);
    const { line } = lines.position(problem.at);
    if (!seen.has(line)) left.push(problem);
    seen.add(line);
    if (problem.message.includes('this quote is never closed')) break;
  }
  return left;
}

const QUOTE_TEXTS =
  'Put a text that holds ": ", " #", a bracket or a comma into quotes, as most expressions do: \'a ? "b" : "c"\'.';

const QUOTE_START = 'Put it into quotes, as in columns: "*" or where: \'`Invoice No` == "7"\'.';

/** What the messages of the library mean for the author of a Template, by message. */
const PLAIN_MESSAGES: readonly (readonly [RegExp, string])[] = [
  [/^Tabs are not allowed/, 'this line is indented with a tab. Indent with spaces.'],
  [
    /^All sequence items must|^A block sequence may not be used/,
    'this list item is not indented like the others. Give all items of a list the same number of spaces.',
  ],
  [
    /^All mapping items must|^Sequence item without|at the same column|Bad indentation/,
    'this line is not indented like the lines above it. Give all keys of one mapping the same number of spaces.',
  ],
  [
    /^Nested mappings are not allowed/,
    `there is a second ":" in this value, or the next line has too many spaces. ${QUOTE_TEXTS}`,
  ],
  [/must be sufficiently indented and end with a \}/, 'this "{" is never closed. Write the missing "}".'],
  [/must be sufficiently indented and end with a \]/, 'this "[" is never closed. Write the missing "]".'],
  [
    /^Missing closing ["']quote/,
    'this quote is never closed. Close each quote on the same line, or before the next key.',
  ],
  [/^Alias cannot be/, `a text that begins with "*" or "&" needs quotes. ${QUOTE_START}`],
  [/^Plain value cannot start/, `a text that begins with this character needs quotes. ${QUOTE_START}`],
  [/^Invalid escape sequence/, "this \\ has no meaning in double quotes. Write patterns in single quotes: '\\d+'."],
  [/^Missing , or : between|^Missing , between/, `a comma is missing between two entries. ${QUOTE_TEXTS}`],
  [/^Unexpected flow-(?:map|seq)-end/, 'this bracket closes nothing. Remove it, or write the opening one.'],
  [
    /^Implicit (?:map )?keys need/,
    `write "key: value" in this line, with a space after the ":", or put a text into quotes. ${QUOTE_TEXTS}`,
  ],
  [
    /^Unexpected .* at node end/,
    `this follows a complete value. Remove it, write a comma before it, or put the whole text into quotes. ${QUOTE_TEXTS}`,
  ],
  [/collections are not allowed|^Unexpected/, `this is not expected here. ${QUOTE_TEXTS}`],
];

function noAnchor(name: string): string {
  return `"*${name}" repeats a value that is marked with "&${name}" above it, and no value is. If it is meant as a text, put it into quotes: "*${name}".`;
}

class TreeBuilder {
  readonly #anchors = new Map<string, Node>();
  readonly #open = new Set<Node>();
  #nodes = 0;
  #aliases = 0;

  /** @param keyAt offset of the node's key, if it has one */
  build(node: Node, keyAt: number | null, depth: number): SourceNode {
    const at = keyAt ?? node.range?.[0] ?? 0;
    if (++this.#nodes > TEMPLATE_NODES_MAX) {
      throw new SourceRefused(
        at,
        'TOO_LARGE',
        `A Template has at most ${TEMPLATE_NODES_MAX} values, aliases included.`,
      );
    }
    if (depth > TEMPLATE_DEPTH_MAX) throw tooDeep(at);
    if (isAlias(node)) return this.build(this.#resolve(node.source, at), at, depth);
    if ('tag' in node && node.tag !== undefined) {
      const message =
        'Tags ("!...") are not used in Templates. Remove the tag, or write an expression that begins with ! in quotes.';
      throw new SourceRefused(at, 'YAML_TAG', message);
    }
    if (node.anchor !== undefined) this.#anchors.set(node.anchor, node);
    this.#open.add(node);
    const built = this.#content(node, at, depth);
    this.#open.delete(node);
    return built;
  }

  #content(node: Node, at: number, depth: number): SourceNode {
    if (isMap(node)) return this.#map(node.items as Pair<Node, Node | null>[], at, depth);
    if (isSeq(node)) {
      const children = (node.items as Node[]).map((item) => this.build(item, null, depth + 1));
      return { at, value: children.map((child) => child.value), children };
    }
    const value = isScalar(node) ? node.value : null;
    return { at, value: typeof value === 'number' ? checkedNumber(value, at) : value, children: null };
  }

  #map(items: readonly Pair<Node, Node | null>[], at: number, depth: number): SourceNode {
    const children = new Map<string, SourceNode>();
    for (const item of items) {
      const keyAt = item.key?.range?.[0] ?? at;
      const key = this.#key(item.key, keyAt);
      if (children.has(key))
        throw new SourceRefused(keyAt, 'DUPLICATE_KEY', `The key ${JSON.stringify(key)} is given twice.`);
      const child =
        item.value === null ? { at: keyAt, value: null, children: null } : this.build(item.value, keyAt, depth + 1);
      children.set(key, child);
    }
    return { at, value: orderedRecord([...children].map(([key, child]) => [key, child.value])), children };
  }

  /** Keys are texts exactly as written: `01` stays "01", `no` stays "no". */
  #key(key: Node | null, at: number): string {
    if (!isScalar(key) || key.tag !== undefined) {
      throw new SourceRefused(at, 'BAD_KEY', 'A key is a plain text. Put it in quotes.');
    }
    if (typeof key.value === 'string') return key.value;
    return key.source ?? String(key.value ?? '');
  }

  #resolve(name: string, at: number): Node {
    if (++this.#aliases > TEMPLATE_ALIASES_MAX) {
      const message = `A Template has at most ${TEMPLATE_ALIASES_MAX} aliases. Use \`fragments\` and \`use\`.`;
      throw new SourceRefused(at, 'TOO_MANY_ALIASES', message);
    }
    const node = this.#anchors.get(name);
    if (node === undefined) throw new SourceRefused(at, 'SYNTAX', noAnchor(name));
    if (this.#open.has(node)) throw new SourceRefused(at, 'SYNTAX', 'The alias is inside the value that it repeats.');
    return node;
  }
}

// Parses a Template's text, JSON or YAML, and converts positions in it to problems with pointer, line and column.

export type TemplateFormat = 'json' | 'yaml';

/** A Template as it is stored. */
export interface TemplateText {
  readonly source: string;
  readonly format: TemplateFormat;
  /** Hash of the source's bytes, in lower-case hex. */
  readonly sha256: string;
}

/** A Template's text that is valid JSON or YAML. */
export interface ParsedTemplate {
  readonly root: SourceNode;
  /** Creates a problem at a position of the text. */
  problem(pointer: string, code: string, message: string): Problem;
}

/** Format for a file name's ending: .json, .yaml or .yml; otherwise null. */
export function templateFormat(fileName: string): TemplateFormat | null {
  const ending = /\.(json|ya?ml)$/i.exec(fileName)?.[1]?.toLowerCase();
  return ending === undefined ? null : ending === 'json' ? 'json' : 'yaml';
}

/** Parses the text. JSON or YAML errors are returned as problems with the pointer "". */
export function parseTemplate(
  source: string,
  format: TemplateFormat,
): { readonly text: ParsedTemplate } | { readonly problems: readonly Problem[] } {
  const text = source.startsWith('\uFEFF') ? source.slice(1) : source;
  if (text.length > TEMPLATE_CHARACTERS_MAX) {
    const message = `A Template has at most ${TEMPLATE_CHARACTERS_MAX} characters. Move lists into reference tables.`;
    return { problems: [{ pointer: '', line: 1, column: 1, code: 'TOO_LARGE', message }] };
  }
  const lines = new LineTable(text);
  const read = format === 'json' ? readJson(text) : readYaml(text);
  if ('problems' in read) {
    const problems = read.problems.slice(0, PROBLEMS_MAX);
    return {
      problems: problems.map(({ at, code, message }) => ({ pointer: '', ...lines.position(at), code, message })),
    };
  }
  const { root } = read;
  const problem = (pointer: string, code: string, message: string): Problem => {
    return { pointer, ...lines.position(placeOf(root, pointer)), code, message };
  };
  return { text: { root, problem } };
}

// Writes an operation, for documents that show examples.

/** An operation as an item of `operations`, in YAML and in its short form: `- drop: {columns: [a, b]}`. */
export function operationText({ op, ...parameters }: Readonly<Record<string, unknown>>): string {
  const flow = { collectionStyle: 'flow', flowCollectionPadding: false, lineWidth: 0 } as const;
  return `- ${op}: ${stringify(parameters, flow).trim()}`;
}
