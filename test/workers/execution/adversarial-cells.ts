// Cells that cost the square of their length if a step is not linear, and a measure for that: the growth of processor time with
// the length, never the time itself.

/** Repeated units that are difficult for patterns, readers and the sorting of combining marks. */
const UNITS: readonly string[] = [
  ...'9 0 1, 1. < & [ { " \' \\ - @ . , ; : / ( + = _ % a A'.split(' '),
  ...['\u0301\u0316', 'a\u0301\u0316', '\u0316\uff9e', '\u0f73', '\u{16126}', '\u1161\u{16d67}\u{16d67}', '\u{1f600}'],
  ...[' ', '\t', '\u00a0', '\u200b', '1 ', 'x ', "Σ'", 'ß', '\ufdfa', '<a="', '<!--', '&#1', '&amp', 'aa00 ', 'a@a.'],
  ...['0 0-', '\\"', '[[{"a":', '"1" :', 'T00:00', '1h', '%s', '$1', 'a,b;', '\r\n', 'Jan.'],
];

const cellsOfLength = new Map<number, readonly string[]>();

/** Cells of about `length` UTF-16 units. */
export function adversarialCells(length: number): readonly string[] {
  const known = cellsOfLength.get(length);
  if (known !== undefined) return known;
  // The runtime delays making a repeated text, and the first reader would pay for it.
  const cells = makeCells(length).map((cell) => Buffer.from(cell, 'utf16le').toString('utf16le'));
  cellsOfLength.set(length, cells);
  return cells;
}

/** Runs with another character at their end or start, so that a search for the whole run fails late. */
function makeCells(length: number): string[] {
  const runs = UNITS.map((unit) => unit.repeat(Math.max(1, Math.floor(length / unit.length))));
  const open = '['.repeat(length / 2);
  const half = length / 4;
  const sound = [
    `[${'1,'.repeat(length / 2)}1]`,
    `{"a":${'9'.repeat(length)}}`,
    `"${'\\"'.repeat(length / 2)}"`,
    `{${Array.from({ length: length / 16 }, (_, key) => `"${key}":${key}`).join(',')}}`,
    `${open}${']'.repeat(length / 2)}`,
    `${'a'.repeat(half)}b${'a'.repeat(half)}`,
  ];
  return [...runs, ...runs.map((run) => `${run}x!`), ...runs.map((run) => `-x${run}`), ...sound];
}

const SHORT = 8 * 1024;
const TIMES_LONGER = 4;
const TRIES = 4;

/** Nearly three times the growth of linear work, and two thirds of that of quadratic work. */
const GROWTH_MAX = 11;

/**
 * Less time may come from allocating large texts: on a virtual machine that has to fetch memory first, 50 MB of texts cost 180
 * ms. One cell that takes quadratic time takes three times as much.
 */
const FLOOR_MILLISECONDS = 250;

/**
 * Growth of `work`'s processor time for cells that are TIMES_LONGER, if it exceeds that of linear work; otherwise null. The
 * minimum of several tries, because other processes use the machine too.
 */
export function excessiveGrowth(work: (length: number) => void): number | null {
  let growth = Number.POSITIVE_INFINITY;
  work(SHORT / TIMES_LONGER);
  for (let tries = 0; tries < TRIES; tries++) {
    const long = processorMilliseconds(() => work(SHORT * TIMES_LONGER));
    if (long < FLOOR_MILLISECONDS) return null;
    growth = Math.min(
      growth,
      long /
        Math.max(
          1,
          processorMilliseconds(() => work(SHORT)),
        ),
    );
    if (growth < GROWTH_MAX) return null;
  }
  return growth;
}

/**
 * Without kernel time: fetching fresh memory for long texts can take a virtual machine a hundred times as long as the work on
 * them.
 */
function processorMilliseconds(work: () => void): number {
  const before = process.cpuUsage();
  work();
  return process.cpuUsage(before).user / 1000;
}
