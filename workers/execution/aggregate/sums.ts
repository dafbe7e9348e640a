// Exact sums of doubles and decimals. No sum depends on the order of the values.
import { addDecimals, Decimal, decimalOf, powerOfTen } from '../../values/decimal.ts';

// The exact sum of doubles, rounded once at the end, so that it does not depend on their order (Shewchuk, "Adaptive
// Precision Floating-Point Arithmetic", 1997; the final rounding as in Python's math.fsum).

export class ExactSum {
  /** Non-overlapping parts, smallest first, whose sum is exact. */
  #parts: number[] = [];
  /** Sum of infinities and NaN, which have no parts. */
  #special = 0;
  /** Overflow of an intermediate sum, in units of 2^-1074. Other values may bring the sum back into range. */
  #beyond = 0n;

  add(value: number): void {
    if (!Number.isFinite(value)) {
      this.#special += value;
      return;
    }
    const parts: number[] = [];
    let x = value;
    for (let y of this.#parts) {
      if (Math.abs(x) < Math.abs(y)) [x, y] = [y, x];
      const high = x + y;
      if (!Number.isFinite(high)) {
        this.#beyond += inUnits(x) + inUnits(y);
        x = 0;
        continue;
      }
      const low = y - (high - x);
      if (low !== 0) parts.push(low);
      x = high;
    }
    parts.push(x);
    this.#parts = parts;
  }

  get value(): number {
    if (this.#special !== 0 || Number.isNaN(this.#special)) return this.#special;
    const parts = this.#parts;
    if (this.#beyond !== 0n) return nearestQuotient(this.#beyond, parts, 1);
    let at = parts.length - 1;
    if (at < 0) return 0;
    let high = parts[at]!;
    let low = 0;
    while (at > 0) {
      const x = high;
      const y = parts[--at]!;
      high = x + y;
      low = y - (high - x);
      if (low !== 0) break;
    }
    // In a half-way case, the lower parts decide the direction of rounding.
    if (at > 0 && ((low < 0 && parts[at - 1]! < 0) || (low > 0 && parts[at - 1]! > 0))) {
      const twice = low * 2;
      const x = high + twice;
      if (twice === x - high) high = x;
    }
    return high === 0 ? 0 : high;
  }

  /**
   * Returns the exact sum divided by a count, rounded once.
   *
   * @param count integer from 1 on
   */
  mean(count: number): number {
    if (this.#beyond !== 0n && this.#special === 0) return nearestQuotient(this.#beyond, this.#parts, count);
    const sum = this.value;
    if (!Number.isFinite(sum)) return sum;
    const mean = sum / count;
    return this.#isNearest(mean, count) ? mean : nearestQuotient(0n, this.#parts, count);
  }

  /**
   * True if no other double is nearer to the exact mean: the remainder of the sum is clearly less than half of the
   * effect of one unit in the last place. False if doubles are not precise enough to decide.
   */
  #isNearest(mean: number, count: number): boolean {
    const size = Math.abs(mean);
    if (size > LARGEST_SPLIT || size < SMALLEST_EXACT) return mean === 0 && this.value === 0;
    const rest = new ExactSum();
    for (const part of this.#parts) rest.add(part);
    const product = mean * count;
    rest.add(-product);
    rest.add(-productError(mean, count, product));
    return Math.abs(rest.value) < CLEARLY_LESS * count * halfStep(size);
  }
}

/** Above the first limit, splitting a double would overflow. Below the second, the error of a product would be lost. */
const LARGEST_SPLIT = 2 ** 960;
const SMALLEST_EXACT = 2 ** -900;

/** Margin that far exceeds the rounding error of the comparison. */
const CLEARLY_LESS = 1 - 2 ** -40;

/** 2^27 + 1: splits the 53 bits of a double into two halves (Dekker, 1971). */
const SPLITTER = 134_217_729;

/** Exact rounding error of a product. */
function productError(a: number, b: number, product: number): number {
  const [aHigh, bHigh] = [highHalf(a), highHalf(b)];
  const [aLow, bLow] = [a - aHigh, b - bHigh];
  return aHigh * bHigh - product + aHigh * bLow + aLow * bHigh + aLow * bLow;
}

function highHalf(value: number): number {
  const wide = SPLITTER * value;
  return wide - (wide - value);
}

/** Half the distance to the next smaller double, which is never more than half the distance to the next larger one. */
function halfStep(size: number): number {
  const bits = new DataView(new ArrayBuffer(8));
  bits.setFloat64(0, size);
  bits.setBigUint64(0, bits.getBigUint64(0) - 1n);
  return (size - bits.getFloat64(0)) / 2;
}

/** Every double is a whole number of units of 2^-1074, the smallest positive double. */
const UNIT_EXPONENT = 1074;
const MANTISSA_BITS = 53;

/** Returns the double nearest to the sum of doubles and `beyond`, divided by a count. Half-way cases round to even. */
function nearestQuotient(beyond: bigint, parts: readonly number[], count: number): number {
  let sum = beyond;
  for (const part of parts) sum += inUnits(part);
  const divisor = BigInt(count);
  const size = sum < 0n ? -sum : sum;
  // Chosen so that the quotient has exactly the bits of a mantissa, or fewer if it is subnormal.
  const spare = Math.max(0, (size / divisor).toString(2).length - MANTISSA_BITS);
  const step = divisor << BigInt(spare);
  let digits = size / step;
  const twice = (size - digits * step) * 2n;
  if (twice > step || (twice === step && digits % 2n === 1n)) digits += 1n;
  // The scaling is done in two exact steps, because the exponent alone may be too small for a double.
  const exponent = spare - UNIT_EXPONENT;
  const value = exponent < -1000 ? Number(digits) * 2 ** (exponent + 100) * 2 ** -100 : Number(digits) * 2 ** exponent;
  return sum < 0n ? -value : value;
}

function inUnits(value: number): bigint {
  const bits = new DataView(new ArrayBuffer(8));
  bits.setFloat64(0, value);
  const word = bits.getBigUint64(0);
  const exponent = (word >> 52n) & 0x7ffn;
  const fraction = word & 0xfffffffffffffn;
  const size = exponent === 0n ? fraction : (fraction | (1n << 52n)) << (exponent - 1n);
  return value < 0 ? -size : size;
}

// The exact sum of decimals, whose intermediate results may have any size. The size is checked only at the end, so that
// the outcome does not depend on the order.

export class WideSum {
  #sum = new Decimal(0, 0);
  /** Digits of a sum that is too wide for a decimal. */
  #digits: bigint | null = null;
  #scale = 0;

  add(value: Decimal): void {
    if (this.#digits === null) {
      const sum = addDecimals(this.#sum, value);
      if (sum !== null) {
        this.#sum = sum;
        return;
      }
      this.#digits = BigInt(this.#sum.digits);
      this.#scale = this.#sum.scale;
    }
    const scale = Math.max(this.#scale, value.scale);
    const digits = BigInt(value.digits) * powerOfTen(scale - value.scale);
    this.#digits = this.#digits * powerOfTen(scale - this.#scale) + digits;
    this.#scale = scale;
  }

  /** null if the sum has too many digits. */
  get value(): Decimal | null {
    return this.#digits === null ? this.#sum : decimalOf(this.#digits, this.#scale);
  }
}
