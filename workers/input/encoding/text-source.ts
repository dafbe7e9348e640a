// The bytes of a text as UTF-8 without a byte order mark, whatever it was written in.
import type { OpenSettings } from '../format.ts';
import type { ByteSource } from '../source/source.ts';
import type { Encoding } from './encoding.ts';
import { MultiByteSource } from './multi-byte-source.ts';
import { SingleByteSource } from './single-byte-source.ts';
import { charactersOf } from './single-byte-table.ts';

/** @param source from its first byte on, with the mark there */
export function textSource(
  source: ByteSource,
  { name, markBytes }: Encoding,
  { arena, kernel }: Pick<OpenSettings, 'arena' | 'kernel'>,
): ByteSource {
  if (markBytes > 0) source.read(new Uint8Array(markBytes));
  if (name === 'utf-8') return source;
  const characters = charactersOf(name);
  return characters === null
    ? new MultiByteSource(source, name)
    : new SingleByteSource(source, name, characters, arena.heap, kernel.exports);
}
