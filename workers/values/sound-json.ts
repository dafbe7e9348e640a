// Whether a long text is JSON, without making values of it: JSON.parse makes a hundred bytes of each `[]`, 200 MB of a cell.
// It accepts what JSON.parse accepts (RFC 8259), up to a depth.

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_LIST = 0x5b;
const CLOSE_LIST = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

/** From where they begin. */
const ESCAPE = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y;
const SCALAR = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?|true|false|null/y;

/** @param depthMax brackets inside each other; deeper ones are no sound JSON here */
export function isSoundJson(text: string, depthMax: number): boolean {
  return new JsonWalk(text, depthMax).isSound();
}

class JsonWalk {
  readonly #text: string;
  readonly #depthMax: number;
  /** The brackets around the place at hand. */
  readonly #open: number[] = [];
  #at = 0;

  constructor(text: string, depthMax: number) {
    this.#text = text;
    this.#depthMax = depthMax;
  }

  isSound(): boolean {
    do {
      if (!this.#value() || !this.#closeAll()) return false;
    } while (this.#open.length > 0);
    return this.#at === this.#text.length;
  }

  /** A value, or the beginning of a list or object up to its first value. Empty ones are closed. */
  #value(): boolean {
    for (;;) {
      const sign = this.#peek();
      if (sign === QUOTE) return this.#string();
      if (sign !== OPEN_LIST && sign !== OPEN_OBJECT) return this.#takes(SCALAR);
      if (this.#open.push(sign) > this.#depthMax) return false;
      this.#at++;
      const isEmpty = this.#peek() === (sign === OPEN_LIST ? CLOSE_LIST : CLOSE_OBJECT);
      if (isEmpty) return true;
      if (sign === OPEN_OBJECT && !this.#key()) return false;
    }
  }

  /** Behind a value: closes what ends here, and goes to the next value. */
  #closeAll(): boolean {
    while (this.#open.length > 0) {
      const sign = this.#peek();
      const bracket = this.#open[this.#open.length - 1]!;
      this.#at++;
      if (sign === COMMA) {
        return bracket === OPEN_LIST || this.#key();
      }
      if (sign !== (bracket === OPEN_LIST ? CLOSE_LIST : CLOSE_OBJECT)) return false;
      this.#open.pop();
    }
    this.#peek();
    return true;
  }

  #key(): boolean {
    if (this.#peek() !== QUOTE || !this.#string() || this.#peek() !== COLON) return false;
    this.#at++;
    return true;
  }

  #string(): boolean {
    this.#at++;
    for (;;) {
      const sign = this.#text.charCodeAt(this.#at);
      if (sign === BACKSLASH) {
        if (!this.#takes(ESCAPE)) return false;
      } else if (sign >= 0x20) {
        this.#at++;
        if (sign === QUOTE) return true;
      } else return false;
    }
  }

  #takes(pattern: RegExp): boolean {
    pattern.lastIndex = this.#at;
    if (!pattern.test(this.#text)) return false;
    this.#at = pattern.lastIndex;
    return true;
  }

  /** The next sign that is no white space; NaN behind the end. */
  #peek(): number {
    for (;;) {
      const sign = this.#text.charCodeAt(this.#at);
      if (sign !== 0x20 && sign !== 0x0a && sign !== 0x0d && sign !== 0x09) return sign;
      this.#at++;
    }
  }
}
