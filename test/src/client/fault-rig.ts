// Shared parts of the tests of both clients on bad connections: waiting, accounts, one charge and equal bytes.
import { createHash } from 'node:crypto';
import type { Test } from 'tap';
import { until } from '../../blackbox/client.ts';
import type { Service } from '../../blackbox/service.ts';
import type { Scenario } from './scenarios.ts';

/** Time after which the client detects a stall. The service responds to a POST earlier, with 202 if necessary. */
export const IDLE_MILLISECONDS = 3_000;
export const WAIT_MILLISECONDS = 500;
/** A service that was killed takes its time to come back on a busy machine. */
export const RETRIES = 14;
/** Scenarios that wait for timers side by side. */
const AT_ONCE = 8;

/** Each scenario has a separate account, so that its charges can be counted. */
export const accountOf = (number: number): string => `account-${number}`;

export function accounts(count: number): Record<string, object> {
  return Object.fromEntries(Array.from({ length: count }, (_, number) => [accountOf(number), {}]));
}

export function checkBytes(t: Test, bytes: Buffer, { name, output }: Scenario): void {
  const digest = (of: Buffer): string => createHash('sha256').update(of).digest('hex');
  t.equal(digest(bytes), digest(output), `${name}: equal bytes`);
}

export async function chargedOnce(t: Test, service: Service, number: number, { name }: Scenario): Promise<void> {
  await usedAtLast(t, service, number, 1, name);
}

/** Tries that the service has not given up yet hold a reservation. */
export async function usedAtLast(
  t: Test,
  service: Service,
  number: number,
  charged: number,
  name = 'given up',
): Promise<void> {
  const used = await until(
    () => service.quotaUsed(accountOf(number)),
    (now) => now === charged,
  );
  t.equal(used, charged, `${name}: charged ${charged} times`);
}

/** 16 MB: more than buffers on the way hold. */
export const GIVEN_UP_FILE = Buffer.from(`id,amount\n${`1,${'2'.repeat(61)}\n`.repeat(250_000)}`);

/** One second is promised, and far more is allowed for a busy machine. A request that is not given up would wait for hours. */
export const GIVEN_UP_MILLISECONDS_MAX = 120_000;

/** Transfers that stall, and where they are given up. */
export const GIVEN_UP = [
  { phase: 'upload', cancelAt: 1_000_000, fault: { kind: 'stall', way: 'up', bytes: 100_000 }, charged: 0 },
  { phase: 'download', cancelAt: 50_000, fault: { kind: 'stall', way: 'down', bytes: 200_000 }, charged: 1 },
] as const;

export async function each(count: number, work: (number: number) => Promise<void>): Promise<void> {
  const numbers = Array.from({ length: count }, (_, number) => number).values();
  const worker = async (): Promise<void> => {
    for (const number of numbers) await work(number);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
}
