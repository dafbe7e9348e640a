// Cells that cost the square of their length where a step is not linear, and a measure for that: how the processor time
// grows with the length, never the time itself.

/** Units that are repeated: what patterns, readers and sorters of marks stumble over. */
const UNITS: readonly string[] = [
  ...'9 0 1, 1. < & [ { " \' \\ - @ . , ; : / ( + = _ % a A'.split(' '),
  ...['\u0301\u0316', 'a\u0301\u0316', '\u0316\uff9e', '\u0f73', '\u{16126}', '\u1161\u{16d67}\u{16d67}', '\u{1f600}'],
  ...[' ', '\t', '\u00a0', '\u200b', '1 ', 'x ', "Σ'", 'ß', '\ufdfa', '<a="', '<!--', '&#1', '&amp', 'aa00 ', 'a@a.'],
  ...['0 0-', '\\"', '[[{"a":', '"1" :', 'T00:00', '1h', '%s', '$1', 'a,b;', '\r\n', 'Jan.'],
];

const cellsOfLength = new Map<number, readonly string[]>();

/** Cells of about so many UTF-16 units. */
export function adversarialCells(length: number): readonly string[] {
  const known = cellsOfLength.get(length);
  if (known !== undefined) return known;
  // The runtime puts off making a repeated text: its first reader would pay.
  const cells = makeCells(length).map((cell) => Buffer.from(cell, 'utf16le').toString('utf16le'));
  cellsOfLength.set(length, cells);
  return cells;
}

/** A run with something at its end or start, so that what looks for the whole of it fails late. */
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

/** Nearly three times what linear work grows by, two thirds of what the square of the length does. */
const GROWTH_MAX = 11;

/**
 * Less may be what large texts cost the allocator: memory that a virtual machine has to fetch first made 50 MB of them cost 180 ms.
 * One cell that takes the square of its length takes three times as much.
 */
const FLOOR_MILLISECONDS = 250;

/**
 * How many times more processor time `work` takes for cells that are TIMES_LONGER, where that is more than linear work may take;
 * null where it is not. The least of several tries, since others use the machine too.
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

function processorMilliseconds(work: () => void): number {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}
