// The stores of a node on its own, put together: all in memory but the quota's ledger and large outputs.
import type { MemoryBudget } from '../../admission/memory-budget.ts';
import { LocalOutputs } from '../../outputs/local-outputs.ts';
import type { Log } from '../../telemetry/log.ts';
import type { Clock } from '../clock.ts';
import type { QuotaLedger } from '../leveldb/quota-ledger.ts';
import type { Stores } from '../stores.ts';
import { IdempotencyKeys } from './idempotency.ts';
import { MemoryDesk } from './memory-desk.ts';
import { RunRecords } from './run-records.ts';
import { startSweeper } from './sweeper.ts';
import { TokenBuckets } from './token-buckets.ts';

/** @param ledger is closed by its owner, after these */
export function openMemoryStores(ledger: QuotaLedger, budget: MemoryBudget, clock: Clock, log: Log): Stores {
  const outputs = new LocalOutputs(budget);
  const records = new RunRecords(budget, (output) => {
    outputs.remove(output)?.catch((fault) => log.fault('output_not_removed', fault));
  });
  const keys = new IdempotencyKeys(budget);
  const buckets = new TokenBuckets();
  const desk = new MemoryDesk({ records, keys, buckets, ledger, clock });
  const sweeper = startSweeper(records, keys, ledger, clock, log);
  return {
    desk,
    runs: desk,
    rates: { take: (account, operation, limit) => buckets.take(account, operation, limit, clock.steady()) },
    outputs,
    gauges: { runsKept: () => records.size },
    figures: () => [],
    trouble: () => null,
    hurry: () => {},
    close: () => sweeper.stop(),
  };
}
