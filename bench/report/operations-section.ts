// The table of operations as a section, sorted by the ratio to the best of the others, worst first.
import { type OperationResult, type OperationTime, SLOW_MILLISECONDS } from '../operations.ts';
import { AS_FAST, type Section } from './section.ts';

/** Maximum bar length: an engine that is very slow in one row would make all other bars too short to compare. */
const LONGEST_BAR = 10;

interface Line extends OperationResult {
  readonly best: { readonly name: string; readonly time: OperationTime } | null;
  /** Our result divided by the best of the others, or null if no other contender took part. */
  readonly ratio: number | null;
}

export function operationsSection(results: readonly OperationResult[]): Section {
  const lines = results.map(lineOf).sort((left, right) => (left.ratio ?? Infinity) - (right.ratio ?? Infinity));
  const ratios = lines.flatMap(({ ratio }) => (ratio === null ? [] : [ratio]));
  const megabytes = Math.round((results[0]?.inputBytes ?? 0) / 1e6);
  return {
    name: 'operations',
    title: `Every operation, and the fastest of the others, with two threads on ${megabytes} MB`,
    columns: [
      '',
      'operation',
      'ours / it',
      'ours MB/s',
      'fastest other',
      'its MB/s',
      'CPU ms/MB',
      'its',
      'peak MB',
      'its peak',
    ],
    rows: lines.map(cellsOf),
    notes: [
      ...(ratios.length === 0 ? [] : [summaryOf(ratios)]),
      `An engine that needs more than ${SLOW_MILLISECONDS / 1000} s for a row is measured once.`,
    ],
    chart: {
      unit: 'ours / best of the others',
      better: 'more',
      bars: lines.flatMap(({ row, own, best, ratio }) =>
        ratio === null
          ? []
          : [
              {
                label: row.name,
                value: ratio,
                samples: own.rate.samples.map((rate) => rate / best!.time.rate.median),
                ours: true,
              },
            ],
      ),
      limit: { label: AS_FAST, value: 1 },
      longest: LONGEST_BAR,
    },
  };
}

/** One row as a line on the terminal, before the table is complete. */
export function operationLine(result: OperationResult): string {
  const { row, own, best, ratio } = lineOf(result);
  const ours = `${own.rate.median.toFixed(0)} MB/s, ${own.processorMilliseconds.toFixed(1)} CPU ms/MB`;
  if (best === null || ratio === null) return `${row.name}: ${ours}`;
  const its = `${best.name} ${best.time.rate.median.toFixed(0)}, ${best.time.processorMilliseconds.toFixed(1)}`;
  return `${ratio.toFixed(2)}  ${row.name} (${row.covers}): ${ours}; ${its}`;
}

function lineOf(result: OperationResult): Line {
  const others = [...result.others].map(([name, time]) => ({ name, time }));
  const [best = null] = others.sort((left, right) => right.time.rate.median - left.time.rate.median);
  return { ...result, best, ratio: best === null ? null : result.own.rate.median / best.time.rate.median };
}

function cellsOf({ row, own, best, ratio }: Line): string[] {
  const rate = ({ rate }: OperationTime): string => rate.median.toFixed(0);
  const peak = ({ peakBytes }: OperationTime): string => (peakBytes / 1e6).toFixed(0);
  const processor = ({ processorMilliseconds }: OperationTime): string => processorMilliseconds.toFixed(1);
  return [
    row.name,
    row.covers,
    ratio === null ? '' : ratio.toFixed(2),
    rate(own),
    best?.name ?? 'none',
    best === null ? '' : rate(best.time),
    processor(own),
    best === null ? '' : processor(best.time),
    peak(own),
    best === null ? '' : peak(best.time),
  ];
}

function summaryOf(ratios: readonly number[]): string {
  const faster = ratios.filter((ratio) => ratio >= 1).length;
  return `template-run is as fast or faster in ${faster} of ${ratios.length} rows; the geometric mean of the ratios is ${geometricMean(ratios).toFixed(2)}.`;
}

function geometricMean(values: readonly number[]): number {
  return Math.exp(values.reduce((sum, value) => sum + Math.log(value), 0) / values.length);
}
