// Definition of a metric, from which the text of `/metrics` and the reference page of metrics are generated, and the
// reading of metrics during a scrape.

export interface MetricDefinition {
  readonly name: string;
  readonly kind: 'counter' | 'gauge' | 'histogram';
  /** One or two sentences. Literal text is in backticks, which `/metrics` leaves out. */
  readonly help: string;
  /** Names of the labels. Values are never chosen by a client: operations, codes and accounts are closed lists. */
  readonly labels: readonly string[];
}

/** A metric that is counted elsewhere and read during a scrape. */
export interface ScrapedMetricDefinition<Sources> extends MetricDefinition {
  /** Returns a number for a metric without a label, otherwise numbers by label value; null if unknown now. */
  readonly read: (sources: Sources) => number | ReadonlyMap<string, number> | null;
}

/** A metric that is counted elsewhere, with its current values. */
export interface MetricValues {
  /** With at most one label. */
  readonly metric: MetricDefinition;
  /** Values by label; a metric without a label has one value under ''. */
  readonly values: ReadonlyMap<string, number>;
}

/** Help text as in `/metrics`. */
export function plainHelp({ help }: MetricDefinition): string {
  return help.replaceAll('`', '');
}

// Reads metrics from where they are counted, during a scrape.

/** Leaves out metrics that are unknown now. */
export function readMetrics<Sources>(
  definitions: readonly ScrapedMetricDefinition<Sources>[],
  sources: Sources,
): readonly MetricValues[] {
  return definitions.flatMap((metric) => {
    const read = metric.read(sources);
    if (read === null) return [];
    return [{ metric, values: typeof read === 'number' ? new Map([['', read]]) : read }];
  });
}
