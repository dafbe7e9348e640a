// Scalar reference implementation of the JSON kernels: reads the records of a valid text that follow each other
// directly, and returns their members with canonical texts and native kinds. Recursive, for texts in memory.
import { KIND_BOOLEAN, KIND_JSON, KIND_NUMBER, KIND_TEXT } from '../layout/cells.ts';

/** Null, or a native kind with its text. */
export type PlainCell = { readonly kind: number; readonly text: string } | null;
export type PlainMember = readonly [key: string, cell: PlainCell];

const SPACE = /[ \t\r\n]*/y;
const STRING = /"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"/y;
const NUMBER = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y;

/** Throws if the text is not a sequence of objects. */
export function readJson(text: string): PlainMember[][] {
  const reader = new PlainReader(text);
  const records: PlainMember[][] = [];
  while (!reader.atEnd()) records.push(reader.members());
  return records;
}

class PlainReader {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  atEnd(): boolean {
    this.#take(SPACE);
    return this.#at === this.#text.length;
  }

  members(): PlainMember[] {
    const members: PlainMember[] = [];
    this.#sign('{');
    if (this.#skips('}')) return members;
    do {
      const key = textOf(this.#token(STRING));
      this.#sign(':');
      members.push([key, this.#cell()]);
    } while (this.#skips(','));
    this.#sign('}');
    return members;
  }

  #cell(): PlainCell {
    const json = this.#compact();
    if (json === 'null') return null;
    if (json.startsWith('"')) return { kind: KIND_TEXT, text: textOf(json) };
    if (/^[[{]/.test(json)) return { kind: KIND_JSON, text: json };
    return { kind: /^[tf]/.test(json) ? KIND_BOOLEAN : KIND_NUMBER, text: json };
  }

  /** The value here without white space between its tokens. */
  #compact(): string {
    if (this.#skips('[')) {
      if (this.#skips(']')) return '[]';
      const items = [this.#compact()];
      while (this.#skips(',')) items.push(this.#compact());
      this.#sign(']');
      return `[${items.join(',')}]`;
    }
    if (this.#skips('{')) {
      if (this.#skips('}')) return '{}';
      const members: string[] = [];
      do {
        const key = this.#token(STRING);
        this.#sign(':');
        members.push(`${key}:${this.#compact()}`);
      } while (this.#skips(','));
      this.#sign('}');
      return `{${members.join(',')}}`;
    }
    for (const word of ['true', 'false', 'null']) if (this.#skips(word)) return word;
    return this.#text[this.#at] === '"' ? this.#token(STRING) : this.#token(NUMBER);
  }

  #skips(sign: string): boolean {
    this.#take(SPACE);
    if (!this.#text.startsWith(sign, this.#at)) return false;
    this.#at += sign.length;
    return true;
  }

  #sign(sign: string): void {
    if (!this.#skips(sign)) throw new Error('a sign is missing');
  }

  #token(pattern: RegExp): string {
    this.#take(SPACE);
    const found = this.#take(pattern);
    if (found === '') throw new Error('a token is missing');
    return found;
  }

  #take(pattern: RegExp): string {
    pattern.lastIndex = this.#at;
    const [found = ''] = pattern.exec(this.#text) ?? [];
    this.#at += found.length;
    return found;
  }
}

/** JSON can contain a lone surrogate, which UTF-8 cannot encode. It becomes U+FFFD. */
function textOf(quoted: string): string {
  return Buffer.from(JSON.parse(quoted) as string).toString();
}
