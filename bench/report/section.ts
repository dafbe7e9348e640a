// One table of results with its chart, as each part of the benchmark passes it to the terminal and to RESULTS.md.

export interface Section {
  /** Name of the chart's file: lower case and hyphens. */
  readonly name: string;
  readonly title: string;
  /** The first column is text, the others are numbers. */
  readonly columns: readonly string[];
  readonly rows: readonly (readonly string[])[];
  /** Sentences below the table, starting with the physical limit. */
  readonly notes: readonly string[];
  readonly chart: Chart | null;
}

export interface Chart {
  readonly unit: string;
  /** Which values are better. */
  readonly better: 'more' | 'less';
  readonly bars: readonly Bar[];
  /** Drawn instead of the bars, if values change with a size. The bars then only hold the samples. */
  readonly lines?: readonly Line[];
  /** Drawn as a line across the bars. */
  readonly limit: LimitLine | null;
  /** Maximum bar length: larger values are cut to it, with the number next to the bar. Omitted for no maximum. */
  readonly longest?: number;
}

export interface Bar {
  readonly label: string;
  readonly value: number;
  /** Measured values, of which `value` is the median; their spread is drawn. Empty if there is only the value. */
  readonly samples: readonly number[];
  /** True for results of template-run. */
  readonly ours: boolean;
}

/** A line of a chart, from the smallest size to the largest. */
export interface Line {
  readonly label: string;
  readonly points: readonly { readonly megabytes: number; readonly value: number }[];
}

/** Label of a limit at which template-run is as fast as the best of the others. */
export const AS_FAST = 'as fast';

/** The physical limit of the machine, in the chart's unit. */
export interface LimitLine {
  readonly label: string;
  readonly value: number;
}
