// The exact sum of doubles, rounded once at the end: the same whatever their order (Shewchuk, "Adaptive Precision
// Floating-Point Arithmetic", 1997; the last rounding as in Python's math.fsum).

export class ExactSum {
  /** Parts that do not overlap, smallest first; their sum is exact. */
  #parts: number[] = [];
  /** Infinities and NaN, which have no parts. */
  #special = 0;

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
}
