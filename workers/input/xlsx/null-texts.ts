// The Template's null_values among the cells of a sheet, told by their bytes: most cells are as long as none of them.

export class NullTexts {
  readonly #byLength: readonly (readonly Buffer[] | undefined)[];

  constructor(values: readonly string[]) {
    const byLength: Buffer[][] = [];
    for (const value of new Set(values)) {
      const bytes = Buffer.from(value);
      byLength[bytes.length] = [...(byLength[bytes.length] ?? []), bytes];
    }
    this.#byLength = byLength;
  }

  has(bytes: Uint8Array, start: number, length: number): boolean {
    const candidates = this.#byLength[length];
    if (candidates === undefined) return false;
    return candidates.some((text) => text.compare(bytes, start, start + length) === 0);
  }
}
