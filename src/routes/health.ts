// livez, readyz and metrics: for the operator's machines, without authentication.
import type { Exchange } from '../http/exchange.ts';
import type { Readiness } from '../runs/readiness.ts';
import type { Metrics } from '../telemetry/metrics.ts';

/** The loop turns, or this would not be answered. */
export function getLiveness(exchange: Exchange): void {
  exchange.json(200, { status: 'live' });
}

export async function getReadiness(readiness: Readiness, exchange: Exchange): Promise<void> {
  const reasons = await readiness.reasons();
  if (reasons.length === 0) exchange.json(200, { status: 'ready' });
  else exchange.json(503, { status: 'not ready', reasons });
}

export async function getMetrics(metrics: Metrics, exchange: Exchange): Promise<void> {
  exchange.text(200, metrics.contentType, await metrics.text());
}
