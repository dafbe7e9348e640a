// Estimates how much of a draft is done. A draft reads the sample, profiles its rows, and runs over the sample once more
// as a test. A test that finds a mistake is repeated, so the last part may take longer than its share.

/** Shares of the time for a CSV file of 50 MB. */
const READ_SHARE = 0.15;
const PROFILE_SHARE = 0.55;

/** Shown until the draft arrives. */
const PERCENT_MAX = 99;

export class DraftProgress {
  #profiled = 0;
  #runs: () => number = () => 0;

  /** @param runs returns how often the sample has been read by now, such as 1.5 */
  follow(runs: () => number): void {
    this.#runs = runs;
  }

  /** @param share of the rows, from 0 to 1 */
  profiled(share: number): void {
    this.#profiled = share;
  }

  get percent(): number {
    const runs = this.#runs();
    const proof = Math.min(1, Math.max(0, runs - 1));
    const share =
      Math.min(1, runs) * READ_SHARE + this.#profiled * PROFILE_SHARE + proof * (1 - READ_SHARE - PROFILE_SHARE);
    return Math.min(PERCENT_MAX, Math.floor(share * 100));
  }
}
