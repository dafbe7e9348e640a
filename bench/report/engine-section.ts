// A workload's result as a section: rates, ratios to ours, memory, and the physical limit.
import type { EngineResult, Standing } from '../engine.ts';
import type { Section } from './section.ts';

export function engineSection({ workload, inputBytes, limit, standings }: EngineResult): Section {
  const own = standings[0]!.rate!.median;
  const [failed, done] = [standings.filter(({ rate }) => rate === null), standings.filter(({ rate }) => rate !== null)];
  return {
    name: workload.name.toLowerCase(),
    title: `${workload.name}: ${workload.title}, ${Math.round(inputBytes / 1e6)} MB`,
    columns: ['', 'MB/s', 'min..max', 'ours / it', 'of the limit', 'peak MB', 'rounds'],
    rows: standings.map((standing) => row(standing, own, limit.rate)),
    notes: [
      `Physical limit, one thread, step after step: ${Math.round(limit.rate)} MB/s (${limit.text}).`,
      ...failed.map(({ name, failure }) => `${name} failed: ${failure!.replaceAll('\n', ' ')}`),
    ],
    chart: {
      unit: 'MB/s',
      bars: done.map(({ name, rate }) => ({ label: name, value: rate!.median })),
      limit: { label: 'physical limit', value: limit.rate },
    },
  };
}

function row({ name, rate, peakBytes, rounds }: Standing, own: number, limit: number): string[] {
  if (rate === null) return [name, 'failed', '', '', '', '', ''];
  const { median, low, high } = rate;
  return [
    name,
    median.toFixed(0),
    `${low.toFixed(0)}..${high.toFixed(0)}`,
    (own / median).toFixed(2),
    `${((median / limit) * 100).toFixed(0)} %`,
    (peakBytes / 1e6).toFixed(0),
    String(rounds),
  ];
}
