// create_run from check 9 on: who owns the request's Idempotency-Key decides whether it makes a Run, waits for another
// request's, or repeats one. The checks before are the route's.
import { Lease } from '../admission/lease.ts';
import { busy } from '../http/refusal.ts';
import { Admission } from './admit.ts';
import { type CreateRunRequest, keyReused } from './create-run-request.ts';
import type { Ownership } from './idempotency.ts';
import { makeRun } from './make-run.ts';
import type { NodeState } from './node-state.ts';
import { replayRun } from './replay-run.ts';
import { takeSeat } from './take-seat.ts';

/** Resolves when the request is answered and its Run, if it made one, is over. */
export async function createRun(node: NodeState, request: CreateRunRequest): Promise<void> {
  const leave = node.drain.enter();
  try {
    const { account, template, key, exchange } = request;
    if (key === null) {
      await ownRun(node, request, null);
      return;
    }
    const asked = node.keys.claim(account.id, key, template.id, Date.now());
    const claim = asked instanceof Promise ? await asked : asked;
    if (claim.kind === 'owner') await ownRun(node, request, claim.ownership);
    else if (claim.kind === 'seat') await takeSeat(node, request, claim.seat);
    else if (claim.kind === 'replay') await replayRun(node, request, claim);
    else if (claim.kind === 'crowded') exchange.refuse(busy('Too many requests wait for this Idempotency-Key.'));
    else exchange.refuse(keyReused());
  } finally {
    leave();
  }
}

async function ownRun(node: NodeState, request: CreateRunRequest, ownership: Ownership | null): Promise<void> {
  const lease = new Lease();
  try {
    const admission = new Admission(node, request, lease);
    const asked = admission.takeAll();
    const refused = asked instanceof Promise ? await asked : asked;
    if (refused === null) {
      await makeRun(node, request, { admission, ownership, lease, upload: null });
      return;
    }
    await lease.release();
    ownership?.abandon();
    request.exchange.refuse(refused);
  } finally {
    // Does nothing where the key has been given its Run or was given up above.
    ownership?.abandon();
    const underWay = lease.release();
    if (underWay !== undefined) await underWay;
  }
}
