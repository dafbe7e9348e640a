// get_run_output and get_run_rejects: the output file and the file of rejected rows, whole or one range.

import { type Refusal, refusal } from '../http/error-codes.ts';
import type { Exchange } from '../http/exchange.ts';
import { ERRORS_EVERYWHERE, headerParameter, pathParameter } from '../http/openapi.ts';
import type { HeaderPair } from '../http/request-head.ts';
import type { RangeReader } from '../http/send-bytes.ts';
import { OutputMissingError, type OutputStore, type StoredOutput } from '../outputs/output-store.ts';
import { retryAfter } from '../runs/answer-run.ts';
import type { Drain } from '../runs/drain.ts';
import { expiryOf, fileNameOf, type RunRecord } from '../runs/run.ts';
import type { AdmissionStore } from '../stores/admission-store.ts';
import type { RunStore } from '../stores/stores.ts';
import type { Endpoint, Granted } from './endpoint.ts';
import { findRun, RUN_PATH, runNotFound } from './runs.ts';

// Parses and formats headers of downloads: ranges, entity tags, digests, file names. Pure functions on texts.

/** Both bounds are included. */
interface ByteRange {
  readonly start: number;
  readonly end: number;
}

/**
 * Parses one range (RFC 9110, 14.1.2). Returns null for an unsupported range (another unit, several ranges, wrong
 * syntax), so that the whole output is sent.
 */
export function requestedRange(header: string, sizeBytes: number): ByteRange | 'unsatisfiable' | null {
  const [, first, last] = /^bytes[ \t]*=[ \t]*(\d*)-(\d*)[ \t]*$/i.exec(header) ?? [];
  if (first === undefined || last === undefined || (first === '' && last === '')) return null;
  if (first === '') {
    const suffix = Math.min(Number(last), sizeBytes);
    // The last bytes of an empty output are the whole output, but Content-Range cannot express this.
    if (suffix === 0) return Number(last) === 0 ? 'unsatisfiable' : null;
    return { start: sizeBytes - suffix, end: sizeBytes - 1 };
  }
  const start = Number(first);
  if (last !== '' && Number(last) < start) return null;
  if (start >= sizeBytes) return 'unsatisfiable';
  return { start, end: last === '' ? sizeBytes - 1 : Math.min(Number(last), sizeBytes - 1) };
}

/**
 * If-None-Match (RFC 9110, 13.1.2): weak comparison with each tag in the list. With `strong`, If-Match (13.1.1), for
 * which weak tags never match. Several header lines form one list.
 */
