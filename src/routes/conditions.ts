// Headers of a download, read and written: ranges, entity tags, digests, file names. Pure functions over texts.

/** Both ends belong to it. */
export interface ByteRange {
  readonly start: number;
  readonly end: number;
}

/**
 * One range of RFC 9110, 14.1.2. null: no range that we serve (another unit, several ranges, wrong syntax), so the whole
 * is answered.
 */
export function requestedRange(header: string, sizeBytes: number): ByteRange | 'unsatisfiable' | null {
  const [, first, last] = /^bytes[ \t]*=[ \t]*(\d*)-(\d*)[ \t]*$/i.exec(header) ?? [];
  if (first === undefined || last === undefined || (first === '' && last === '')) return null;
  if (first === '') {
    const suffix = Math.min(Number(last), sizeBytes);
    // The last bytes of nothing are all of it, but no Content-Range can say so.
    if (suffix === 0) return Number(last) === 0 ? 'unsatisfiable' : null;
    return { start: sizeBytes - suffix, end: sizeBytes - 1 };
  }
  const start = Number(first);
  if (last !== '' && Number(last) < start) return null;
  if (start >= sizeBytes) return 'unsatisfiable';
  return { start, end: last === '' ? sizeBytes - 1 : Math.min(Number(last), sizeBytes - 1) };
}

/**
 * If-None-Match (RFC 9110, 13.1.2): weak comparison with any of the list; with `strong` If-Match (13.1.1), for which weak
 * tags never match. Several header lines are one list.
 */
export function entityTagMatches(headers: readonly string[], entityTag: string, strong = false): boolean {
  const list = headers.join(',');
  if (list.trim() === '*') return true;
  return [...list.matchAll(/(W\/)?("[^"]*")/g)].some(([, weak, tag]) => tag === entityTag && !(strong && weak));
}

/** Whether Want-Repr-Digest (RFC 9530, 4) asks for sha-256. */
export function wantsSha256(headers: readonly string[]): boolean {
  return headers.some((header) => /(?:^|,)[ \t]*sha-256[ \t]*=[ \t]*(?:[1-9]|10)(?:[ \t;,]|$)/i.test(header));
}

/** RFC 6266: a plain name for old clients, and the real one in UTF-8. */
export function contentDisposition(name: string): string {
  const plain = name.replace(/[^\x20-\x7E]|["\\%]/g, '_');
  const encoded = encodeURIComponent(name).replace(/['()*]/g, (character) => {
    return `%${character.charCodeAt(0).toString(16).toUpperCase()}`;
  });
  return `attachment; filename="${plain}"; filename*=UTF-8''${encoded}`;
}
