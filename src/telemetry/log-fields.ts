// Fields of the most frequent log lines. Each request has the line `request`, which also reports how its Run ended. If
// the Run ends after this line was written, a separate line `run` reports the end.
import type { FinishedExchange } from '../http/exchange.ts';
import type { RunEnded } from '../runs/node-state.ts';
import type { RunRecord } from '../runs/run.ts';

/** Other methods are text from the client and are not logged. */
const LOGGED_METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);

export function requestLine(exchange: FinishedExchange): object {
  const { requestId, method, endpoint, account, keyId, templateId, runId, status, code } = exchange;
  return {
    request_id: requestId,
    method: LOGGED_METHODS.has(method) ? method : 'other',
    operation: endpoint,
    account,
    key: keyId,
    template: templateId,
    run: runId,
    status,
    code,
    ms: rounded(exchange.milliseconds),
    received_bytes: exchange.receivedBytes,
    sent_bytes: exchange.sentBytes,
    ...exchange.runFields,
  };
}

/** Fields of an ended Run, for the line of its request or for its own line. */
export function runFields(run: RunRecord, details: RunEnded): object {
  const { milliseconds, busyMilliseconds, fileBytes, rowsRead, rowsWritten, charged } = details;
  return {
    run_status: run.status,
    run_code: run.errorCode,
    run_ms: milliseconds,
    busy_ms: busyMilliseconds === null ? null : rounded(busyMilliseconds),
    file_bytes: fileBytes,
    rows_read: rowsRead,
    rows_written: rowsWritten,
    charged,
  };
}

/** Fields of the line of a Run that ended after the line of its request was written. */
export function runLine(run: RunRecord, requestId: string, fields: object): object {
  return { request_id: requestId, account: run.account, template: run.templateId, run: run.id, ...fields };
}

/** Rounded to a thousandth: further digits are noise. */
function rounded(milliseconds: number): number {
  return Math.round(milliseconds * 1000) / 1000;
}
