// The stored difference of two similar texts gives the text again, for any texts.

import t from 'tap';
import { readDifference, TextModel } from '../../../src/stores/memory/run-records.ts';
import { fc } from '../../random.ts';
import { sweep } from '../../sweep.ts';

t.test('a text is what its difference from another one says', async (t) => {
  const part = fc.constantFrom('a', '7', '123', 'word', ' ', '":"', ',', '{}', 'é', 'x7q', 'x7q', '-', '');
  const text = fc.array(part, { maxLength: 40 }).map((parts) => Buffer.from(parts.join('')));
  const name = Buffer.from('x7q');
  let alike = 0;
  // A model remembers the lengths of one text for the next.
  const check = (texts: readonly Buffer[], other: Buffer, room: number): boolean => {
    const model = new TextModel(other);
    return texts.every((one) => {
      const target = new Uint8Array(room);
      const length = model.writeDifference(one, name, target, room);
      if (length === null) return true;
      alike++;
      const read = Buffer.alloc(one.length);
      readDifference(target.subarray(0, length), other, Buffer.from('x7q'), read);
      return length <= room && read.equals(one);
    });
  };
  const texts = fc.array(text, { minLength: 1, maxLength: 4 });
  fc.assert(fc.property(texts, text, fc.constantFrom(0, 10, 500), check), {
    numRuns: sweep({ short: 500, long: 20_000 }),
  });
  // Texts with equal ends, so that the remembered end mostly matches.
  const ending = fc.array(part, { maxLength: 6 }).map((parts) => parts.join(''));
  fc.assert(
    fc.property(texts, text, ending, (ones, other, end) => {
      const ended = (one: Buffer): Buffer => Buffer.concat([one, Buffer.from(end)]);
      return check(ones.map(ended), ended(other), 500);
    }),
    { numRuns: sweep({ short: 500, long: 20_000 }) },
  );
  const words = fc.array(fc.constantFrom('', '7', '123', 'x7q', 'x7q8', 'y'.repeat(254), 'y'.repeat(255)), {
    minLength: 8,
    maxLength: 8,
  });
  const frame = (list: readonly string[]): Buffer =>
    Buffer.from(list.map((word, at) => `"${at}":${word};`).join(' '.repeat(200)));
  fc.assert(
    fc.property(fc.array(words, { minLength: 1, maxLength: 3 }), words, (ones, other) =>
      check(ones.map(frame), frame(other), 4_000),
    ),
    { numRuns: 500 },
  );
  t.ok(alike > 50, `${alike} of them alike`);
});
