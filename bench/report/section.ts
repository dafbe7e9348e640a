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
  readonly bars: readonly Bar[];
  /** Drawn as a line across the bars. */
  readonly limit: LimitLine | null;
  /** Maximum bar length: larger values are cut to it, with the number next to the bar. Omitted for no maximum. */
  readonly longest?: number;
}

export interface Bar {
  readonly label: string;
  readonly value: number;
  /** True for results of template-run. */
  readonly ours: boolean;
}

/** The physical limit of the machine, in the chart's unit. */
export interface LimitLine {
  readonly label: string;
  readonly value: number;
}
