// create_run (its checks 2 to 8) and get_run.
import type { Authenticated } from '../admission/authenticate.ts';
import type { Exchange } from '../http/exchange.ts';
import { boundaryOf } from '../http/multipart.ts';
import { type Refusal, refusal } from '../http/refusal.ts';
import { retryAfter } from '../runs/answer-run.ts';
import { createRun } from '../runs/create-run.ts';
import type { NodeState } from '../runs/node-state.ts';
import type { CheckedTemplate } from '../runs/output-name.ts';
import { type RunRecord, runJson } from '../runs/run.ts';
import { isRunId } from '../runs/run-ids.ts';
import { FORM_BYTES_MAX } from '../runs/upload.ts';
import { after, type Soon } from '../soon.ts';
import { type Gate, grantAccess } from './access.ts';

/** As sent: 1 to 255 characters from space to tilde. */
const IDEMPOTENCY_KEY = /^[\x20-\x7E]{1,255}$/;

export function postRun(gate: Gate, node: NodeState, exchange: Exchange, templateId: string): Soon<void> {
  return after(grantAccess(gate, exchange, 'create_run'), (access) => {
    if (access !== null) return postGranted(node, exchange, access, templateId);
  });
}

/** Checks 5 to 8. */
function postGranted(
  node: NodeState,
  exchange: Exchange,
  { account, subscription }: Authenticated<CheckedTemplate>,
  templateId: string,
): Soon<void> {
  const keys = exchange.headerValues('idempotency-key');
  const key = keys[0] ?? null;
  if (keys.length > 1 || (key !== null && !IDEMPOTENCY_KEY.test(key))) {
    exchange.refuse(refusal('INVALID_IDEMPOTENCY_KEY', 'Send one Idempotency-Key of 1 to 255 printable characters.'));
    return;
  }
  const template = account.templates.get(templateId);
  if (template === undefined) {
    exchange.refuse(refusal('TEMPLATE_NOT_FOUND', 'There is no Template with this id.'));
    return;
  }
  const boundary = boundaryOf(exchange.header('content-type') ?? '');
  const refused = bodyRefusal(exchange, boundary, subscription.plan.uploadBytesMax);
  if (refused !== null || boundary === null) {
    if (refused !== null) exchange.refuse(refused);
    return;
  }
  return createRun(node, { exchange, account, subscription, template, key, boundary });
}

export async function getRun(gate: Gate, node: NodeState, exchange: Exchange, runId: string): Promise<void> {
  const access = await grantAccess(gate, exchange, 'get_run');
  if (access === null) return;
  const run = await findRun(node, exchange, access.account.id, runId);
  if (run !== null) exchange.json(200, runJson(run), run.status === 'running' ? [retryAfter(run)] : []);
}

/** The account's Run; null: the exchange has been answered with 404. */
export async function findRun(
  node: NodeState,
  exchange: Exchange,
  account: string,
  runId: string,
): Promise<RunRecord | null> {
  const run = isRunId(runId) ? await node.runs.get(account, runId, Date.now()) : null;
  if (run === null) exchange.refuse(runNotFound());
  else exchange.runId = run.id;
  return run;
}

export function runNotFound(): Refusal {
  return refusal('RUN_NOT_FOUND', 'There is no Run with this id.');
}

/** Checks 7 and 8. */
function bodyRefusal(exchange: Exchange, boundary: string | null, fileBytesMax: number | null): Refusal | null {
  if (boundary === null) {
    return refusal('UNSUPPORTED_FILE_TYPE', 'Send the file as multipart/form-data with a boundary.');
  }
  const encodings = exchange.headerValues('content-encoding');
  if (!encodings.every((encoding) => encoding === '' || encoding.toLowerCase() === 'identity')) {
    return refusal('UNSUPPORTED_FILE_TYPE', 'Send the body without a Content-Encoding.');
  }
  const length = Number(exchange.header('content-length') ?? 0);
  if (fileBytesMax !== null && length > fileBytesMax + FORM_BYTES_MAX) {
    return refusal('FILE_TOO_LARGE', `The file is larger than the plan's ceiling of ${fileBytesMax} bytes.`);
  }
  return null;
}