export function entityTagMatches(headers: readonly string[], entityTag: string, strong = false): boolean {
  const list = headers.join(',');
  if (list.trim() === '*') return true;
  return [...list.matchAll(/(W\/)?("[^"]*")/g)].some(([, weak, tag]) => tag === entityTag && !(strong && weak));
}

/** True if Want-Repr-Digest (RFC 9530, 4) requests sha-256. */
export function wantsSha256(headers: readonly string[]): boolean {
  return headers.some((header) => /(?:^|,)[ \t]*sha-256[ \t]*=[ \t]*(?:[1-9]|10)(?:[ \t;,]|$)/i.test(header));
}

/** RFC 6266: an ASCII name for old clients, and the real name in UTF-8. */
export function contentDisposition(name: string): string {
  const plain = name.replace(/[^\x20-\x7E]|["\\%]/g, '_');
  const encoded = encodeURIComponent(name).replace(/['()*]/g, (character) => {
    return `%${character.charCodeAt(0).toString(16).toUpperCase()}`;
  });
  return `attachment; filename="${plain}"; filename*=UTF-8''${encoded}`;
}

// get_run_output and get_run_rejects: the output file and the file of rejected rows, whole or one range, with
// conditional requests (RFC 9110).

/** Maximum difference between the clocks of ready nodes. */
const EXPIRY_SLACK_MILLISECONDS = 10_000;

const FILE_CONTENT = { 'application/octet-stream': { schema: { type: 'string', format: 'binary' } } };

/** The parts of the node that downloads need. */
export interface OutputParts {
  readonly runs: RunStore;
  readonly admissions: AdmissionStore;
  readonly outputs: OutputStore;
  readonly drain: Drain;
}

export const getRunOutputEndpoint = {
  name: 'get_run_output',
  method: 'GET',
  path: `${RUN_PATH}/output`,
  scope: 'runs:read',
  openApi: {
    summary: "Download a Run's output file",
    parameters: [
      pathParameter('run_id'),
      headerParameter('Range', 'One range of bytes.'),
      headerParameter(
        'If-Range',
        'The range is sent only if the output still has this ETag; otherwise the whole file is sent.',
      ),
      headerParameter('If-None-Match', 'ETags of copies that the client already has.'),
      headerParameter('If-Match', 'ETags of which one must be that of the output.'),
      headerParameter('Want-Repr-Digest', 'sha-256=1 asks for Repr-Digest (RFC 9530).'),
    ],
    successes: [
      {
        status: 200,
        description: 'The whole file.',
        content: FILE_CONTENT,
        headers: ['Content-Disposition', 'ETag', 'Accept-Ranges', 'Repr-Digest'],
      },
      {
        status: 206,
        description: 'One range of the file.',
        content: FILE_CONTENT,
        headers: ['Content-Disposition', 'ETag', 'Accept-Ranges', 'Content-Range', 'Repr-Digest'],
      },
      { status: 304, description: 'Not modified: the client already has this output.', headers: ['ETag'] },
    ],
    errors: [
      ...ERRORS_EVERYWHERE,
      'RUN_NOT_FOUND',
      'TEMPLATE_NOT_FOUND',
      'CONCURRENCY_LIMIT_REACHED',
      'PRECONDITION_FAILED',
      'RANGE_NOT_SATISFIABLE',
      'SERVER_BUSY',
    ],
  },
  countsRate: true,
  async handle(granted) {
    const run = await findRun(granted);
    if (run === null) return;
    if (run.output === null) granted.exchange.refuse(noOutput(granted.node, run));
    // An output never changes, so the Run's id identifies its bytes.
    else await answerFile(granted, run, run.output, `"${run.id}"`, fileNameOf(run, 'output') ?? run.id);
  },
} as const satisfies Endpoint<OutputParts>;

export const getRunRejectsEndpoint = {
  ...getRunOutputEndpoint,
  name: 'get_run_rejects',
  path: `${RUN_PATH}/rejects`,
  openApi: { ...getRunOutputEndpoint.openApi, summary: "Download a Run's rejected rows (CSV)" },
  async handle(granted) {
    const run = await findRun(granted);
    if (run === null) return;
    if (run.output === null) granted.exchange.refuse(noOutput(granted.node, run));
    else if (run.rejects === undefined)
      granted.exchange.refuse(
        refusal('RUN_NOT_FOUND', 'The Template of the Run rejects no rows: there is no such file.'),
      );
    else await answerFile(granted, run, run.rejects, `"${run.id}-rejects"`, fileNameOf(run, 'rejects') ?? run.id);
  },
} as const satisfies Endpoint<OutputParts>;

async function answerFile(
  granted: Granted<OutputParts>,
  run: RunRecord,
  output: StoredOutput,
  entityTag: string,
  name: string,
): Promise<void> {
  const { node, exchange } = granted;
  const headers: HeaderPair[] = [['ETag', entityTag]];
  const match = exchange.headerValues('if-match');
  if (match.length > 0 && !entityTagMatches(match, entityTag, true)) {
    exchange.refuse({
      code: 'PRECONDITION_FAILED',
      message: 'The output has another ETag than If-Match names.',
      headers,
    });
    return;
  }
  const noneMatch = exchange.headerValues('if-none-match');
  if (noneMatch.length > 0 && entityTagMatches(noneMatch, entityTag)) {
    exchange.notModified(output.sizeBytes, headers);
    return;
  }
  const range = rangeOf(exchange, output, entityTag);
  if (range === 'unsatisfiable') {
    const message = `The output has ${output.sizeBytes} bytes.`;
    const whole: HeaderPair = ['Content-Range', `bytes */${output.sizeBytes}`];
    exchange.refuse({ code: 'RANGE_NOT_SATISFIABLE', message, headers: [...headers, whole] });
    return;
  }
  const start = range?.start ?? 0;
  const length = range === null ? output.sizeBytes : range.end - range.start + 1;
  const source = await openOutput(node, output, start, length);
  if (source === null) {
    // Another node's clock, or Redis, may have expired it slightly earlier.
    if (Date.now() < (expiryOf(run) ?? 0) - EXPIRY_SLACK_MILLISECONDS) throw new OutputMissingError();
    exchange.refuse(runNotFound());
    return;
  }
  headers.push(['Content-Type', 'application/octet-stream'], ['Accept-Ranges', 'bytes']);
  headers.push(['Content-Disposition', contentDisposition(name)]);
  if (wantsSha256(exchange.headerValues('want-repr-digest'))) {
    const digest = await reprDigest(node, output, source);
    if (digest === null) {
      // It expired after it was opened.
      source.close();
      exchange.refuse(runNotFound());
      return;
    }
    headers.push(digest);
  }
  if (range !== null) headers.push(['Content-Range', `bytes ${range.start}-${range.end}/${output.sizeBytes}`]);
  exchange.bytes(range === null ? 200 : 206, headers, length, source);
}

/** The Run exists but has no output, or not yet. */
function noOutput(node: Pick<OutputParts, 'admissions'>, run: RunRecord): Refusal {
  if (run.status !== 'running') return refusal('RUN_NOT_FOUND', 'The Run has failed: it has no output.');
  const message = 'The Run is not finished: it has no output yet. Ask again after Retry-After seconds.';
  return { ...refusal('RUN_NOT_FOUND', message), headers: [retryAfter(node, run)] };
}

function rangeOf(exchange: Exchange, output: StoredOutput, entityTag: string): ByteRange | 'unsatisfiable' | null {
  const ranges = exchange.headerValues('range');
  if (exchange.head.method !== 'GET' || ranges.length !== 1) return null;
  const ifRange = exchange.header('if-range');
  // A date never matches, because outputs have no Last-Modified.
  if (ifRange !== null && ifRange !== entityTag) return null;
  return requestedRange(ranges[0] as string, output.sizeBytes);
}

/** Returns null if the output is missing. */
async function openOutput(
  node: OutputParts,
  output: StoredOutput,
  start: number,
  lengthBytes: number,
): Promise<RangeReader | null> {
  const source = await node.outputs.open(output, start, lengthBytes);
  return source === null ? null : whileDraining(node, source);
}

/** A drain waits until the source is closed, up to its deadline. Then the download is cut with its connection. */
function whileDraining({ drain }: Pick<OutputParts, 'drain'>, source: RangeReader): RangeReader {
  const leave = drain.enter();
  const forget = drain.onDeadline(leave);
  const close = (): void => {
    source.close();
    forget();
    leave();
  };
  return { heldBytes: source.heldBytes, read: (position, lengthBytes) => source.read(position, lengthBytes), close };
}

/** Returns null if the output has expired. */
async function reprDigest(
  node: Pick<OutputParts, 'outputs'>,
  output: StoredOutput,
  source: RangeReader,
): Promise<HeaderPair | null> {
  try {
    const digest = await node.outputs.sha256(output);
    return digest === null ? null : ['Repr-Digest', `sha-256=:${Buffer.from(digest, 'hex').toString('base64')}:`];
  } catch (fault) {
    source.close();
    throw fault;
  }
}
