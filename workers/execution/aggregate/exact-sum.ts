// The exact sum of doubles, rounded once at the end: the same whatever their order (Shewchuk, "Adaptive Precision
// Floating-Point Arithmetic", 1997; the last rounding as in Python's math.fsum).

export class ExactSum {
  /** Parts that do not overlap, smallest first; their sum is exact. */
  #parts: number[] = [];
  /** Infinities and NaN, which have no parts. */
  #special = 0;
  /** In units of 2^-1074: what no double holds on the way. Other values may bring the sum back. */
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
    // Half-way cases: what lies below decides the direction.
    if (at > 0 && ((low < 0 && parts[at - 1]! < 0) || (low > 0 && parts[at - 1]! > 0))) {
      const twice = low * 2;
      const x = high + twice;
      if (twice === x - high) high = x;
    }
    return high === 0 ? 0 : high;
  }

  /**
   * The exact sum divided by a count, rounded once.
   *
   * @param count an integer from 1 on
   */
  mean(count: number): number {
    if (this.#beyond !== 0n && this.#special === 0) return nearestQuotient(this.#beyond, this.#parts, count);
    const sum = this.value;
    if (!Number.isFinite(sum)) return sum;
    const mean = sum / count;
    return this.#isNearest(mean, count) ? mean : nearestQuotient(0n, this.#parts, count);
  }

  /**
   * Whether no other double can be nearer to the sum's part: what is left of the sum is clearly less than half of what the
   * next double would add. False where this cannot be told in doubles.
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

/** Above, taking a double apart overflows; below, what is left of a product is lost. */
const LARGEST_SPLIT = 2 ** 960;
const SMALLEST_EXACT = 2 ** -900;

/** Far more than the rounding of what it is compared with. */
const CLEARLY_LESS = 1 - 2 ** -40;

/** 2^27 + 1: splits 53 bits into two halves (Dekker, 1971). */
const SPLITTER = 134_217_729;

/** What rounding took from a product: exact. */
function productError(a: number, b: number, product: number): number {
  const [aHigh, bHigh] = [highHalf(a), highHalf(b)];
  const [aLow, bLow] = [a - aHigh, b - bHigh];
  return aHigh * bHigh - product + aHigh * bLow + aLow * bHigh + aLow * bLow;
}

function highHalf(value: number): number {
  const wide = SPLITTER * value;
  return wide - (wide - value);
}

/** Half of the distance to the next smaller double: never more than to the next larger one. */
function halfStep(size: number): number {
  const bits = new DataView(new ArrayBuffer(8));
  bits.setFloat64(0, size);
  bits.setBigUint64(0, bits.getBigUint64(0) - 1n);
  return (size - bits.getFloat64(0)) / 2;
}

/** The exponent of the smallest double: every double is a whole number of 2^-1074. */
const UNIT_EXPONENT = 1074;
const MANTISSA_BITS = 53;

/** The double nearest to the sum of doubles, and of what is beyond them, divided by a count; half-way cases go to the even one. */
function nearestQuotient(beyond: bigint, parts: readonly number[], count: number): number {
  let sum = beyond;
  for (const part of parts) sum += inUnits(part);
  const divisor = BigInt(count);
  const size = sum < 0n ? -sum : sum;
  // So many bits stay that the quotient has one mantissa: fewer only where doubles have fewer themselves.
  const spare = Math.max(0, (size / divisor).toString(2).length - MANTISSA_BITS);
  const step = divisor << BigInt(spare);
  let digits = size / step;
  const twice = (size - digits * step) * 2n;
  if (twice > step || (twice === step && digits % 2n === 1n)) digits += 1n;
  // Each factor and product is a double, also where the step alone is none: nothing is rounded again.
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
