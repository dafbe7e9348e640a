// Byte strings in frames: the received bytes equal the added ones, whether they are copied or transferred.
import t from 'tap';
import { bytesAt, COPIED_BYTES_MAX, FrameBytes } from '../../../workers/protocol/frame.ts';

const text = (length: number): string => 'x'.repeat(length - 3) + length.toString(36).slice(-3).padStart(3, '0');

t.test('a frame can be posted, whatever made its byte strings', async (t) => {
  const lengths = [3, 5_000, COPIED_BYTES_MAX, COPIED_BYTES_MAX + 1, 30_000, 40_000, 100_000];
  const makers: Record<string, (length: number) => Uint8Array> = {
    'Buffer.from': (length) => Buffer.from(text(length)),
    'Buffer.concat': (length) =>
      Buffer.concat([Buffer.from(text(length)).subarray(0, 2), Buffer.from(text(length)).subarray(2)]),
    'Buffer.allocUnsafe': (length) => {
      const bytes = Buffer.allocUnsafe(length);
      bytes.write(text(length));
      return bytes;
    },
    TextEncoder: (length) => new TextEncoder().encode(text(length)),
    'a part of an array': (length) => new TextEncoder().encode(`ab${text(length)}cd`).subarray(2, length + 2),
  };
  const bytes = new FrameBytes();
  const wanted: [string, ReturnType<FrameBytes['add']>, string][] = [];
  for (const [name, make] of Object.entries(makers)) {
    for (const length of lengths) wanted.push([`${name}, ${length} bytes`, bytes.add(make(length)), text(length)]);
  }
  const frame = bytes.frame('[]');
  // Throws for a buffer that cannot be transferred, as postMessage does.
  const received = structuredClone(frame, { transfer: [...frame.buffers] });
  for (const [name, place, expected] of wanted)
    t.ok(Buffer.from(bytesAt(received, place)).equals(Buffer.from(expected)), name);
  t.ok(
    frame.buffers.every(({ byteLength }) => byteLength === 0),
    'buffers are moved, not copied',
  );
  t.ok(received.buffers.length > 1, 'long byte strings are transferred');
});
