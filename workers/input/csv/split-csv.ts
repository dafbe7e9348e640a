// How a CSV is read in parts: a part is a file without a header, whose rows are those of the whole.
import type { Coroutine } from '../../thread/coroutine.ts';
import type { OpenSettings, SplittableInput } from '../format.ts';
import type { FileHead, RowReader } from '../reader.ts';
import type { ByteSource } from '../source/source.ts';
import { isDelimiterDeclared } from './csv-input.ts';
import { openCsvReader } from './csv-reader.ts';
import { recordStart } from './record-start.ts';

/** Files that can be read in parts: their bytes are the text, and the kernels read it. */
function canSplit({ type, encoding, delimiter, quotesAfterSpace, hasComments }: FileHead): boolean {
  const isText = (type === 'csv' || type === 'tsv') && encoding === 'utf-8' && quotesAfterSpace !== true;
  return isText && hasComments !== true && delimiter !== null && delimiter < '\x80';
}

/** @param head of a file for which canSplit is true */
function resume(source: ByteSource, head: FileHead, settings: OpenSettings): Coroutine<RowReader> {
  const { input, arena, kernel, largeRow, readAhead } = settings;
  const { type, encoding, delimiter, quote, headerRow, headers, oneColumn, meta } = head;
  if (delimiter === null) throw new Error('a part of a file that is not CSV');
  return openCsvReader({
    heap: arena.heap,
    arena,
    kernel,
    source,
    dialect: { delimiter: oneColumn === true ? '' : delimiter, quote: quote ?? '', headerRow },
    found: { delimiter, ...(oneColumn === true ? { oneColumn } : {}) },
    nullValues: input.nullValues,
    ragged: input.csv.ragged,
    strayQuotes: input.csv.strayQuotes,
    type,
    encoding,
    largeRow,
    readAhead,
    headers,
    ...(meta === undefined ? {} : { meta }),
    // Where most rows of the file are such, most rows of one of its parts are.
    ...(isDelimiterDeclared(settings) ? {} : { wideRowsMin: 1 }),
  });
}

export const splitCsv: SplittableInput = { canSplit, recordStart, resume };
