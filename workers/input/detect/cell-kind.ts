// What a cell looks like, for the detectors alone: never a type of the data (nothing is inferred from it).

/** Patterns of cells that people put into tables. A cell that matches none is free text. */
const KINDS: readonly (readonly [kind: string, pattern: RegExp])[] = [
  ['number', /^[-+]?(?:\d+|\d{1,3}(?:[ ,.'\u00a0]\d{3})+)(?:[.,]\d+)?(?:[eE][-+]?\d+)?$/],
  ['money', /^(?:[-+]?[$€£¥]\s?|[A-Z]{3}\s)[-+]?\d[\d.,' ]*$|^[-+]?\d[\d.,' ]*\s?(?:[$€£¥%]|[A-Z]{3})$/],
  ['date', /^\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}$|^\d{1,2}[-/. ](?:[A-Za-z]{3,9})[-/. ]\d{2,4}$/],
  ['time', /^\d{1,2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?(?:\s?[AaPp][Mm])?$/],
  [
    'datetime',
    /^\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}[T ]\d{1,2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?\s?(?:Z|UTC|[-+]\d{2}:?\d{2})?$/,
  ],
  ['email', /^[^\s@,;"]+@[^\s@,;"]+\.[A-Za-z]{2,}$/],
  ['url', /^(?:https?:\/\/|www\.)[^\s"]+$/i],
  ['phone', /^\+?\d[\d ()./-]{5,18}\d$/],
  ['ip', /^\d{1,3}(?:\.\d{1,3}){3}$/],
  ['code', /^(?:NA|N\/A|n\/a|null|NULL|None|-|true|false|TRUE|FALSE|yes|no)$/],
];

/** Words, codes and names: letters, digits, marks and the punctuation that stands inside names. */
const TEXT = /^[\p{L}\p{N}\p{M}][\p{L}\p{N}\p{M} _.'’/&()#%:+*!?-]*$/u;

/** The kind of a trimmed cell: '' for empty, a name of KINDS, 'text', or null for what looks like no one cell. */
export function cellKind(cell: string): string | null {
  if (cell === '') return '';
  for (const [kind, pattern] of KINDS) if (pattern.test(cell)) return kind;
  return TEXT.test(cell) ? 'text' : null;
}

/** True for kinds that a header seldom has. */
export function isDataKind(kind: string | null): boolean {
  return kind !== null && kind !== '' && kind !== 'text' && kind !== 'code';
}
