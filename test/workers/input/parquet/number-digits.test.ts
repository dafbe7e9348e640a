// Numbers that are written as digits without an intermediate text have the same digits as that text.
import { equal } from 'node:assert/strict';
import t from 'tap';
import {
  type DigitsForm,
  decimalText,
  digitsForm,
  doubleText,
  NUMBER_BYTES_MAX,
  putNumber,
} from '../../../../workers/input/parquet/number-digits.ts';
import { fc } from '../../../random.ts';
import { sweep } from '../../../sweep.ts';

const bytes = new Uint8Array(8 + NUMBER_BYTES_MAX);
const view = new DataView(bytes.buffer);

/** Null if the number is left to the path over texts. */
function written(form: DigitsForm): string | null {
  bytes.fill(0x23, 8);
  const length = putNumber(view, 0, form, bytes, 8);
  equal(bytes[8 + length], 0x23);
  return length === 0 ? null : Buffer.from(bytes.subarray(8, 8 + length)).toString('latin1');
}

const runs = { numRuns: sweep({ short: 500, long: 50_000 }) };

t.test('doubles', async (t) => {
  let count = 0;
  const value = fc.oneof(
    fc.double(),
    fc.tuple(fc.integer(), fc.nat(6)).map(([digits, places]) => digits / 10 ** places),
    fc.maxSafeInteger(),
    fc.constantFrom(0, -0, 0.1, 0.1 + 0.2, 1e15, 1e21, 999_999_999_999_999, 0.0001, 0.00001, -123.45, 1e9, 1e9 - 1),
  );
  const property = fc.property(value, (number) => {
    view.setFloat64(0, number, true);
    const text = written(digitsForm('double')!);
    if (text === null) return;
    count++;
    equal(text, doubleText(number));
  });
  fc.assert(property, runs);
  t.ok(count > runs.numRuns / 3, `${count} of them`);
});

t.test('whole numbers and decimals', async (t) => {
  const property = fc.property(
    fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
    fc.nat(63),
    fc.nat(15),
    (large, shift, scale) => {
      const value = large >> BigInt(shift);
      view.setBigInt64(0, value, true);
      const isSafe = Number.isSafeInteger(Number(value)) && BigInt(Number(value)) === value;
      const expected = decimalText(String(value), scale);
      if (isSafe) equal(written(digitsForm('int64', scale)!), expected);
      else equal(written(digitsForm('int64', scale)!) ?? expected, expected);
      equal(written(digitsForm('int32', scale)!), decimalText(String(view.getInt32(0, true)), scale));
      equal(written(digitsForm('uint32')!), String(view.getUint32(0, true)));
    },
  );
  fc.assert(property, runs);
  t.equal(digitsForm('int64', 16), null);
});
