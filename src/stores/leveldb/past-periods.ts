// The counters in the ledger's files, and which of them are dropped. What is old is told by the charges themselves: a clock
// that is months ahead when the node starts must not end the present period.
import type { LedgerStore } from './ledger-store.ts';

/** A counter in the store. `charged_at`, of the last charge, was not written by earlier versions. */
export interface CounterRecord {
  readonly used: number;
  readonly ends_at: number;
  readonly charged_at?: number;
}

/** Counters of past periods are kept this long after the newest charge, for whoever has to explain a bill ... */
const PAST_PERIODS_MILLISECONDS = 62 * 24 * 3600 * 1000;

/** ... and so many of each account for ever: the newest charge may have been made while the clock was months ahead. */
const PERIODS_KEPT = 2;

/** Counters that are looked at together. */
const PAGE_RECORDS = 1000;

/** @param periodKey of a BillingPeriod */
export function counterKey(account: string, periodKey: string): string {
  return `used/${account}/${periodKey}`;
}

/** When the newest charge was made, in milliseconds since 1970; null: there is none. */
export async function newestCharge(store: LedgerStore): Promise<number | null> {
  let newest: number | null = null;
  for await (const [key, record] of records(store)) newest = Math.max(newest ?? 0, chargedAtOf(key, record));
  return newest;
}

/** Drops the counters of periods that were long over at `now`. */
export async function forgetPastPeriods(store: LedgerStore, now: number): Promise<void> {
  const writes = new Map<string, null>();
  let newer: [string, CounterRecord][] = [];
  // In the order of accounts, and of days in each.
  for await (const [key, record] of records(store)) {
    if (newer[0] !== undefined && accountOf(newer[0][0]) !== accountOf(key)) newer = [];
    newer.push([key, record]);
    if (newer.length <= PERIODS_KEPT) continue;
    const [oldKey, old] = newer.shift()!;
    if (old.ends_at < now - PAST_PERIODS_MILLISECONDS) writes.set(oldKey, null);
  }
  if (writes.size > 0) await store.write(writes);
}

async function* records(store: LedgerStore): AsyncGenerator<[string, CounterRecord]> {
  let from = 'used/';
  for (;;) {
    const page = await store.range(from, 'used0', PAGE_RECORDS);
    for (const [key, value] of page) yield [key, JSON.parse(value) as CounterRecord];
    const last = page.at(-1);
    if (last === undefined || page.length < PAGE_RECORDS) return;
    from = `${last[0]} `;
  }
}

function accountOf(key: string): string {
  return key.slice(0, key.lastIndexOf('/'));
}

/** Where a record does not say when it was charged: not before its period began, with whose day its key ends. */
function chargedAtOf(key: string, { charged_at: chargedAt }: CounterRecord): number {
  return chargedAt ?? Date.parse(key.slice(-'2026-01-31'.length));
}
