// The exact sum of decimals, of any size on the way: whether it is too large is asked once at the end, so that the answer
// does not depend on the order.
import { addDecimals, Decimal, decimalOf, powerOfTen } from '../../values/decimal.ts';

export class WideSum {
  #sum = new Decimal(0, 0);
  /** Digits of a sum that is wider than a decimal may be. */
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

  /** Null when it has too many digits. */
  get value(): Decimal | null {
    return this.#digits === null ? this.#sum : decimalOf(this.#digits, this.#scale);
  }
}
