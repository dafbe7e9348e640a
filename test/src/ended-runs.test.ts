// Packed bytes against a plain list of what was packed: nothing is lost or shared while it is kept, and blocks come back.
import fc from 'fast-check';
import t from 'tap';
import { BytePacker, type PackedBytes } from '../../src/packed-bytes.ts';

t.test('what is kept stays as it was packed, whatever is freed and packed beside it', async (t) => {
  const step = fc.oneof(
    { weight: 3, arbitrary: fc.record({ texts: fc.array(fc.string({ unit: 'grapheme' }), { maxLength: 4 }) }) },
    {
      weight: 3,
      arbitrary: fc.record({ byte: fc.nat(255), length: fc.constantFrom(0, 1, 900, 60_000, 262_144, 300_000) }),
    },
    { weight: 5, arbitrary: fc.record({ free: fc.nat() }) },
  );
  fc.assert(
    fc.property(fc.array(step, { minLength: 20, maxLength: 120 }), (steps) => {
      const packer = new BytePacker();
      const kept: { packed: PackedBytes; wanted: Buffer }[] = [];
      for (const one of steps) {
        if ('texts' in one) {
          kept.push({ packed: packer.packTexts(one.texts), wanted: Buffer.from(one.texts.join('')) });
        } else if ('byte' in one) {
          const wanted = Buffer.alloc(one.length, one.byte);
          kept.push({ packed: packer.pack(wanted), wanted });
        } else if (kept.length > 0) {
          kept.splice(one.free % kept.length, 1)[0]!.packed.free();
        }
      }
      return kept.every(({ packed, wanted }) => packed.length === wanted.length && wanted.equals(packed.copy()));
    }),
    { numRuns: 200 },
  );
  const long = 'ü€𝄞'.repeat(20_000);
  const packed = new BytePacker().packTexts(['{', long, '}']);
  t.ok(packed.text() === `{${long}}`, 'a text longer than a block');
});

t.test('copies stay, and what was freed cannot be read', async (t) => {
  const packer = new BytePacker();
  const packed = packer.pack(Buffer.from('secret'));
  const copy = packed.copy(0, 3);
  packed.free();
  packer.pack(Buffer.from('public'));
  t.equal(Buffer.from(copy).toString(), 'sec');
  t.throws(() => packed.text(), /freed/);
  t.throws(() => packed.copy(), /freed/);
  t.throws(() => packed.free(), /freed/);
});

t.test('a steady coming and going takes no new memory', async (t) => {
  const packer = new BytePacker();
  const piece = Buffer.alloc(2_000, 1);
  const kept: PackedBytes[] = [];
  const rounds = (count: number): void => {
    for (let round = 0; round < count; round += 1) {
      kept.push(packer.pack(piece));
      if (kept.length > 1_000) kept.shift()!.free();
    }
  };
  rounds(3_000);
  const before = process.memoryUsage().arrayBuffers;
  rounds(50_000);
  const grownBytes = process.memoryUsage().arrayBuffers - before;
  t.ok(grownBytes < 1024 * 1024, `100 MB have gone through, ${grownBytes} bytes are new`);
});
