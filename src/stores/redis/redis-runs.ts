// Runs that any node may be asked for.
import type { RunRecord } from '../../runs/run.ts';
import type { RateAsk, RunAnswer, RunStore } from '../run-store.ts';
import { accountKey } from './account-keys.ts';
import { outputInRedis } from './redis-desk.ts';
import type { RedisLink } from './redis-link.ts';
import { rateArguments, rateDecision } from './redis-rates.ts';
import { decodeClaim, decodeRecord, runningRecord } from './run-codec.ts';
import { READ } from './scripts/read.ts';

type ReadReply = [number, number, number, number, Buffer, Buffer];

export class RedisRuns implements RunStore {
  readonly #link: RedisLink;

  constructor(link: RedisLink) {
    this.#link = link;
  }

  async read(account: string, runId: string, { operation, limit }: RateAsk): Promise<RunAnswer> {
    const args = [operation, ...rateArguments(limit), runId];
    const reply = (await this.#link.callForBytes(READ, accountKey(account), args)) as ReadReply;
    const [allowed, retry, remaining, reset, kind, detail] = reply;
    const rate = rateDecision([allowed, retry, remaining, reset]);
    return { rate, run: runOf(account, runId, kind.toString('latin1'), detail) };
  }
}

function runOf(account: string, runId: string, kind: string, detail: Buffer): RunRecord | null {
  if (kind === 'running') return runningRecord(account, runId, decodeClaim(detail.toString()));
  if (kind !== 'ended') return null;
  return decodeRecord(account, runId, detail, (sizeBytes) => outputInRedis(account, runId, sizeBytes));
}
