// Long texts of responses, which are encoded piece by piece: no piece cuts a character.
import t from 'tap';
import { textReader } from '../../../src/http/send-bytes.ts';

/** A character of each length in UTF-8, between others of one byte. */
const TEXT = 'abc😀de€f😀😀ä'.repeat(7);
const UTF8_BYTES_MAX = 4;

t.test('pieces of each size join to the whole text', async (t) => {
  const whole = Buffer.from(TEXT);
  for (let size = UTF8_BYTES_MAX; size <= whole.length; size++) {
    const reader = textReader(TEXT);
    const pieces: Uint8Array[] = [];
    let at = 0;
    while (at < whole.length) {
      const piece = await reader.read(at, Math.min(size, whole.length - at));
      if (piece.length === 0 || piece.length > size) break;
      pieces.push(piece);
      at += piece.length;
    }
    t.equal(Buffer.concat(pieces).toString(), TEXT, `${size} bytes`);
  }
});
