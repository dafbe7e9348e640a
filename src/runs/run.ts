// A Run as the registry keeps it and as it is shown (interface 2.1, with a `report`). It is rendered once, when it ends.
// States of a Run: running → succeeded or failed.
import type { FailureCode } from '../../workers/failure.ts';
import type { RunReport } from '../../workers/report.ts';
import type { StoredOutput } from '../outputs/output-store.ts';
import { TimeTexts } from '../time-texts.ts';

export interface RunRecord {
  readonly id: string;
  readonly account: string;
  readonly templateId: string;
  /** Milliseconds since 1970, as all times here. */
  readonly createdAt: number;
  status: 'running' | 'succeeded' | 'failed';
  /** Infinity while it runs. */
  expiresAt: number;
  errorCode: FailureCode | null;
  output: StoredOutput | null;
  /** The whole Run as JSON, null while it runs. */
  json: Buffer | null;
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
    expiresAt: Number.POSITIVE_INFINITY,
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

/** Ends a running Run. */
export function finishRun(run: RunRecord, result: RunResult, { baseUrl, times }: RunTexts): void {
  run.status = result.output === null ? 'failed' : 'succeeded';
  run.expiresAt = result.expiresAt;
  run.errorCode = result.error?.code ?? null;
  run.output = result.output?.stored ?? null;
  run.json = Buffer.from(render(run, result, baseUrl(), times));
}

/** The Run as JSON, or as the bytes of it. */
export function runJson(run: RunRecord): string | Uint8Array {
  return run.json ?? render(run, null, '', new TimeTexts());
}

/** Name of the output's file for its download; null without an output. */
export function outputNameOf(run: RunRecord): string | null {
  return run.json === null
    ? null
    : ((JSON.parse(run.json.toString()) as { output: { name: string } | null }).output?.name ?? null);
}

function render(run: RunRecord, result: RunResult | null, baseUrl: string, times: TimeTexts): string {
  const report = result?.reportText ?? null;
  return `${renderWithout(run, result, baseUrl, times)}${report === null ? 'null' : shortened(report)}}`;
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
function renderWithout(run: RunRecord, result: RunResult | null, baseUrl: string, times: TimeTexts): string {
  const { id } = run;
  const output = result?.output ?? null;
  const error = result?.error ?? null;
  const completedAt = result === null ? 'null' : `"${times.of(result.completedAt)}"`;
  const expiresAt = result === null ? 'null' : `"${times.of(result.expiresAt)}"`;
  return (
    `{"id":"${id}","status":"${run.status}","template_id":"${run.templateId}",` +
    `"created_at":"${times.of(run.createdAt)}","completed_at":${completedAt},"expires_at":${expiresAt},` +
    `"rows_written":${result?.rowsWritten ?? null},"truncated":${result?.truncated ?? false},` +
    `"output":${output === null ? 'null' : renderOutput(id, output, baseUrl)},` +
    `"error":${error === null ? 'null' : JSON.stringify(error)},"report":`
  );
}

function renderOutput(id: string, { stored, name, mimeType }: NamedOutput, baseUrl: string): string {
  const address = `${baseUrl}${runPath(id)}/output`;
  return `{"name":"${name}","mime_type":"${mimeType}","size_bytes":${stored.sizeBytes},"download_url":"${address}"}`;
}
