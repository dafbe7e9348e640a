// Text of a fault for the log. It must never contain a cell, but V8 and libraries quote in their messages the text
// that they could not parse (JSON.parse, BigInt, `String.fromCodePoint`). Therefore only messages of plain `Error`
// objects are reported: they are constants of this program (test/tidy.test.ts) or system messages about a file of
// ours. For other errors only the class name, the code and the stack frames are reported.
import { InputFileError } from './failure.ts';

export interface FaultText {
  readonly message: string;
  /** Starts with the class and the message, in V8's format. */
  readonly stack: string;
  /** Set if the file with the input cannot be read: its path and the code of the error. */
  readonly unreadable?: { readonly path: string; readonly code: string };
}

/** Codes of Node's own errors. Their messages quote their arguments. */
const NODE_CODE = /^ERR_/;

/** Matches an error code as programs write it, never free text. */
const CODE = /^[A-Z][A-Z0-9_]{0,63}$/;

/** Maximum number of stack frames reported. */
const FRAMES_MAX = 30;

export function faultText(thrown: unknown): FaultText {
  if (!(thrown instanceof Error)) return { message: UNNAMED, stack: '' };
  const [message, head] = isOurs(thrown)
    ? [thrown.message, `Error: ${thrown.message}`]
    : [nameAndCode(thrown), nameAndCode(thrown)];
  const text = { message, stack: `${head}${framesOf(thrown)}` };
  return thrown instanceof InputFileError ? { ...text, unreadable: { path: thrown.path, code: thrown.code } } : text;
}

/** The same text as an Error, for code that prints errors. */
export function safeFault(thrown: unknown): Error {
  const { message, stack } = faultText(thrown);
  const error = new Error(message);
  error.stack = stack;
  return error;
}

/** The error for a fault of another thread: an InputFileError, or an error with the text and the stack. */
export function faultOf({ message, stack, unreadable }: FaultText): Error {
  if (unreadable !== undefined) return new InputFileError(unreadable.path, unreadable.code);
  return new Error(`${message}\n${stack}`);
}

const UNNAMED = 'the thrown value is not an Error';

function isOurs(error: Error): boolean {
  const code = codeOf(error);
  return error.constructor === Error && (code === null || !NODE_CODE.test(code));
}

/** Class name of the error and its code, if it has one. Both are constants of the program that threw the error. */
function nameAndCode(error: Error): string {
  const name = error.constructor.name;
  const code = codeOf(error);
  return code === null ? name : `${name} ${code}`;
}

function codeOf(error: Error): string | null {
  const { code } = error as NodeJS.ErrnoException;
  return typeof code === 'string' && CODE.test(code) ? code : null;
}

/** Stack frames after the message. Lines of the message are skipped because they may look like frames. */
function framesOf({ stack = '', message }: Error): string {
  const at = stack.indexOf(message);
  if (at < 0) return '';
  const lines = stack.slice(at + message.length).split('\n');
  const frames = lines.slice(1).filter((line) => line.startsWith('    at '));
  return frames.length === 0 ? '' : `\n${frames.slice(0, FRAMES_MAX).join('\n')}`;
}
