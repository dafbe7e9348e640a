// What may be told of a fault of ours: never a cell. The messages of V8 and of libraries quote what they could not read (JSON.parse,
// BigInt, `String.fromCodePoint`), so only those of plain errors are reported: their texts are constants of this program
// (test/tidy.test.ts) or the system's words on a file of ours. Of all others the name, the code and the places remain.

export interface FaultText {
  readonly message: string;
  /** Begins with the class and the message, as V8 has it. */
  readonly stack: string;
}

/** Codes of Node's own errors, whose messages show what they were given. */
const NODE_CODE = /^ERR_/;

/** A code as programs have it, never a text that somebody wrote. */
const CODE = /^[A-Z][A-Z0-9_]{0,63}$/;

/** Frames of a stack, as V8 writes them. */
const FRAMES_MAX = 30;

export function faultText(thrown: unknown): FaultText {
  if (!(thrown instanceof Error)) return { message: UNNAMED, stack: '' };
  const [message, head] = isOurs(thrown) ? [thrown.message, `Error: ${thrown.message}`] : [told(thrown), told(thrown)];
  return { message, stack: `${head}${framesOf(thrown)}` };
}

/** The same as an error, for whoever prints one. */
export function soundFault(thrown: unknown): Error {
  const { message, stack } = faultText(thrown);
  const error = new Error(message);
  error.stack = stack;
  return error;
}

const UNNAMED = 'something was thrown that is no error';

function isOurs(error: Error): boolean {
  const code = codeOf(error);
  return error.constructor === Error && (code === null || !NODE_CODE.test(code));
}

/** What class of error it is: a word of the program that threw it. */
function told(error: Error): string {
  const name = error.constructor.name;
  const code = codeOf(error);
  return code === null ? name : `${name} ${code}`;
}

function codeOf(error: Error): string | null {
  const { code } = error as NodeJS.ErrnoException;
  return typeof code === 'string' && CODE.test(code) ? code : null;
}

/** What stands behind the message: a message may hold lines that look like places. */
function framesOf({ stack = '', message }: Error): string {
  const at = stack.indexOf(message);
  if (at < 0) return '';
  const lines = stack.slice(at + message.length).split('\n');
  const frames = lines.slice(1).filter((line) => line.startsWith('    at '));
  return frames.length === 0 ? '' : `\n${frames.slice(0, FRAMES_MAX).join('\n')}`;
}
