// The error codes of the last minutes, for the operator's page: how often each occurred, and where last.

/** Occurrences that are kept, of about 100 bytes each. */
const OCCURRENCES_MAX = 1000;

/** Older occurrences are not shown. */
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
  readonly count: number;
  readonly last: CodeOccurrence;
  readonly secondsAgo: number;
}

export class RecentCodes {
  /** Ring: the oldest occurrence is overwritten. */
  readonly #occurrences: (CodeOccurrence & { readonly at: number })[] = [];
  #next = 0;

  add({ code, account, template }: CodeOccurrence, at = performance.now()): void {
    this.#occurrences[this.#next] = { code, account, template, at };
    this.#next = (this.#next + 1) % OCCURRENCES_MAX;
  }

  /** The most frequent code first. */
  list(now = performance.now()): RecentCode[] {
    const codes = new Map<string, { count: number; at: number; last: CodeOccurrence }>();
    for (const { at, ...occurrence } of this.#occurrences) {
      if (now - at > RECENT_MILLISECONDS) continue;
      const known = codes.get(occurrence.code) ?? { count: 0, at, last: occurrence };
      known.count += 1;
      if (at >= known.at) Object.assign(known, { at, last: occurrence });
      codes.set(occurrence.code, known);
    }
    return [...codes.values()]
      .sort((a, b) => b.count - a.count)
      .map(({ count, at, last }) => ({ count, last, secondsAgo: (now - at) / 1000 }));
  }
}
