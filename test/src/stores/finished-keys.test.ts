// Idempotency-Keys against a plain Map, for random sequences of requests, ends, retries, aborts and expiry.
import { deepStrictEqual } from 'node:assert/strict';
import t from 'tap';
import { MemoryBudget } from '../../../src/admission/memory-budget.ts';
import { IdempotencyKeys, type KeyEntry } from '../../../src/stores/memory/idempotency.ts';
import { RETRIED_CODES } from '../../../src/stores/stores.ts';
import { fc } from '../../random.ts';
import { sweep } from '../../sweep.ts';

const RETENTION = 20;
const [retried = 'RUN_TIMEOUT'] = RETRIED_CODES;

/** Entry of a Map for a key, as the reference. */
interface Expected {
  readonly templateId: string;
  finished: {
    readonly runId: string;
    readonly fingerprint: string;
    readonly expiresAt: number;
    readonly isRetried: boolean;
  } | null;
  claim: { readonly runId: string; readonly entry: KeyEntry; fingerprint: string | null } | null;
}

t.test('keys are held, given and forgotten as a plain Map would', async (t) => {
  const step = fc.record({
    key: fc.nat(5).map((number) => `acme\n${'k'.repeat(number * 50)}${number}`),
    template: fc.constantFrom('orders', 'orders', 'orders', 'other'),
    end: fc.constantFrom('finish', 'fail', 'fail', 'fail for good', 'abandon', 'begin', 'nothing'),
    wait: fc.constantFrom(0, 1, 1, 5, 25),
    sweep: fc.nat(3),
  });
  let replayed = 0;
  let again = 0;
  const property = fc.property(fc.array(step, { minLength: 20, maxLength: 120 }), (steps) => {
    const budget = new MemoryBudget(256 * 1024 * 1024, 1);
    const keys = new IdempotencyKeys(budget);
    const expectedKeys = new Map<string, Expected>();
    let now = 1_000_000;
    let number = 0;
    for (const { key, template, end, wait, sweep: most } of steps) {
      now += wait;
      keys.sweep(now, most);
      const known = expectedKeys.get(key);
      if (known?.finished != null && known.finished.expiresAt <= now) known.finished = null;
      const expected = known === undefined || (known.finished === null && known.claim === null) ? null : known;
      const runId = `run_${++number}`;
      const answer = keys.claim(key, template, runId, 'node', now);
      if (expected !== null && expected.templateId !== template) deepStrictEqual(answer.kind, 'other_template');
      else if (expected?.claim != null)
        deepStrictEqual(answer.kind === 'held' && answer.holder.runId, expected.claim.runId);
      else if (expected?.finished != null && !expected.finished.isRetried) {
        replayed++;
        const { runId: first, fingerprint } = expected.finished;
        if (answer.kind !== 'held') throw new Error('a finished key was given away');
        deepStrictEqual(
          { ...answer.holder, templateId: 0, errorCode: 0 },
          { phase: 'finished', runId: first, fingerprint, templateId: 0, errorCode: 0 },
        );
      } else {
        if (answer.kind !== 'claimed') throw new Error('a free key was not given');
        if (expected?.finished != null) again++;
        deepStrictEqual(answer.entry.former?.fingerprint, expected?.finished?.fingerprint);
        expectedKeys.set(key, {
          templateId: template,
          finished: expected?.finished ?? null,
          claim: { runId, entry: answer.entry, fingerprint: null },
        });
      }
      const held = expectedKeys.get(key);
      if (held?.claim == null || end === 'nothing') continue;
      const { claim } = held;
      const fingerprint = `print-${number}`;
      if (end === 'begin') {
        keys.begin(claim.entry, fingerprint);
        claim.fingerprint ??= fingerprint;
        deepStrictEqual(keys.holderOf(key, now), {
          phase: 'running',
          runId: claim.runId,
          node: 'node',
          fingerprint: claim.fingerprint,
        });
      } else if (end === 'abandon') {
        keys.abandon(key);
        held.claim = null;
      } else {
        const errorCode = end === 'finish' ? null : end === 'fail' ? retried : 'MALFORMED_FILE';
        const expiresAt = now + RETENTION;
        keys.finish(key, claim.entry, { runId: claim.runId, fingerprint, expiresAt, errorCode });
        expectedKeys.set(key, {
          templateId: held.templateId,
          finished: { runId: claim.runId, fingerprint, expiresAt, isRetried: end === 'fail' },
          claim: null,
        });
      }
      const finished = expectedKeys.get(key)!.finished;
      if (expectedKeys.get(key)!.claim === null)
        deepStrictEqual(
          keys.holderOf(key, now)?.runId,
          finished !== null && finished.expiresAt > now ? finished.runId : undefined,
        );
    }
    for (const key of expectedKeys.keys()) keys.abandon(key);
    while (keys.sweep(Number.MAX_SAFE_INTEGER, 10) > 0);
    deepStrictEqual([keys.size, budget.usedBytes('records')], [0, 0]);
  });
  fc.assert(property, { numRuns: sweep({ short: 100, long: 1_000 }) });
  t.ok(replayed > 100 && again > 100, `${replayed} replayed, ${again} tried again`);
});
