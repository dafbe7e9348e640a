// Guarantees for all responses of one kind, checked wherever a test receives such a response.
import type { Test } from 'tap';
import type { Answer } from './client.ts';

/** An error of the interface: status, code, body, headers. */
export function expectError(t: Test, answer: Answer, status: number, code: string): void {
  t.equal(`${answer.status} ${answer.code}`, `${status} ${code}`, `answers ${status} ${code}`);
  t.match(answer.headers['content-type'], /^application\/json/, 'is JSON');
  t.type(answer.json['message'], 'string');
  t.not(answer.json['message'], '', 'has a message');
  t.equal(answer.json['request_id'], answer.headers['x-request-id'], 'carries its request id in body and header');
  t.ok(answer.headers['x-request-id'], 'has a request id');
  t.equal('quota' in answer.json, status === 402, 'only 402 carries quota');
  t.equal('columns' in answer.json, code === 'TEMPLATE_COLUMNS_MISSING', 'only missing columns carry columns');
  if (status === 429 || status === 503) expectRetryAfter(t, answer);
  if (status === 401) t.match(answer.headers['www-authenticate'], /^Bearer realm="template-run"/);
}

/** Integer seconds, at least 1. */
export function expectRetryAfter(t: Test, answer: Answer): void {
  t.match(answer.headers['retry-after'], /^[1-9][0-9]*$/, 'Retry-After is an integer of at least 1');
}

/** A Run of the interface in the given status, with everything that this status implies. */
export function expectRun(t: Test, answer: Answer, status: number, runStatus: string): void {
  t.equal(
    `${answer.status} ${answer.run.status}`,
    `${status} ${runStatus}`,
    `${answer.status} ${answer.text}`.slice(0, 300),
  );
  t.match(answer.headers['content-type'], /^application\/json/, 'is JSON');
  const run = answer.run;
  t.match(run.id, /^run_[a-z2-7]{26}$/i, 'has 130 bits of base32');
  t.match(run.created_at, DATE_TIME);
  t.equal(run.output != null, runStatus === 'succeeded', 'has an output exactly when it succeeded');
  t.equal(run.error != null, runStatus === 'failed', 'has an error exactly when it failed');
  const times = [run.completed_at, run.expires_at];
  if (runStatus === 'running') t.strictSame(times, [null, null], 'has no end yet');
  else for (const time of times) t.match(time, DATE_TIME);
  if (run.error != null) t.not(run.error.message, '', 'says why');
  if (status !== 202) return;
  t.equal(answer.headers.location, `/api/v1/runs/${run.id}`, 'Location is the path of the Run');
  expectRetryAfter(t, answer);
}

/** An answer that repeats a Run of an earlier request. */
export function expectReplay(t: Test, answer: Answer, of: Answer, status = 200): void {
  t.equal(answer.status, status, answer.text.slice(0, 300));
  t.equal(answer.run.id, of.run.id, 'is the same Run');
  t.equal(answer.headers['idempotent-replayed'], 'true', 'says that it is a replay');
}

/** An answer whose Run this request made. */
export function expectNew(t: Test, answer: Answer, of?: Answer): void {
  t.equal(answer.status, 201, answer.text.slice(0, 300));
  t.equal(answer.headers['idempotent-replayed'], undefined, 'is no replay');
  if (of !== undefined) t.not(answer.run.id, of.run.id, 'is a Run of its own');
}

const DATE_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/;
