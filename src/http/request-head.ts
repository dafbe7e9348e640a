// Whether a request's head says for certain where the request ends (RFC 9112, 3.2 and 6.3). What leaves doubt is refused
// and its connection closed: another reader on the way may have seen an end elsewhere, and taken a body for a request or a
// request for a body. It sees what the HTTP library tells: headers after one with an empty name, and how chunks are
// written, are not among it.

export type HeaderPair = readonly [name: string, value: string];

/** A request as read from the library, which forgets it when the handler returns. */
export interface RequestHead {
  /** Upper case. */
  readonly method: string;
  readonly path: string;
  /** Names in lower case; repeated headers stand repeatedly. */
  readonly headers: readonly HeaderPair[];
}

export interface HeadProblem {
  readonly message: string;
  /** The library finds it too, once our handler has returned, and answers then. */
  readonly foundByLibrary: boolean;
}

/** Up to a petabyte: Number() is exact, and the library's own reader takes 18 digits. */
const CONTENT_LENGTH = /^[0-9]{1,15}$/;

/** What the library reads as a length, an empty one aside: that it takes for none. */
const LENGTH_OF_LIBRARY = /^[0-9]{0,18}$/;

/** A name or address with a port or none; two that a proxy has joined hold a comma. */
const HOST = /^[A-Za-z0-9._~!$&'()*+;=%:[\]-]*$/;

/** null: the head is sound. */
export function headProblem({ method, headers }: RequestHead): HeadProblem | null {
  let hosts = 0;
  let lengths = 0;
  let encodings = 0;
  let problem: HeadProblem | null = null;
  for (const [name, value] of headers) {
    if (name === 'content-length') {
      lengths += 1;
      if (lengths === 1 && !LENGTH_OF_LIBRARY.test(value)) return found(BAD_LENGTH, true);
      if (lengths > 1 || !CONTENT_LENGTH.test(value)) problem = found(BAD_LENGTH);
    } else if (name === 'transfer-encoding') {
      encodings += 1;
      if (encodings > 1 || value.toLowerCase() !== 'chunked') problem = found(BAD_ENCODING);
      // Content of these methods means nothing, and may be refused for being used to smuggle (RFC 9110, 9.3.1).
      else if (!hasBody(method)) problem = found(`A ${method} request takes no Transfer-Encoding.`);
    } else if (name === 'host') {
      hosts += 1;
      if (hosts > 1 || !HOST.test(value)) problem = found('Send one Host, a name or address with its port.');
    }
  }
  if (lengths > 0 && encodings > 0) problem = found('Send Content-Length or Transfer-Encoding, not both.');
  return problem;
}

/**
 * Whether the next request on the connection may be read. The library takes much for chunks that is none, and a request
 * that should have a body and shows no length may have had one behind an empty header name.
 */
export function endsForCertain({ method, headers }: RequestHead): boolean {
  return !hasBody(method) || headers.some(([name]) => name === 'content-length');
}

const BAD_LENGTH = 'Send one Content-Length, in digits.';
const BAD_ENCODING = 'Send no Transfer-Encoding, or one that is "chunked".';

function found(message: string, foundByLibrary = false): HeadProblem {
  return { message, foundByLibrary };
}

function hasBody(method: string): boolean {
  return method !== 'GET' && method !== 'HEAD' && method !== 'OPTIONS';
}
