// Harmful files: valid files with random damage, very large files within the limits, and texts on which careless code
// takes long.
import { gzipSync } from 'node:zlib';
import { CANARY } from '../blackbox/multipart.ts';
import type { Chance } from './chance.ts';
import { anyDialect, anyMarkedTable, written } from './marked-table.ts';

const KIB = 1024;
/** Maximum length of one cell: more than linear time shows well below the limit of 4 MiB. */
const LONG_CHARACTERS_MAX = 512 * KIB;
const PIECES_MAX = 8;

export function anyHostileFile(chance: Chance): Buffer {
  const content = chance.of(KINDS)(chance);
  return chance.oneIn(8) ? gzipSync(content) : content;
}

const PIECES = [
  ...['"', '""', ',', ';', '\t', '\n', '\r\n', '\r', '\0', '\ufeff', '\u00e9', '\ud83d\ude00', '=', "'", '|', ' '],
  ...['\u0301', '\u200d', '{', '[', '<', '&', '-', 'sep=;\n', '\x1a'],
];

/** Pieces that are repeated to make one long cell. */
const LONG_PIECES = [
  ...[
    '\u0301\u0316',
    'a\u0301',
    ' ',
    '\u00a0',
    '<',
    '<a ',
    '&',
    '&#',
    '[',
    '{"a":',
    '"',
    '9',
    '-',
    '@',
    'a@',
    '.',
    '1.',
  ],
  ...[',', ';', '|', '\ufdfa', '\ud83d\udc68\u200d', '01.02.2026 ', 'x ', "='", '\u0130', '\u00df', 'DE89', '4111 '],
];

const KINDS: readonly ((chance: Chance) => Buffer)[] = [spoiled, spoiled, spoiled, long, long, wide, deep, noise];

/** A valid file with pieces inserted, removed or repeated, with changed bytes, or cut off. */
function spoiled(chance: Chance): Buffer {
  let bytes = written(anyMarkedTable(chance), anyDialect(chance));
  for (let count = 1 + chance.below(PIECES_MAX); count > 0; count -= 1) {
    const at = chance.below(bytes.length + 1);
    const to = Math.min(bytes.length, at + chance.below(40));
    const kind = chance.below(6);
    if (kind < 2) bytes = Buffer.concat([bytes.subarray(0, at), Buffer.from(chance.of(PIECES)), bytes.subarray(at)]);
    else if (kind === 2) bytes = Buffer.concat([bytes.subarray(0, at), bytes.subarray(to)]);
    else if (kind === 3) bytes = Buffer.concat([bytes.subarray(0, to), bytes.subarray(at)]);
    else if (kind === 4 && at < bytes.length) bytes[at] = chance.below(256);
    else if (chance.oneIn(3)) bytes = bytes.subarray(0, at);
  }
  return bytes;
}

/** A header or a cell of one piece, again and again. */
function long(chance: Chance): Buffer {
  const piece = chance.of(LONG_PIECES);
  const text = piece.repeat(1 + chance.below(Math.ceil(LONG_CHARACTERS_MAX / piece.length)));
  const cell = chance.oneIn(2) ? `"${text.replaceAll('"', '""')}"` : text;
  const tail = chance.oneIn(2) ? CANARY : '';
  return Buffer.from(
    chance.oneIn(4) ? `a,x${cell}${tail},c\n1,2,3\n` : `a,b,c\n1,${cell}${tail},3\n4,${CANARY},6\n${cell},5,6\n`,
  );
}

function wide(chance: Chance): Buffer {
  const columns = 1 + chance.below(16_400);
  const cell = chance.of(['', '1', CANARY, '"a,b"']);
  const row = Array.from({ length: columns }, () => cell).join(',');
  const header = Array.from({ length: columns }, (_, index) => `c${index}`).join(',');
  return Buffer.from(`${header}\n${Array.from({ length: chance.below(4) }, () => row).join('\n')}`);
}

/** JSON within a cell, as deep as the cell is long. */
function deep(chance: Chance): Buffer {
  const depth = 1 + chance.below(100_000);
  const [open, close] = chance.of([
    ['[', ']'],
    ['{"a":', '}'],
  ] as const);
  const json = `${open.repeat(depth)}1${chance.oneIn(2) ? close.repeat(depth) : ''}`;
  return Buffer.from(`a,b,c\n1,"${json.replaceAll('"', '""')}",3\n`);
}

function noise(chance: Chance): Buffer {
  return chance.bytes(chance.below(20_000));
}
