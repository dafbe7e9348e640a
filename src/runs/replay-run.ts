// A repeat whose key already has a Run: its body is hashed and never stored, it needs neither quota nor slot nor memory.
import { answerRepeat, answerWhenOver } from './answer-run.ts';
import { type CreateRunRequest, keyReused } from './create-run-request.ts';
import type { Claim } from './idempotency.ts';
import { answerUploadEnd, newUpload } from './make-run.ts';
import type { NodeState } from './node-state.ts';

export async function replayRun(
  node: NodeState,
  request: CreateRunRequest,
  { fingerprint, runId, live }: Extract<Claim, { kind: 'replay' }>,
): Promise<void> {
  const { exchange } = request;
  const upload = newUpload(node, request, null);
  upload.begin();
  const end = await upload.finished;
  if (end.kind !== 'whole') answerUploadEnd(request, end);
  else if (end.fingerprint !== fingerprint) exchange.refuse(keyReused());
  else if (live !== null) {
    const deadline = upload.endedAt + node.waitMilliseconds;
    await new Promise<void>((resolve) => answerWhenOver(exchange, live, deadline, true, resolve));
  } else await answerRepeat(node.runs, request, runId);
}
