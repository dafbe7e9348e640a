// Computes the start and end of billing periods, in UTC. Independent of plans and counters.

export type PeriodKind = 'day' | 'month';

export interface BillingPeriod {
  /** Names the period in the ledger by kind and first day, such as "month:2026-01-31". */
  readonly key: string;
  /** Milliseconds since 1970, midnight UTC. The end belongs to the next period. */
  readonly startsAt: number;
  readonly endsAt: number;
}

/** The parts of a subscription that determine its periods. */
export interface SubscribedPeriod {
  readonly plan: { readonly period: PeriodKind };
  /** Milliseconds since 1970. */
  readonly startedAt: number;
}

/**
 * The period that contains `now`. A monthly period begins on the day of the month of `startedAt` (or on the last day
 * of shorter months), a daily period at midnight. Both arguments are in milliseconds since 1970.
 */
export function billingPeriod(kind: PeriodKind, startedAt: number, now: number): BillingPeriod {
  return kind === 'day' ? dayPeriod(now) : monthPeriod(new Date(startedAt).getUTCDate(), now);
}

/** Caches the current period of each subscription, so that it is not computed for each request. */
export class BillingPeriods {
  #last = new WeakMap<SubscribedPeriod, BillingPeriod>();

  /** @param subscription an object that does not change; the cache is keyed by its identity */
  of(subscription: SubscribedPeriod, now: number): BillingPeriod {
    const last = this.#last.get(subscription);
    if (last !== undefined && now >= last.startsAt && now < last.endsAt) return last;
    const period = billingPeriod(subscription.plan.period, subscription.startedAt, now);
    this.#last.set(subscription, period);
    return period;
  }
}

function dayPeriod(now: number): BillingPeriod {
  const date = new Date(now);
  const [year, month, day] = [date.getUTCFullYear(), date.getUTCMonth(), date.getUTCDate()];
  return period('day', Date.UTC(year, month, day), Date.UTC(year, month, day + 1));
}

function monthPeriod(anchorDay: number, now: number): BillingPeriod {
  const date = new Date(now);
  const [year, month] = [date.getUTCFullYear(), date.getUTCMonth()];
  const thisMonth = anchorIn(year, month, anchorDay);
  return now >= thisMonth
    ? period('month', thisMonth, anchorIn(year, month + 1, anchorDay))
    : period('month', anchorIn(year, month - 1, anchorDay), thisMonth);
}

/** `month` may be -1 or 12; Date.UTC carries it into the year. */
function anchorIn(year: number, month: number, anchorDay: number): number {
  const lastDay = new Date(Date.UTC(year, month + 1, 0)).getUTCDate();
  return Date.UTC(year, month, Math.min(anchorDay, lastDay));
}

function period(kind: PeriodKind, startsAt: number, endsAt: number): BillingPeriod {
  return { key: `${kind}:${new Date(startsAt).toISOString().slice(0, 10)}`, startsAt, endsAt };
}
