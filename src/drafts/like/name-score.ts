// How surely two names of columns mean the same, from 0 to 1: equal as they are written, equal but for spelling, in one line of the
// synonyms, or made of the same words or letters.
import { headerKey } from '../../../workers/plan/headers.ts';
import { snakeCase } from '../column-names.ts';
import { meanings } from './synonyms.ts';

const EXACT = 1;
const LOOSE = 0.97;
const SYNONYM = 0.92;
/** All words of one name with one or two more, as in `Delivery city`. */
const QUALIFIED = [0.75, 0.74];
/** Words in common are less than the whole name, and letters less than words. */
const WORDS = 0.85;
const TRIGRAMS = 0.8;

/** What is compared of a name; made once, as each is compared with many. */
interface NameForm {
  readonly loose: string;
  readonly snake: string;
  readonly words: ReadonlySet<string>;
  readonly trigrams: ReadonlySet<string>;
}

export class NameScore {
  readonly #meanings = meanings();
  readonly #forms = new Map<string, NameForm>();

  of(one: string, other: string): number {
    if (one.trim() === other.trim()) return EXACT;
    const [a, b] = [this.#form(one), this.#form(other)];
    if (a.loose === b.loose || a.snake === b.snake) return LOOSE;
    if (this.#areSynonyms(a.snake, b.snake)) return SYNONYM;
    return Math.max(
      qualified(a.words, b.words),
      WORDS * dice(a.words, b.words),
      TRIGRAMS * dice(a.trigrams, b.trigrams),
    );
  }

  #form(name: string): NameForm {
    const known = this.#forms.get(name);
    if (known !== undefined) return known;
    const snake = snakeCase(name);
    const form = { loose: headerKey(name, 'loose'), snake, words: this.#words(snake), trigrams: trigrams(snake) };
    this.#forms.set(name, form);
    return form;
  }

  #areSynonyms(a: string, b: string): boolean {
    const lines = this.#meanings.get(a);
    return lines !== undefined && [...(this.#meanings.get(b) ?? [])].some((line) => lines.has(line));
  }

  /** Words, each as its first synonym, so that those of other languages are the same. */
  #words(name: string): Set<string> {
    return new Set(name.split('_').flatMap((word) => (FILLERS.has(word) ? [] : [this.#meaning(word)])));
  }

  #meaning(word: string): string {
    const [line] = this.#meanings.get(word) ?? [];
    return line === undefined ? word : `meaning ${line}`;
  }
}

/** Words that tell no column from another. */
const FILLERS = new Set('the of a in de la le du del di der die das des von van number eur usd gbp kg utc'.split(' '));

function qualified(one: ReadonlySet<string>, other: ReadonlySet<string>): number {
  const [less, more] = one.size <= other.size ? [one, other] : [other, one];
  if (less.size === 0 || ![...less].every((word) => more.has(word))) return 0;
  return QUALIFIED[more.size - less.size - 1] ?? 0;
}

function trigrams(name: string): Set<string> {
  const padded = `  ${name} `;
  return new Set(Array.from({ length: padded.length - 2 }, (_, at) => padded.slice(at, at + 3)));
}

function dice(one: ReadonlySet<string>, other: ReadonlySet<string>): number {
  if (one.size === 0 || other.size === 0) return 0;
  let shared = 0;
  for (const item of one) if (other.has(item)) shared++;
  return (2 * shared) / (one.size + other.size);
}
