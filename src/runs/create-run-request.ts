// What create_run is given once the route has let a request in, and the refusal that several of its ways share.
import type { Account, CatalogTemplate, Subscription } from '../catalog/catalog.ts';
import type { Exchange } from '../http/exchange.ts';
import { refusal } from '../http/refusal.ts';
import type { CheckedTemplate } from '../outputs/output-name.ts';
import type { RateLimit } from '../stores/rate-limiter.ts';

export interface CreateRunRequest {
  readonly exchange: Exchange;
  readonly account: Account;
  readonly subscription: Subscription;
  readonly template: CatalogTemplate<CheckedTemplate>;
  /** Of create_run; not counted yet. null = none. */
  readonly rateLimit: RateLimit | null;
  /** The Idempotency-Key, null = none. */
  readonly key: string | null;
  /** Of the form. */
  readonly boundary: string;
}

export function keyReused(): ReturnType<typeof refusal> {
  return refusal('IDEMPOTENCY_KEY_REUSED', 'The Idempotency-Key was used for a different request.');
}
