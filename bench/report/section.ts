// One table of results with its chart, as every part of the benchmark hands it over for the terminal and RESULTS.md.

export interface Section {
  /** For the chart's file: lower case and hyphens. */
  readonly name: string;
  readonly title: string;
  /** The first column is text, the others are figures. */
  readonly columns: readonly string[];
  readonly rows: readonly (readonly string[])[];
  /** Sentences below the table, the physical limit first. */
  readonly notes: readonly string[];
  readonly chart: Chart | null;
}

export interface Chart {
  readonly unit: string;
  readonly bars: readonly Bar[];
  /** Drawn as a line across the bars. */
  readonly limit: LimitLine | null;
  /** Larger values have a bar of this one's length; the number beside it tells. None: as long as they are. */
  readonly longest?: number;
}

export interface Bar {
  readonly label: string;
  readonly value: number;
  /** Whether template-run did it. */
  readonly ours: boolean;
}

/** The most that the machine can do, in the chart's unit. */
export interface LimitLine {
  readonly label: string;
  readonly value: number;
}
