// What is wrong with a Parquet file, with the byte of the file at which it was met.
import { Failed } from '../../protocol/failure.ts';

/** @param position byte of the file, from 0 */
export function malformedParquet(what: string, position: number): Failed {
  return new Failed('MALFORMED_FILE', `The Parquet file is broken: ${what}, at byte ${position}.`);
}

/** For what the format knows and this reader does not. */
export function unsupportedParquet(what: string): Failed {
  return new Failed('UNSUPPORTED_FILE_TYPE', `The file is Parquet with ${what}, which is not read.`);
}
