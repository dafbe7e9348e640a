// How a Run ends that the service has not brought to its end.
import type { Failure } from '../../workers/protocol/failure.ts';
import { endedRun, type RunRecord, type RunTexts } from './run.ts';

export const INTERRUPTED: Failure = {
  code: 'RUN_INTERRUPTED',
  message: 'The service was interrupted before the Run completed. Send the request again with the same key.',
};

/** The record of a Run whose node has gone. */
export function interruptedRun(
  running: RunRecord,
  completedAt: number,
  retentionMilliseconds: number,
  texts: RunTexts,
): RunRecord {
  const { code, message } = INTERRUPTED;
  const expiresAt = completedAt + retentionMilliseconds;
  const nothing = { rowsWritten: null, truncated: false, output: null, reportText: null, rejects: null };
  return endedRun(running, { ...nothing, completedAt, expiresAt, error: { code, message } }, texts);
}
