// How many rows the steps of a chain take at once: an operator that has had enough (slice, stop_when) may stop those before
// it, and what comes to it all the same is handed on in portions, so that no row behind its end is counted.
import type { Schema } from '../batch/schema.ts';
import type { Next } from '../operations/operation.ts';
import { EndPreview, type PreviewedStep } from './end-preview.ts';

/**
 * Rows that the operators may take at once; those behind one that needs all rows do not count. Of an operator that makes
 * several rows of one, no more may come than those behind it want.
 */
export function wantedBy(links: readonly PreviewedStep[], seenAhead: { readonly index: number } | null = null): number {
  let wanted = Number.POSITIVE_INFINITY;
  let rowsMost = 1;
  for (const [index, { operator, needsAllRows }] of links.entries()) {
    const rows = operator.rowsWanted?.() ?? Number.POSITIVE_INFINITY;
    if (rows === 0) return 0;
    if (rows < Number.POSITIVE_INFINITY && index !== seenAhead?.index)
      wanted = Math.min(wanted, Math.max(1, Math.floor(rows / rowsMost)));
    if (needsAllRows) break;
    rowsMost *= operator.rowsMost ?? 1;
  }
  return wanted;
}

/** What an operator with state hands on, in these columns, may be more than those behind it want. */
export function gated(behind: readonly PreviewedStep[], columns: Schema, flag: number | null, next: Next): Next {
  if (behind.every(({ operator }) => operator.rowsWanted === undefined)) return next;
  return inPortions(behind, EndPreview.of(behind, columns, flag), next);
}

/** Hands a batch on in as many pieces as the steps behind it want. */
export function inPortions(behind: readonly PreviewedStep[], preview: EndPreview | null, next: Next): Next {
  return function* (batch) {
    const ends = preview === null ? [] : yield* preview.ends(batch);
    let passed = 0;
    for (let from = 0; from < batch.live; ) {
      const wanted = wantedBy(behind, preview);
      if (wanted === 0) return;
      while (passed < ends.length && ends[passed]! <= from) passed++;
      const to = Math.min(batch.live, from + wanted, ends[passed] ?? batch.live);
      yield* next(batch.slice(from, to));
      from = to;
    }
  };
}
