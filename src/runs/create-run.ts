// create_run from check 9 on: who owns the request's Idempotency-Key decides whether it makes a Run, waits for another
// request's, or repeats one. The checks before are the route's.
import { Lease } from '../admission/lease.ts';
import { busy } from '../http/refusal.ts';
import { Admission } from './admit.ts';
import { type CreateRunRequest, keyReused } from './create-run-request.ts';
import type { Claim, Ownership } from './idempotency.ts';
import { makeRun } from './make-run.ts';
import type { NodeState } from './node-state.ts';
import { replayRun } from './replay-run.ts';
import { takeSeat } from './take-seat.ts';

type OtherClaim = Exclude<Claim, { kind: 'owner' }>;

/** Resolves when the request is answered and its Run, if it made one, is over. */
export async function createRun(node: NodeState, request: CreateRunRequest): Promise<void> {
  const lease = new Lease();
  // Left when all else has been given back.
  lease.hold(node.drain.enter());
  let ownership: Ownership | null = null;
  try {
    if (request.key !== null) {
      const asked = node.keys.claim(request.account.id, request.key, request.template.id, Date.now());
      const claim = asked instanceof Promise ? await asked : asked;
      if (claim.kind !== 'owner') return await answerClaim(node, request, claim);
      ownership = claim.ownership;
    }
    const admission = new Admission(node, request, lease);
    const asked = admission.takeAll();
    const refused = asked instanceof Promise ? await asked : asked;
    if (refused === null) {
      await makeRun(node, request, { admission, ownership, lease, upload: null });
      return;
    }
    admission.giveBack(true);
    ownership?.abandon();
    request.exchange.refuse(refused);
  } finally {
    // Does nothing where the key has been given its Run or was given up above.
    ownership?.abandon();
    const underWay = lease.release();
    if (underWay !== undefined) await underWay;
  }
}

/** Of a key that is another request's. */
async function answerClaim(node: NodeState, request: CreateRunRequest, claim: OtherClaim): Promise<void> {
  const { exchange } = request;
  if (claim.kind === 'seat') await takeSeat(node, request, claim.seat);
  else if (claim.kind === 'replay') await replayRun(node, request, claim);
  else if (claim.kind === 'crowded') exchange.refuse(busy('Too many requests wait for this Idempotency-Key.'));
  else exchange.refuse(keyReused());
}
