// Checks whether the head of a request states clearly where the request ends (RFC 9112, 3.2 and 6.3). If not, the request
// is refused and its connection is closed: an intermediary may have seen another end, and may take a part of the body for
// the next request (request smuggling). The HTTP library does not report everything: headers after one with an empty name
// and the form of chunks cannot be checked here.

/** Maximum size of the request line and all headers together, in bytes. The default of uWebSockets.js is 4 KiB. */
export const REQUEST_HEAD_BYTES_MAX = 16 * 1024;

export type HeaderPair = readonly [name: string, value: string];

/** A request copied from the library, which drops it when the handler returns. */
export interface RequestHead {
  /** Upper case. */
  readonly method: string;
  readonly path: string;
  /** Names are in lower case; repeated headers are repeated entries. */
  readonly headers: readonly HeaderPair[];
}

export interface HeadProblem {
  readonly message: string;
  /** True if the library also finds the problem after the handler has returned, and responds then. */
  readonly foundByLibrary: boolean;
}

/** Up to a petabyte: exact as a Number, and the library's parser accepts 18 digits. */
const CONTENT_LENGTH = /^[0-9]{1,15}$/;

/** Values that the library parses as a length. It ignores an empty value. */
const LENGTH_OF_LIBRARY = /^[0-9]{0,18}$/;

/** A name or address with an optional port. Two values that a proxy has joined contain a comma. */
const HOST = /^[A-Za-z0-9._~!$&'()*+;=%:[\]-]*$/;

/** Returns null for a valid head. */
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
      // Content of these methods has no meaning, and may be refused because it can be used for smuggling (RFC 9110,
      // 9.3.1).
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
 * True if the next request on the connection may be read. The library accepts invalid chunks, and a request that should
 * have a body but no length may have had a length after an empty header name.
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
