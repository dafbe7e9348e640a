// Compares a run of the benchmark with an earlier one: which results of ours became worse beyond the noise.
import { readFileSync, writeFileSync } from 'node:fs';
import { median } from '../median.ts';
import type { Measurement } from './measurements.ts';
import type { Bar, Chart, Section } from './section.ts';

/** A result that was measured in both runs. */
interface Change {
  readonly section: string;
  readonly label: string;
  readonly unit: string;
  readonly before: number;
  readonly now: number;
  /** How many times as good as before, after correction for the speed of the machine. Below 1 is worse. */
  readonly gain: number;
  /** True if the spreads of both runs do not overlap. */
  readonly isBeyondNoise: boolean;
}

/** Throws if the file does not contain measurements with their samples. */
export function readRun(path: string): readonly Measurement[] {
  const run = JSON.parse(readFileSync(path, 'utf8')) as unknown;
  if (!Array.isArray(run) || !run.every((entry) => typeof entry?.section?.name === 'string')) {
    throw new Error(`${path} was not written by npm run bench -- --json.`);
  }
  return run as Measurement[];
}

export function writeRun(path: string, measurements: readonly Measurement[]): void {
  writeFileSync(path, `${JSON.stringify(measurements, null, 2)}\n`);
}

/** Lines for the terminal: what became worse, worst first, and how many results were compared. */
export function comparisonLines(old: readonly Measurement[], now: readonly Measurement[]): readonly string[] {
  const sections = new Map(old.map(({ section }) => [section.name, section]));
  const changes = now.flatMap(({ section }) => {
    const earlier = sections.get(section.name);
    return earlier === undefined ? [] : changesOf(earlier, section);
  });
  const worse = changes.filter(({ gain, isBeyondNoise }) => gain < 1 && isBeyondNoise);
  const lines = worse
    .toSorted((one, other) => one.gain - other.gain)
    .map(
      ({ section, label, unit, before, now: value, gain }) =>
        `${gain.toFixed(2)}  ${section}, ${label}: ${value.toPrecision(3)} ${unit}, ${before.toPrecision(3)} before`,
    );
  return [
    `${changes.length} results were compared, ${worse.length} became worse beyond the noise${worse.length === 0 ? '.' : ':'}`,
    ...lines,
  ];
}

/** Compares the results of ours. The other contenders show how much faster or slower the machine was. */
function changesOf(old: Section, now: Section): readonly Change[] {
  if (old.chart === null || now.chart === null || old.chart.unit !== now.chart.unit) return [];
  const { unit } = now.chart;
  const pairs = now.chart.bars.flatMap((bar) => {
    const before = old.chart!.bars.find(({ label }) => label === bar.label);
    return before === undefined || bar.samples.length === 0 || before.samples.length === 0 ? [] : [{ bar, before }];
  });
  const others = pairs
    .filter(({ bar }) => !bar.ours)
    .map(({ bar, before }) => gainOf(now.chart!, before.value, bar.value));
  const machine = others.length === 0 ? 1 : median(others);
  return pairs
    .filter(({ bar }) => bar.ours)
    .map(({ bar, before }) => ({
      section: now.name,
      label: bar.label,
      unit,
      before: before.value,
      now: bar.value,
      gain: gainOf(now.chart!, before.value, bar.value) / machine,
      isBeyondNoise: bestOf(now.chart!, bar, before) / machine < 1,
    }));
}

function gainOf({ better }: Chart, before: number, now: number): number {
  return better === 'more' ? now / before : before / now;
}

/** The gain from the worst round before to the best round now. */
function bestOf(chart: Chart, now: Bar, before: Bar): number {
  return chart.better === 'more'
    ? gainOf(chart, Math.min(...before.samples), Math.max(...now.samples))
    : gainOf(chart, Math.max(...before.samples), Math.min(...now.samples));
}
