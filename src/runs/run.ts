// A Run as the store keeps it and as it is shown: a value. The record of a running Run is replaced by another when it ends,
// which is rendered once.
// States of a Run: running → succeeded or failed.
import type { FailureCode } from '../../workers/protocol/failure.ts';
import type { RunReport } from '../../workers/run/report.ts';
import type { StoredOutput } from '../outputs/output-store.ts';
import { TimeTexts } from '../telemetry/time-texts.ts';

export interface RunRecord {
  readonly id: string;
  readonly account: string;
  readonly templateId: string;
  /** Milliseconds since 1970, as all times that are shown. */
  readonly createdAt: number;
  readonly status: 'running' | 'succeeded' | 'failed';
  readonly errorCode: FailureCode | null;
  readonly output: StoredOutput | null;
  /** Its rejected rows, where the Template makes a file of them. */
  readonly rejects?: StoredOutput;
  /** The whole Run as JSON, null while it runs. */
  readonly json: Buffer | null;
}

/** An output with what its Run tells of it. */
export interface NamedOutput {
  readonly stored: StoredOutput;
  readonly name: string;
  readonly mimeType: string;
}

/** How a Run has ended. */
export interface RunResult {
  readonly completedAt: number;
  readonly expiresAt: number;
  readonly rowsWritten: number | null;
  readonly truncated: boolean;
  readonly output: NamedOutput | null;
  readonly rejects: NamedOutput | null;
  readonly error: { readonly code: FailureCode; readonly message: string } | null;
  /** A RunReport as JSON. */
  readonly reportText: string | null;
}

/** Path of the API; every address begins with it. */
export const API_PATH = '/api/v1';

/** A report in a record is at most this long, in characters of JSON. */
const REPORT_CHARACTERS_MAX = 64 * 1024;

export function runPath(id: string): string {
  return `${API_PATH}/runs/${id}`;
}

export function newRun(id: string, account: string, templateId: string, createdAt: number): RunRecord {
  return {
    id,
    account,
    templateId,
    createdAt,
    status: 'running',
    errorCode: null,
    output: null,
    json: null,
  };
}

/** What Runs are rendered with. */
export interface RunTexts {
  /** Of the service, for its clients. */
  readonly baseUrl: () => string;
  readonly times: TimeTexts;
}

/** The record of a running Run that has ended like this. */
export function endedRun(running: RunRecord, result: RunResult, { baseUrl, times }: RunTexts): RunRecord {
  const { id, account, templateId, createdAt } = running;
  const status = result.output === null ? 'failed' : 'succeeded';
  const json = Buffer.from(render(running, status, result, baseUrl(), times));
  const errorCode = result.error?.code ?? null;
  const ended = {
    id,
    account,
    templateId,
    createdAt,
    status,
    errorCode,
    output: result.output?.stored ?? null,
    json,
  } as const;
  return result.rejects === null ? ended : { ...ended, rejects: result.rejects.stored };
}

/** The Run as JSON, or as the bytes of it. */
export function runJson(run: RunRecord): string | Uint8Array {
  return run.json ?? render(run, 'running', null, '', new TimeTexts());
}

/** Name of a file of the Run for its download; null where it has none. */
export function fileNameOf(run: RunRecord, file: 'output' | 'rejects'): string | null {
  if (run.json === null) return null;
  const shown = JSON.parse(run.json.toString()) as {
    readonly [name in typeof file]?: { readonly name: string } | null;
  };
  return shown[file]?.name ?? null;
}

function render(
  run: RunRecord,
  status: RunRecord['status'],
  result: RunResult | null,
  baseUrl: string,
  times: TimeTexts,
): string {
  const report = result?.reportText ?? null;
  return `${renderWithout(run, status, result, baseUrl, times)}${report === null ? 'null' : shortened(report)}}`;
}

/** A report that is too long loses its per-operation part, and says so. */
function shortened(reportText: string): string {
  if (reportText.length <= REPORT_CHARACTERS_MAX) return reportText;
  return JSON.stringify({ ...(JSON.parse(reportText) as RunReport), operations: [], shortened: true });
}

/**
 * Up to the report. By hand: for as many short fields the engine's own JSON takes three times as long. Ids, statuses,
 * times, types, names of outputs (output-name.ts) and addresses hold nothing that JSON would have to escape.
 */
function renderWithout(
  run: RunRecord,
  status: RunRecord['status'],
  result: RunResult | null,
  baseUrl: string,
  times: TimeTexts,
): string {
  const { id } = run;
  const output = result?.output ?? null;
  const rejects = result?.rejects ?? null;
  const error = result?.error ?? null;
  const completedAt = result === null ? 'null' : `"${times.of(result.completedAt)}"`;
  const expiresAt = result === null ? 'null' : `"${times.of(result.expiresAt)}"`;
  return (
    `{"id":"${id}","status":"${status}","template_id":"${run.templateId}",` +
    `"created_at":"${times.of(run.createdAt)}","completed_at":${completedAt},"expires_at":${expiresAt},` +
    `"rows_written":${result?.rowsWritten ?? null},"truncated":${result?.truncated ?? false},` +
    `"output":${output === null ? 'null' : renderFile(id, 'output', output, baseUrl)},` +
    (rejects === null ? '' : `"rejects":${renderFile(id, 'rejects', rejects, baseUrl)},`) +
    `"error":${error === null ? 'null' : JSON.stringify(error)},"report":`
  );
}

function renderFile(id: string, file: string, { stored, name, mimeType }: NamedOutput, baseUrl: string): string {
  const address = `${baseUrl}${runPath(id)}/${file}`;
  return `{"name":"${name}","mime_type":"${mimeType}","size_bytes":${stored.sizeBytes},"download_url":"${address}"}`;
}
