// create_run (its checks before an Idempotency-Key, a slot and memory are acquired) and get_run.

import { passesRate } from '../admission/authenticate.ts';
import { andThen, type MaybePromise } from '../collections/maybe-promise.ts';
import { type Refusal, refusal } from '../http/error-codes.ts';
import type { Exchange } from '../http/exchange.ts';
import { boundaryOf } from '../http/multipart.ts';
import { ERRORS_EVERYWHERE, headerParameter, pathParameter, runContent } from '../http/openapi.ts';
import { CREATE_RUN_ENCODING } from '../http/openapi-schemas.ts';
import type { CreateRunRequest } from '../runs/admit.ts';
import { type AnswerParts, retryAfter } from '../runs/answer-run.ts';
import { type CreateRunParts, createRun } from '../runs/create-run.ts';
import { API_PATH, isRunId, type RunRecord, runJson } from '../runs/run.ts';
import { FORM_BYTES_MAX } from '../uploads/upload.ts';
import { countRate, type Endpoint, type Granted } from './endpoint.ts';

/** Path of one Run. */
export const RUN_PATH = `${API_PATH}/runs/{run_id}`;

/** Accepts 1 to 255 characters from space to tilde. */
const IDEMPOTENCY_KEY = /^[\x20-\x7E]{1,255}$/;

export const createRunEndpoint = {
  name: 'create_run',
  method: 'POST',
  path: `${API_PATH}/templates/{template_id}/runs`,
  scope: 'runs:write',
  openApi: {
    summary: 'Apply a Template to an uploaded file',
    parameters: [
      pathParameter('template_id'),
      headerParameter('Idempotency-Key', 'A repeat with the same key replays the Run.', {
        type: 'string',
        minLength: 1,
        maxLength: 255,
        pattern: '^[\\x20-\\x7E]{1,255}$',
      }),
    ],
    body: {
      required: true,
      content: {
        'multipart/form-data': {
          schema: { $ref: '#/components/schemas/CreateRunForm' },
          encoding: CREATE_RUN_ENCODING,
        },
      },
    },
    successes: [
      {
        status: 200,
        description: 'A replayed Run that has finished.',
        content: runContent('succeeded', 'failed'),
        headers: ['Location', 'Idempotent-Replayed'],
      },
      {
        status: 201,
        description: 'The Run has finished: succeeded, or failed with its error.',
        content: runContent('succeeded', 'failed'),
        headers: ['Location'],
      },
      {
        status: 202,
        description: 'The Run goes on: poll it.',
        content: runContent('running'),
        headers: ['Location', 'Retry-After', 'Idempotent-Replayed'],
      },
    ],
    errors: [
      ...ERRORS_EVERYWHERE,
      'MALFORMED_FILE',
      'EXPORT_LIMIT_REACHED',
      'TEMPLATE_NOT_FOUND',
      'RUN_NOT_FOUND',
      'IDEMPOTENCY_KEY_REUSED',
      'FILE_TOO_LARGE',
      'ROW_LIMIT_EXCEEDED',
      'UNSUPPORTED_FILE_TYPE',
      'INVALID_PARSE_PARAMS',
      'INVALID_IDEMPOTENCY_KEY',
      'TEMPLATE_COLUMNS_MISSING',
      'CONCURRENCY_LIMIT_REACHED',
      'SERVER_BUSY',
    ],
  },
  countsRate: true,
  handle: postRun,
} as const satisfies Endpoint<CreateRunParts>;

export const getRunEndpoint = {
  name: 'get_run',
  method: 'GET',
  path: RUN_PATH,
  scope: 'runs:read',
  openApi: {
    summary: 'Read a Run',
    parameters: [pathParameter('run_id')],
    successes: [
      {
        status: 200,
        description: 'The Run.',
        content: runContent('running', 'succeeded', 'failed'),
        headers: ['Retry-After'],
      },
    ],
    errors: [...ERRORS_EVERYWHERE, 'RUN_NOT_FOUND', 'TEMPLATE_NOT_FOUND', 'CONCURRENCY_LIMIT_REACHED', 'SERVER_BUSY'],
  },
  countsRate: true,
  handle: getRun,
} as const satisfies Endpoint<RunReadParts>;

/**
 * Checks 4 to 8. The rate is counted together with the following step. It is counted here only if the request is
 * refused before that.
 */
function postRun(granted: Granted<CreateRunParts>): MaybePromise<void> {
  const { node, exchange, access, rates, name } = granted;
  const request = readRequest(granted);
  if ('boundary' in request) return createRun(node, request);
  return andThen(countRate(rates, exchange, name, access), (passes) => {
    if (passes) exchange.refuse(request);
  });
}

/** Checks 5 to 8. */
function readRequest({ exchange, access, parameters }: Granted<unknown>): CreateRunRequest | Refusal {
  const { account, subscription } = access;
  const keys = exchange.headerValues('idempotency-key');
  const key = keys[0] ?? null;
  if (keys.length > 1 || (key !== null && !IDEMPOTENCY_KEY.test(key))) {
    return refusal('INVALID_IDEMPOTENCY_KEY', 'Send one Idempotency-Key of 1 to 255 printable characters.');
  }
  const template = account.templates.get(parameters['template_id']!);
  if (template === undefined) return refusal('TEMPLATE_NOT_FOUND', 'There is no Template with this id.');
  exchange.templateId = template.id;
  const boundary = boundaryOf(exchange.header('content-type') ?? '');
  if (boundary === null) {
    return refusal('UNSUPPORTED_FILE_TYPE', 'Send the file as multipart/form-data with a boundary.');
  }
  const refused = bodyRefusal(exchange, subscription.plan.uploadBytesMax);
  if (refused !== null) return refused;
  const rateLimit = subscription.plan.rateLimits.create_run;
  return { exchange, account, subscription, template, rateLimit, key, boundary };
}

/** The parts of the node that get_run needs. */
type RunReadParts = Pick<AnswerParts, 'admissions' | 'runs'>;

async function getRun(granted: Granted<RunReadParts>): Promise<void> {
  const { exchange, node } = granted;
  const run = await findRun(granted);
  if (run !== null) exchange.json(200, runJson(run), run.status === 'running' ? [retryAfter(node, run)] : []);
}

/** Check 4 and reading the account's Run in one step. Returns null if the exchange has been answered. */
export async function findRun({
  node,
  exchange,
  access,
  rates,
  name,
  parameters,
}: Granted<Pick<AnswerParts, 'runs'>>): Promise<RunRecord | null> {
  const runId = parameters['run_id']!;
  const { id } = access.account;
  const limit = access.subscription.plan.rateLimits[name];
  const { rate, run } = isRunId(runId)
    ? await node.runs.read(id, runId, { operation: name, limit })
    : { rate: await rates.take(id, name, limit), run: null };
  if (!passesRate(exchange, name, limit, rate)) return null;
  if (run === null) {
    exchange.refuse(runNotFound());
    return null;
  }
  exchange.runId = run.id;
  exchange.templateId = run.templateId;
  return run;
}

export function runNotFound(): Refusal {
  return refusal('RUN_NOT_FOUND', 'There is no Run with this id.');
}

/** Checks 7 and 8. */
function bodyRefusal(exchange: Exchange, fileBytesMax: number | null): Refusal | null {
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
