// The error codes of the last hour, for the operator's page: how often each occurred, and where last.

/** Occurrences of each code that are counted, of 8 bytes each. The codes are a closed list of a few dozen. */
const OCCURRENCES_MAX = 1000;

/** Older occurrences are not counted. */
const RECENT_MILLISECONDS = 3_600_000;

/** Contains nothing from a request except names that the catalog knows. */
export interface CodeOccurrence {
  readonly code: string;
  /** null if the key is not in the catalog. */
  readonly account: string | null;
  /** null if the request concerns no Template of the account. */
  readonly template: string | null;
}

export interface RecentCode {
  /** At most OCCURRENCES_MAX. */
  readonly count: number;
  readonly last: CodeOccurrence;
  readonly secondsAgo: number;
}

interface Occurrences {
  last: CodeOccurrence;
  lastAt: number;
  /** Ring of times, by performance.now: the oldest one is overwritten. */
  readonly times: number[];
  next: number;
}

export class RecentCodes {
  readonly #codes = new Map<string, Occurrences>();

  add(occurrence: CodeOccurrence, at = performance.now()): void {
    let known = this.#codes.get(occurrence.code);
    if (known === undefined) {
      known = { last: occurrence, lastAt: at, times: [], next: 0 };
      this.#codes.set(occurrence.code, known);
    }
    known.last = occurrence;
    known.lastAt = at;
    known.times[known.next] = at;
    known.next = (known.next + 1) % OCCURRENCES_MAX;
  }

  /** The most frequent code first. */
  list(now = performance.now()): RecentCode[] {
    return [...this.#codes.values()]
      .map(({ last, lastAt, times }) => {
        const count = times.filter((at) => now - at <= RECENT_MILLISECONDS).length;
        return { count, last, secondsAgo: (now - lastAt) / 1000 };
      })
      .filter(({ count }) => count > 0)
      .sort((a, b) => b.count - a.count);
  }
}
