// The fields of the two lines that most of the log is made of: of a request that was answered, and of a Run that has ended.
import type { FinishedExchange } from '../http/finished-exchange.ts';
import type { RunEnded } from '../runs/node-state.ts';
import type { RunRecord } from '../runs/run.ts';

/** Others are the client's own words. */
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
  };
}

/** Named as those of a request. */
export function runLine(run: RunRecord, details: RunEnded): object {
  const { requestId, milliseconds, busyMilliseconds, fileBytes, rowsRead, rowsWritten, charged } = details;
  return {
    request_id: requestId,
    account: run.account,
    run: run.id,
    template: run.templateId,
    status: run.status,
    code: run.errorCode,
    ms: milliseconds,
    busy_ms: busyMilliseconds === null ? null : rounded(busyMilliseconds),
    file_bytes: fileBytes,
    rows_read: rowsRead,
    rows_written: rowsWritten,
    charged,
  };
}

/** To a thousandth: what follows is noise. */
function rounded(milliseconds: number): number {
  return Math.round(milliseconds * 1000) / 1000;
}
