// The lines of requests and Runs are rendered by hand: they must be JSON whatever the texts contain.
import t from 'tap';
import type { FinishedExchange } from '../../../src/http/exchange.ts';
import { newRun } from '../../../src/runs/run.ts';
import { requestFields, runFields, runLine } from '../../../src/telemetry/log.ts';

const TEXTS = ['plain-id_1.2', 'with "quotes"', 'back\\slash', 'line\nend', 'Ünïcode \u2028 \ud800'];

const DETAILS = {
  milliseconds: 12,
  busyMilliseconds: 7.14159,
  threads: 2,
  fileBytes: 1024,
  rowsRead: 20,
  rowsWritten: 18,
  charged: true,
};

function request(text: string | null, fields: string | null): FinishedExchange {
  return {
    requestId: text ?? 'id',
    method: 'POST',
    endpoint: 'create_run',
    account: text,
    keyId: text,
    templateId: text,
    runId: text,
    runFields: fields,
    status: 201,
    code: text,
    milliseconds: 1.23456,
    receivedBytes: 1300,
    sentBytes: 900,
  };
}

const parsed = (fields: string): unknown => JSON.parse(`{${fields}}`);

t.test('the line of a request is JSON for any text', async (t) => {
  for (const text of TEXTS) {
    t.strictSame(parsed(requestFields(request(text, null))), {
      request_id: text,
      method: 'POST',
      operation: 'create_run',
      account: text,
      key: text,
      template: text,
      run: text,
      status: 201,
      code: text,
      ms: 1.235,
      received_bytes: 1300,
      sent_bytes: 900,
    });
  }
  t.match(parsed(requestFields(request(null, null))), { account: null, key: null, template: null, run: null });
  t.match(parsed(requestFields({ ...request(null, null), method: '"},{"' })), { method: 'other' });
});

t.test('the fields of a Run are the same in both lines', async (t) => {
  const run = newRun('run_1', 'acme', 'w1', 0);
  const fields = runFields(run, DETAILS);
  const expected = {
    run_status: 'running',
    run_code: null,
    run_ms: 12,
    busy_ms: 7.142,
    threads: 2,
    file_bytes: 1024,
    rows_read: 20,
    rows_written: 18,
    charged: true,
  };
  t.strictSame(parsed(fields), expected);
  t.match(parsed(requestFields(request('id', fields))), { run: 'id', ...expected });
  t.strictSame(parsed(runLine(run, 'id', fields)), {
    request_id: 'id',
    account: 'acme',
    template: 'w1',
    run: 'run_1',
    ...expected,
  });
  const none = { ...DETAILS, busyMilliseconds: null, rowsRead: null, rowsWritten: null };
  t.match(parsed(runFields(run, none)), { busy_ms: null, rows_read: null, rows_written: null });
});
