// Reads a Template written in YAML: 1.2 core schema, one document, unique keys, no tags, few aliases. The only importer
// of `yaml`. Depth is looked at before the tree is made, because the library makes it by recursion.
import type { CST, Node, Pair } from 'yaml';
import { Composer, isAlias, isMap, isScalar, isSeq, Lexer, Parser } from 'yaml';
import { orderedRecord } from './ordered-record.ts';
import type { SourceNode, SourceProblem, SourceResult } from './source-node.ts';
import {
  checkedNumber,
  PROBLEMS_MAX,
  SourceRefused,
  TEMPLATE_ALIASES_MAX,
  TEMPLATE_DEPTH_MAX,
  TEMPLATE_NODES_MAX,
} from './source-node.ts';

/** The tree of a YAML text, or what is wrong with it as YAML. */
export function readYaml(text: string): SourceResult {
  try {
    const tokens = shallowTokens(text);
    // Unique keys are looked at below: the library compares every key with every other one.
    const options = { version: '1.2', schema: 'core', uniqueKeys: false, merge: false } as const;
    const documents = [...new Composer(options).compose(tokens)];
    const problems = documents.flatMap(({ errors }) => errors.map(syntaxProblem)).slice(0, PROBLEMS_MAX);
    if (problems.length > 0) return { problems };
    const document = documents[0];
    if (document?.contents == null) throw new SourceRefused(0, 'SYNTAX', 'The Template is empty.');
    if (documents.length > 1) {
      throw severalDocuments(documents[1]!.range[0]);
    }
    if (document.directives?.yaml.version !== '1.2') {
      throw new SourceRefused(0, 'YAML_VERSION', 'A Template is YAML 1.2: take away the %YAML line.');
    }
    return { root: new TreeBuilder().build(document.contents as Node, null, 0) };
  } catch (error) {
    if (error instanceof SourceRefused) return { problems: [error.problem] };
    throw error;
  }
}

/** Lexical parts of a YAML text at most, some 50,000 lines: the library takes seconds for a million of them. */
const LEXEMES_MAX = 300_000;

/** What the lexer gives before a plain text, which may begin like anything. */
const PLAIN_TEXT_FOLLOWS = '\u001f';

/** Refuses in time linear in the text what the library takes seconds and hundreds of MiB to refuse. */
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
      if (directives > PROBLEMS_MAX) throw new SourceRefused(at, 'SYNTAX', 'Take away the lines that begin with "%".');
    }
    before = lexeme;
    // Marks of the lexer's own are no part of the text.
    if (!/^[\u0002\u0018\u001f\ufeff]$/.test(lexeme)) at += lexeme.length;
  }
}

/** The tokens of the text, refused when they are too many or nested too deep. */
function shallowTokens(text: string): CST.Token[] {
  checkLexemes(text);
  const tokens = [...new Parser().parse(text)];
  const open: { token: CST.Token; depth: number }[] = tokens.map((token) => ({ token, depth: 0 }));
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { token, depth } = next;
    // The document itself is one level, and a single value has none.
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
  const message = 'A Template is one YAML document: take away what follows the line "---".';
  return new SourceRefused(at, 'SYNTAX', message);
}

function tooDeep(at: number): SourceRefused {
  return new SourceRefused(at, 'TOO_DEEP', `A Template is nested at most ${TEMPLATE_DEPTH_MAX} levels deep.`);
}

function syntaxProblem(error: { readonly pos: readonly [number, number]; readonly message: string }): SourceProblem {
  const message = `Not valid YAML: ${error.message}.`.replace(/\.\.$/, '.');
  const hint = SYNTAX_HINTS.find(([pattern]) => pattern.test(error.message))?.[1] ?? '';
  return { at: error.pos[0], code: 'SYNTAX', message: message + hint };
}

const QUOTE_TEXTS =
  ' Put a text that holds ": ", " #", a bracket or a comma into quotes, as most expressions do: \'a ? "b" : "c"\'.';

/** What the library's messages leave open: what to write. */
const SYNTAX_HINTS: readonly (readonly [RegExp, string])[] = [
  [/^Tabs are not allowed/, ' Indent with spaces.'],
  [
    /^Plain value cannot start|^Alias cannot be/,
    ' Put it into quotes, as in columns: "*" or where: \'`Invoice No` == "7"\'.',
  ],
  [/^Invalid escape sequence/, " Write patterns in single quotes: '\\d+'."],
  [/^Missing closing ["']quote/, ' A quote that is opened is closed on the same line, or before the next key.'],
  [
    /collections are not allowed|Nested mappings are not allowed|Implicit keys need|Missing , or : between|Unexpected/i,
    QUOTE_TEXTS,
  ],
  [
    /All .* (items|keys) must|at the same column|Bad indentation|indented/i,
    ' Indent entries of one list or mapping alike.',
  ],
];

class TreeBuilder {
  readonly #anchors = new Map<string, Node>();
  readonly #open = new Set<Node>();
  #nodes = 0;
  #aliases = 0;

  /** @param keyAt place of the key where the node has one */
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
        'Tags ("!...") are not used in Templates. Take the tag away; an expression that begins with ! stands in quotes.';
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

  /** Keys are texts as written: `01` stays "01", `no` stays "no". */
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
    if (node === undefined) throw new SourceRefused(at, 'SYNTAX', 'The alias stands before its anchor, or has none.');
    if (this.#open.has(node)) throw new SourceRefused(at, 'SYNTAX', 'The alias stands inside of what it repeats.');
    return node;
  }
}
