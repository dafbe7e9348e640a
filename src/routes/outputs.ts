// get_run_output: the output file, whole or one range of it, with the conditions of RFC 9110.
import type { Exchange, HeaderPair } from '../http/exchange.ts';
import type { ByteSource } from '../http/send-bytes.ts';
import type { StoredOutput } from '../outputs/output-store.ts';
import { retryAfter } from '../runs/answer-run.ts';
import type { NodeState } from '../runs/node-state.ts';
import { outputNameOf } from '../runs/run.ts';
import { type Gate, grantAccess } from './access.ts';
import { type ByteRange, contentDisposition, entityTagMatches, requestedRange, wantsSha256 } from './conditions.ts';
import { findRun, runNotFound } from './runs.ts';

export async function getRunOutput(gate: Gate, node: NodeState, exchange: Exchange, runId: string): Promise<void> {
  const access = await grantAccess(gate, exchange, 'get_run_output');
  if (access === null) return;
  const run = await findRun(node, exchange, access.account.id, runId);
  if (run === null) return;
  if (run.output === null) {
    exchange.refuse({ ...runNotFound(), headers: run.status === 'running' ? [retryAfter(run)] : [] });
    return;
  }
  const { output } = run;
  // An output never changes: its Run's id names these bytes and no others.
  const entityTag = `"${run.id}"`;
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
  const name = outputNameOf(run) ?? run.id;
  const source = await openOutput(node, output, start);
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

function rangeOf(exchange: Exchange, output: StoredOutput, entityTag: string): ByteRange | 'unsatisfiable' | null {
  const ranges = exchange.headerValues('range');
  if (exchange.head.method !== 'GET' || ranges.length !== 1) return null;
  const ifRange = exchange.header('if-range');
  // A date never matches: outputs have no Last-Modified.
  if (ifRange !== null && ifRange !== entityTag) return null;
  return requestedRange(ranges[0] as string, output.sizeBytes);
}

/** null: it expired since the Run was found. */
async function openOutput(node: NodeState, output: StoredOutput, start: number): Promise<ByteSource | null> {
  try {
    return whileDraining(node, await node.outputs.read(output, start));
  } catch (fault) {
    if ((fault as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw fault;
  }
}

/** A drain waits until the source is closed, up to its deadline: then the download is cut with its connection. */
function whileDraining({ drain }: NodeState, source: ByteSource): ByteSource {
  const leave = drain.enter();
  const forget = drain.onDeadline(leave);
  const close = (): void => {
    source.close();
    forget();
    leave();
  };
  return { read: (position, lengthBytes) => source.read(position, lengthBytes), close };
}

async function reprDigest(node: NodeState, output: StoredOutput, source: ByteSource): Promise<HeaderPair> {
  try {
    const digest = Buffer.from(await node.outputs.sha256(output), 'hex').toString('base64');
    return ['Repr-Digest', `sha-256=:${digest}:`];
  } catch (fault) {
    source.close();
    throw fault;
  }
}
