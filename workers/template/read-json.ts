// Reads a Template written in JSON: strict RFC 8259, unique keys, places of all values. JSON.parse tells no places and
// lets the last of two equal keys win.
import { orderedRecord } from './ordered-record.ts';
import type { SourceNode, SourceResult } from './source-node.ts';
import { checkedNumber, SourceRefused, TEMPLATE_DEPTH_MAX, TEMPLATE_NODES_MAX } from './source-node.ts';

/** The tree of a JSON text, or the first place where it is not JSON. */
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
    if (this.#at < this.#text.length) throw this.#refusal('There is more text behind the end of the Template.');
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

  /** After an item: true at a comma, false at the end. */
  #another(end: string): boolean {
    if (this.#took(end)) return false;
    if (this.#took(',')) return true;
    throw this.#refusal(`A comma or "${end}" is missing here.`);
  }

  #string(): string {
    const start = this.#at;
    let end = start + 1;
    for (; this.#text[end] !== '"'; end++) {
      if (end >= this.#text.length) throw new SourceRefused(start, 'SYNTAX', 'The text in quotes has no end.');
      if (this.#text[end] === '\\') end++;
    }
    this.#at = end + 1;
    try {
      return JSON.parse(this.#text.slice(start, end + 1)) as string;
    } catch {
      throw new SourceRefused(start, 'SYNTAX', 'The text in quotes holds a control character or an unknown escape.');
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
