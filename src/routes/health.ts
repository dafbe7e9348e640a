// livez, readyz and metrics: for the operator's machines, without authentication.
import type { Exchange } from '../http/exchange.ts';
import type { Metrics } from '../metrics.ts';
import type { NodeState } from '../runs/node-state.ts';

/** The loop turns, or this would not be answered. */
export function getLiveness(exchange: Exchange): void {
  exchange.json(200, { status: 'live' });
}

export async function getReadiness(node: NodeState, exchange: Exchange): Promise<void> {
  const reasons: string[] = [];
  if (node.drain.draining) reasons.push('draining');
  if (node.pool.liveThreads === 0) reasons.push('no worker lives');
  const { trouble, aboveFloor } = await node.disk.space();
  if (trouble !== null) reasons.push(`the data folder cannot be used: ${trouble}`);
  else if (!aboveFloor) reasons.push('the disk is below its floor');
  if (reasons.length === 0) exchange.json(200, { status: 'ready' });
  else exchange.json(503, { status: 'not ready', reasons });
}

export async function getMetrics(metrics: Metrics, exchange: Exchange): Promise<void> {
  exchange.text(200, metrics.contentType, await metrics.text());
}
