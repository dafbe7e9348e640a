// Forgets what has expired, a bounded number at a time: Runs with their outputs, keys, remembered charges.
import type { Log } from '../../telemetry/log.ts';
import type { Clock } from '../clock.ts';
import type { QuotaLedger } from '../leveldb/quota-ledger.ts';
import type { IdempotencyKeys } from './idempotency.ts';
import type { RunRecords } from './run-records.ts';

/** Runs, keys and buckets are forgotten this often, and so many at once, so that the loop is never held for long. */
const SWEEP_MILLISECONDS = 200;
const SWEEP_MAX = 500;

/** Remembered charges are swept this often. */
const LEDGER_SWEEP_MILLISECONDS = 60_000;

export interface Sweeper {
  stop(): Promise<void>;
}

/** Sweeps from now on, until it is stopped. */
export function startSweeper(
  runs: RunRecords,
  keys: IdempotencyKeys,
  ledger: QuotaLedger,
  clock: Clock,
  log: Log,
): Sweeper {
  const sweep = (): void => {
    const now = clock.steady();
    const more = runs.sweep(now, SWEEP_MAX) === SWEEP_MAX || keys.sweep(now, SWEEP_MAX) === SWEEP_MAX;
    timer = setTimeout(sweep, more ? 0 : SWEEP_MILLISECONDS);
  };
  let timer = setTimeout(sweep, SWEEP_MILLISECONDS);
  let sweeping: Promise<unknown> = Promise.resolve();
  const ledgerTimer = setInterval(() => {
    sweeping = ledger.sweep(SWEEP_MAX).catch((fault: unknown) => log.fault('ledger_not_swept', fault));
  }, LEDGER_SWEEP_MILLISECONDS);
  return {
    stop: async (): Promise<void> => {
      clearTimeout(timer);
      clearInterval(ledgerTimer);
      await sweeping;
    },
  };
}
