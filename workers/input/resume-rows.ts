// A reader that begins in the middle of a file, at the first byte of a record: what openRows finds at the beginning of
// the file is given.
import type { Waits } from '../waits.ts';
import { openCsvReader } from './csv/csv-reader.ts';
import type { OpenSettings } from './open-rows.ts';
import type { ByteSource, FileHead, RowReader } from './reader.ts';

/** Files that can be read in parts: their bytes are the text, and the kernels read it. */
export function canResume({ type, encoding, delimiter }: FileHead): boolean {
  return (type === 'csv' || type === 'tsv') && encoding === 'utf-8' && delimiter !== null && delimiter < '\x80';
}

/** @param head of a file for which canResume is true */
export function resumeRows(source: ByteSource, head: FileHead, settings: OpenSettings): Waits<RowReader> {
  const { input, arena, kernel, largeRow, scout } = settings;
  const { type, encoding, delimiter, quote, headerRow, headers } = head;
  if (delimiter === null) throw new Error('a part of a file that is not CSV');
  return openCsvReader({
    heap: arena.heap,
    arena,
    kernel,
    source,
    dialect: { delimiter, quote: quote ?? '', headerRow },
    nullValues: input.nullValues,
    ragged: input.csv.ragged,
    strayQuotes: input.csv.strayQuotes,
    type,
    encoding,
    largeRow,
    scout,
    headers,
  });
}
