// Refuses UTF-16 text without a byte order mark if the Template names no encoding: read as UTF-8, it would be full of
// NUL bytes.
import type { EncodingSetting } from '../../template/template.ts';
import type { FileStart } from '../file-start.ts';
import { looksLikeUtf16 } from './encoding.ts';
import { unmarkedUtf16 } from './undecodable.ts';

/** Throws Failed. Does nothing if the Template drops NUL bytes, because it then expects them in single-byte text. */
export function refuseUnmarkedUtf16(start: FileStart, declared: EncodingSetting, dropsNulBytes: boolean): void {
  if (dropsNulBytes || declared !== null || start.encoding(declared).name !== 'utf-8') return;
  const name = looksLikeUtf16(start.bytes);
  if (name !== null) throw unmarkedUtf16(name);
}
