// Reads the quota figures out of a node's /metrics (Prometheus text format 0.0.4).
import { AccountEditError } from '../catalog/account-editor.ts';

export interface QuotaUsage {
  readonly account: string;
  readonly used: number;
  /** null = none. */
  readonly limit: number | null;
}

const TIMEOUT_MILLISECONDS = 10_000;

/** By account. Throws AccountEditError when the node does not answer or shows no metrics. */
export async function fetchUsage(address: URL): Promise<QuotaUsage[]> {
  const metrics = new URL(`${address.pathname.replace(/\/+$/, '')}/metrics`, address);
  const answer = await fetch(metrics, { signal: AbortSignal.timeout(TIMEOUT_MILLISECONDS) }).catch((fault: Error) => {
    throw new AccountEditError(
      `${metrics} does not answer (${(fault.cause as Error | undefined)?.message ?? fault.message}).`,
    );
  });
  if (!answer.ok) throw new AccountEditError(`${metrics} answers ${answer.status}: is it a node's ops port?`);
  return parseUsage(await answer.text());
}

/** The samples of template_run_quota_used and template_run_quota_limit, sorted by account. */
export function parseUsage(text: string): QuotaUsage[] {
  const used = samples(text, 'template_run_quota_used');
  const limits = samples(text, 'template_run_quota_limit');
  return [...used].sort().map(([account, value]) => {
    const limit = limits.get(account);
    return { account, used: value, limit: limit !== undefined && Number.isFinite(limit) ? limit : null };
  });
}

/** Account ids are slugs: no label value needs unescaping. */
function samples(text: string, name: string): Map<string, number> {
  const found = new Map<string, number>();
  for (const [, labels = '', value = ''] of text.matchAll(new RegExp(`^${name}\\{([^}]*)\\}[ \\t]+(\\S+)`, 'gm'))) {
    const [, account] = /(?:^|,)account="([A-Za-z0-9_-]+)"/.exec(labels) ?? [];
    if (account !== undefined) found.set(account, Number(value.replace('+Inf', 'Infinity')));
  }
  return found;
}
