// The result of a workload as a section: rates, ratios to template-run, memory, and the physical limit.
import type { EngineResult, Standing } from '../engine.ts';
import { AS_FAST, type Section } from './section.ts';

export function engineSection({ workload, inputBytes, limit, standings }: EngineResult): Section {
  const own = standings[0]!.rate!.median;
  const [failed, done] = [standings.filter(({ rate }) => rate === null), standings.filter(({ rate }) => rate !== null)];
  return {
    name: workload.name.toLowerCase(),
    title: `${workload.name}: ${workload.title}, ${Math.round(inputBytes / 1e6)} MB`,
    columns: ['', 'MB/s', 'min..max', 'ours / it', 'of the limit', 'CPU ms/MB', 'peak MB', 'rounds'],
    rows: standings.map((standing) => row(standing, own, limit.rate)),
    notes: [
      `Physical limit, one thread, step after step: ${Math.round(limit.rate)} MB/s (${limit.text}).`,
      ...failed.map(({ name, failure }) => `${name} failed: ${failure!.replaceAll('\n', ' ')}`),
    ],
    chart: {
      unit: 'MB/s',
      better: 'more',
      bars: done.map(({ name, isOurs, rate }) => ({
        label: name,
        value: rate!.median,
        samples: rate!.samples,
        ours: isOurs,
      })),
      limit: { label: 'physical limit', value: limit.rate },
    },
  };
}

/** A workload compared with the fastest of the other contenders; rates in MB/s. */
export interface SummaryLine {
  readonly label: string;
  readonly title: string;
  readonly limitRate: number;
  readonly own: Contender;
  /** null if no other contender took part. */
  readonly best: Contender | null;
  /** Our rate with one thread, divided by that of the fastest other with one thread; null if one of them is missing. */
  readonly oneThreadRatio: number | null;
}

interface Contender {
  readonly name: string;
  readonly rate: number;
  readonly peakBytes: number;
}

export function summaryLine({ workload, limit, standings }: EngineResult): SummaryLine {
  const contender = ({ name, rate, peakBytes }: Standing): Contender[] =>
    rate === null ? [] : [{ name, rate: rate.median, peakBytes }];
  const [own] = contender(standings[0]!);
  const others = standings.filter(({ isOurs }) => !isOurs).flatMap(contender);
  const best = others.sort((left, right) => right.rate - left.rate)[0] ?? null;
  const shared = { label: workload.name, title: workload.title, limitRate: limit.rate };
  return { ...shared, own: own!, best, oneThreadRatio: oneThreadRatio(standings) };
}

function oneThreadRatio(standings: readonly Standing[]): number | null {
  const alone = standings.filter(({ threads, rate }) => threads === 1 && rate !== null);
  const own = alone.find(({ isOurs }) => isOurs);
  const others = alone.filter(({ isOurs }) => !isOurs).map(({ rate }) => rate!.median);
  return own === undefined || others.length === 0 ? null : own.rate!.median / Math.max(...others);
}

/** Compares every workload with the fastest of the others. */
export function summarySection(lines: readonly SummaryLine[]): Section {
  const megabytes = (bytes: number): string => (bytes / 1e6).toFixed(0);
  return {
    name: 'summary',
    title: 'Summary: template-run with two threads, and the fastest of the others',
    columns: ['', 'MB/s', 'fastest other', 'its MB/s', 'ours / it', 'with one thread each', 'peak MB', 'its peak MB'],
    rows: lines.map(({ label, title, own, best, oneThreadRatio }) => [
      `${label}, ${title}`,
      own.rate.toFixed(0),
      ...(best === null ? ['none', '', ''] : [best.name, best.rate.toFixed(0), (own.rate / best.rate).toFixed(2)]),
      oneThreadRatio?.toFixed(2) ?? '',
      megabytes(own.peakBytes),
      best === null ? '' : megabytes(best.peakBytes),
    ]),
    notes: [],
    chart: {
      unit: 'ours / fastest other',
      better: 'more',
      bars: lines.flatMap(({ label, own, best }) =>
        best === null ? [] : [{ label, value: own.rate / best.rate, samples: [], ours: true }],
      ),
      limit: { label: AS_FAST, value: 1 },
    },
  };
}

function row({ name, rate, processorMilliseconds, peakBytes, rounds }: Standing, own: number, limit: number): string[] {
  if (rate === null) return [name, 'failed', '', '', '', '', '', ''];
  const { median, low, high } = rate;
  return [
    name,
    median.toFixed(0),
    `${low.toFixed(0)}..${high.toFixed(0)}`,
    (own / median).toFixed(2),
    `${((median / limit) * 100).toFixed(0)} %`,
    processorMilliseconds.toFixed(2),
    (peakBytes / 1e6).toFixed(0),
    String(rounds),
  ];
}
