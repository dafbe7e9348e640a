// Reads the JSON body of a request to the studio, and what stands in it, or says why it is refused.
import type { IncomingMessage } from 'node:http';

/** A Template has at most a million characters, of up to four bytes each, and JSON escapes some. */
const BODY_BYTES_MAX = 8 * 1024 * 1024;

export class RequestRefused extends Error {
  readonly status: number;
  readonly code: string;

  constructor(status: number, code: string, message: string) {
    super(message);
    this.name = 'RequestRefused';
    this.status = status;
    this.code = code;
  }
}

export type JsonBody = Readonly<Record<string, unknown>>;

export async function readJsonBody(request: IncomingMessage): Promise<JsonBody> {
  const parts: Buffer[] = [];
  let bytes = 0;
  for await (const part of request as AsyncIterable<Buffer>) {
    bytes += part.length;
    if (bytes > BODY_BYTES_MAX) throw new RequestRefused(413, 'BODY_TOO_LARGE', 'The request is too large.');
    parts.push(part);
  }
  let body: unknown;
  try {
    body = JSON.parse(Buffer.concat(parts).toString('utf8'));
  } catch {
    throw new RequestRefused(400, 'BAD_REQUEST', 'The body is no JSON.');
  }
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    throw new RequestRefused(400, 'BAD_REQUEST', 'The body is no JSON object.');
  }
  return body as JsonBody;
}

export function textIn(body: JsonBody, name: string): string {
  const value = body[name];
  if (typeof value !== 'string') throw new RequestRefused(400, 'BAD_REQUEST', `${name} is no text.`);
  return value;
}

/** A whole number from 0. */
export function numberIn(body: JsonBody, name: string): number {
  const value = body[name];
  if (!Number.isSafeInteger(value) || (value as number) < 0) {
    throw new RequestRefused(400, 'BAD_REQUEST', `${name} is no whole number.`);
  }
  return value as number;
}

export function numbersIn(body: JsonBody, name: string): readonly number[] {
  const value = body[name];
  if (!Array.isArray(value)) throw new RequestRefused(400, 'BAD_REQUEST', `${name} is no list.`);
  return value.map((_, index) => numberIn(value as never, String(index)));
}
