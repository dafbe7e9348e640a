// get_run_output and get_run_rejects: the output file and that of rejected rows, whole or one range of it, with the conditions of RFC 9110.
import type { Exchange } from '../http/exchange.ts';
import { ERRORS_EVERYWHERE, headerParameter, pathParameter } from '../http/openapi.ts';
import { type Refusal, refusal } from '../http/refusal.ts';
import type { HeaderPair } from '../http/request-head.ts';
import type { RangeReader } from '../http/send-bytes.ts';
import type { StoredOutput } from '../outputs/output-store.ts';
import { retryAfter } from '../runs/answer-run.ts';
import type { NodeState } from '../runs/node-state.ts';
import { fileNameOf, type RunRecord } from '../runs/run.ts';
import { type ByteRange, contentDisposition, entityTagMatches, requestedRange, wantsSha256 } from './conditions.ts';
import type { Endpoint, Granted } from './endpoint.ts';
import { findRun, RUN_PATH, runNotFound } from './runs.ts';

const FILE_CONTENT = { 'application/octet-stream': { schema: { type: 'string', format: 'binary' } } };

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
      headerParameter('If-Range', 'The ETag for which the range is wanted.'),
      headerParameter('If-None-Match', 'ETags that the client has.'),
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
      { status: 304, description: 'The client has it.', headers: ['ETag'] },
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
    // An output never changes: its Run's id names these bytes and no others.
    else await answerFile(granted, run.output, `"${run.id}"`, fileNameOf(run, 'output') ?? run.id);
  },
} as const satisfies Endpoint;

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
    else await answerFile(granted, run.rejects, `"${run.id}-rejects"`, fileNameOf(run, 'rejects') ?? run.id);
  },
} as const satisfies Endpoint;

async function answerFile(granted: Granted, output: StoredOutput, entityTag: string, name: string): Promise<void> {
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
    exchange.empty(304, headers);
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
    exchange.refuse(runNotFound());
    return;
  }
  headers.push(['Content-Type', 'application/octet-stream'], ['Accept-Ranges', 'bytes']);
  headers.push(['Content-Disposition', contentDisposition(name)]);
  if (wantsSha256(exchange.headerValues('want-repr-digest'))) headers.push(await reprDigest(node, output, source));
  if (range !== null) headers.push(['Content-Range', `bytes ${range.start}-${range.end}/${output.sizeBytes}`]);
  exchange.bytes(range === null ? 200 : 206, headers, length, source);
}

/** The Run is there and has no output, or none yet. */
function noOutput(node: NodeState, run: RunRecord): Refusal {
  if (run.status !== 'running') return refusal('RUN_NOT_FOUND', 'The Run has failed: it has no output.');
  const message = 'The Run is not finished: it has no output yet. Ask again after Retry-After seconds.';
  return { ...refusal('RUN_NOT_FOUND', message), headers: [retryAfter(node, run)] };
}

function rangeOf(exchange: Exchange, output: StoredOutput, entityTag: string): ByteRange | 'unsatisfiable' | null {
  const ranges = exchange.headerValues('range');
  if (exchange.head.method !== 'GET' || ranges.length !== 1) return null;
  const ifRange = exchange.header('if-range');
  // A date never matches: outputs have no Last-Modified.
  if (ifRange !== null && ifRange !== entityTag) return null;
  return requestedRange(ranges[0] as string, output.sizeBytes);
}

/** null: it expired since the Run was found. */
async function openOutput(
  node: NodeState,
  output: StoredOutput,
  start: number,
  lengthBytes: number,
): Promise<RangeReader | null> {
  const source = await node.outputs.open(output, start, lengthBytes);
  return source === null ? null : whileDraining(node, source);
}

/** A drain waits until the source is closed, up to its deadline: then the download is cut with its connection. */
function whileDraining({ drain }: NodeState, source: RangeReader): RangeReader {
  const leave = drain.enter();
  const forget = drain.onDeadline(leave);
  const close = (): void => {
    source.close();
    forget();
    leave();
  };
  return { read: (position, lengthBytes) => source.read(position, lengthBytes), close };
}

async function reprDigest(node: NodeState, output: StoredOutput, source: RangeReader): Promise<HeaderPair> {
  try {
    const digest = Buffer.from(await node.outputs.sha256(output), 'hex').toString('base64');
    return ['Repr-Digest', `sha-256=:${digest}:`];
  } catch (fault) {
    source.close();
    throw fault;
  }
}
