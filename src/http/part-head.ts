// The headers of one part of a form: its name, whether it is a file, and how its text is decoded (RFC 7578, 4.2 to 4.4).

export interface PartHead {
  /** null: not a form-data part, or without a name. */
  readonly name: string | null;
  /** It has a file name, or is said to be bytes. */
  readonly isFile: boolean;
  /** Of the file name, lower case, without the dot, '' = none. */
  readonly ending: string;
  /** The part's text; what cannot be decoded is U+FFFD. */
  decode(bytes: Buffer): string;
}

const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
const PARAMETER = /;[ \t]*([!#$%&'*+.^_`|~0-9A-Za-z-]+)[ \t]*=[ \t]*(?:"((?:[^"\\]|\\[\s\S])*)"|([^\s;]*))/g;

/** @param bytes the header lines, each beginning with its line end; null when a line is no header */
export function parsePartHead(bytes: Buffer): PartHead | null {
  // A line that begins with a blank goes on with the one before.
  const lines = bytes
    .toString('utf8')
    .replace(/\r\n[ \t]+/g, ' ')
    .split('\r\n')
    .slice(1);
  let disposition = '';
  let type = '';
  for (const line of lines) {
    const colon = line.indexOf(':');
    const name = line.slice(0, Math.max(0, colon));
    if (!HEADER_NAME.test(name)) return null;
    const value = line.slice(colon + 1).trim();
    if (/^content-disposition$/i.test(name)) disposition ||= value;
    else if (/^content-type$/i.test(name)) type ||= value;
  }
  const parameters = parametersOf(disposition);
  const isForm = /^form-data[ \t]*(?:;|$)/i.test(disposition);
  const fileName = parameters.get('filename*') ?? parameters.get('filename');
  const charset = parametersOf(type).get('charset')?.toLowerCase() ?? 'utf-8';
  return {
    name: isForm ? (parameters.get('name') ?? null) : null,
    isFile: fileName !== undefined || /^application\/octet-stream[ \t]*(?:;|$)/i.test(type),
    ending: /\.([A-Za-z0-9]{1,16})$/.exec(fileName ?? '')?.[1]?.toLowerCase() ?? '',
    decode: (content) => decode(content, charset),
  };
}

function parametersOf(header: string): Map<string, string> {
  const parameters = new Map<string, string>();
  if (!header.includes(';')) return parameters;
  for (const [, name = '', quoted, plain = ''] of header.matchAll(PARAMETER)) {
    const key = name.toLowerCase();
    if (!parameters.has(key)) parameters.set(key, quoted?.replace(/\\(["\\])/g, '$1') ?? plain);
  }
  return parameters;
}

function decode(content: Buffer, charset: string): string {
  if (charset === 'utf-8' || charset === 'utf8') return content.toString('utf8');
  try {
    return new TextDecoder(charset, { ignoreBOM: true }).decode(content);
  } catch {
    // An encoding that nobody knows: its text is undecodable.
    return '\uFFFD';
  }
}
