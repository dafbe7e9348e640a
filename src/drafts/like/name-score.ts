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

export class NameScore {
  readonly #meanings = meanings();

  of(one: string, other: string): number {
    if (one.trim() === other.trim()) return EXACT;
    if (headerKey(one, 'loose') === headerKey(other, 'loose')) return LOOSE;
    const [a, b] = [snakeCase(one), snakeCase(other)];
    if (a === b) return LOOSE;
    if (this.#areSynonyms(a, b)) return SYNONYM;
    const [words, others] = [this.#words(a), this.#words(b)];
    return Math.max(qualified(words, others), WORDS * dice(words, others), TRIGRAMS * dice(trigrams(a), trigrams(b)));
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
  const shared = [...one].filter((item) => other.has(item)).length;
  return (2 * shared) / (one.size + other.size);
}
