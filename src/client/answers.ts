// Reads the answers of the API: JSON of a bounded length, and errors as what they are.
import type { QuotaErrorBody, Run, TemplateList, Usage } from './api-schemas.ts';
import { TemplateRunError } from './errors.ts';
import type { TransportAnswer } from './transport.ts';

/** A report has at most 64 KiB, an account thousands of Templates: longer is not this API's. */
const BODY_BYTES_MAX = 16 * 1024 * 1024;

export interface RunAnswer {
  readonly run: Run;
  /** In seconds; null: the Run has ended. */
  readonly retryAfter: number | null;
}

export async function readRun(answer: TransportAnswer): Promise<RunAnswer> {
  const body = await readJson<Run>(answer);
  if (!isRun(body)) throw unexpected(answer);
  return { run: body, retryAfter: retryAfterOf(answer) };
}

function isRun(body: Partial<Run>): body is Run {
  return typeof body.id === 'string' && typeof body.status === 'string';
}

export async function readTemplates(answer: TransportAnswer): Promise<TemplateList['data']> {
  const { data } = await readJson<TemplateList>(answer);
  if (!Array.isArray(data)) throw unexpected(answer);
  return data;
}

export async function readUsage(answer: TransportAnswer): Promise<Usage> {
  const body = await readJson<Usage>(answer);
  if (typeof body.used !== 'number' || typeof body.resets_at !== 'string') throw unexpected(answer);
  return body as Usage;
}

/** Throws what an answer other than 2xx says; its body is read to its end. */
export async function refuseErrors(answer: TransportAnswer): Promise<void> {
  if (answer.status >= 200 && answer.status < 300) return;
  const { error, message, request_id: requestId, columns, quota } = await readJson<QuotaErrorBody>(answer);
  if (typeof error !== 'string' || typeof message !== 'string') throw unexpected(answer);
  throw new TemplateRunError(error, message, {
    status: answer.status,
    requestId: requestId ?? answer.header('x-request-id'),
    retryAfter: retryAfterOf(answer),
    columns: columns ?? null,
    quota: quota ?? null,
  });
}

async function readJson<Body>(answer: TransportAnswer): Promise<Partial<Body>> {
  const decoder = new TextDecoder();
  let text = '';
  for await (const piece of answer.body) {
    text += decoder.decode(piece, { stream: true });
    if (text.length > BODY_BYTES_MAX) throw unexpected(answer);
  }
  let value: unknown;
  try {
    value = JSON.parse(text + decoder.decode());
  } catch {
    throw unexpected(answer);
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw unexpected(answer);
  return value as Partial<Body>;
}

/** Seconds alone: the service sends no dates. */
function retryAfterOf(answer: TransportAnswer): number | null {
  const text = answer.header('retry-after') ?? '';
  return /^\d{1,9}$/.test(text) ? Number(text) : null;
}

/** File and key go to no other place than the one that they were given for. */
export function redirected(): TemplateRunError {
  const message = 'The answer is a redirect to another address: write the one that is meant as the base URL.';
  return new TemplateRunError('UNEXPECTED_ANSWER', message);
}

/** What it says instead is not told: it may be anything. */
export function unexpected(answer: TransportAnswer): TemplateRunError {
  const message = `The answer with status ${answer.status} is none of this API's: look at the base URL and at proxies before it.`;
  const { status } = answer;
  const requestId = answer.header('x-request-id');
  return new TemplateRunError('UNEXPECTED_ANSWER', message, { status, requestId, retryAfter: retryAfterOf(answer) });
}
