// A repeat whose key already has a Run: its body is hashed and never stored, it needs neither quota nor slot nor memory.
import { answerRepeat, answerWhenOver } from './answer-run.ts';
import { type CreateRunRequest, keyReused } from './create-run-request.ts';
import type { LiveRun } from './live-run.ts';
import { answerUploadEnd, newUpload } from './make-run.ts';
import type { NodeState } from './node-state.ts';

export interface RepeatedRun {
  readonly runId: string;
  readonly fingerprint: string;
  /** null: it is over, or another node's. */
  readonly live: LiveRun | null;
}

export async function replayRun(
  node: NodeState,
  request: CreateRunRequest,
  { fingerprint, runId, live }: RepeatedRun,
): Promise<void> {
  const { exchange } = request;
  const upload = newUpload(node, request, null);
  upload.begin();
  const end = await upload.finished;
  const deadline = upload.endedAfter + node.waitMilliseconds;
  if (end.kind !== 'whole') answerUploadEnd(request, end);
  else if (end.fingerprint !== fingerprint) exchange.refuse(keyReused());
  else if (live === null) await answerRepeat(node, request, runId, deadline);
  else await new Promise<void>((resolve) => answerWhenOver(node, exchange, live, deadline, true, resolve));
}
