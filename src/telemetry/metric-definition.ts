// What a metric is: the text of `/metrics` and the page of metrics are made of such definitions.

export interface MetricDefinition {
  readonly name: string;
  readonly kind: 'counter' | 'gauge' | 'histogram';
  /** One or two sentences. What is typed or read as it stands is in backticks, which `/metrics` leaves out. */
  readonly help: string;
  /** Their names. Nothing that a client chose is a value: operations, codes and accounts are closed lists of ours. */
  readonly labels: readonly string[];
}

/** A metric that is counted where it arises, and read at the moment of a scrape. */
export interface FigureDefinition<Sources> extends MetricDefinition {
  /** A number where it has no label, else by the value of its one label; null: nobody knows it now. */
  readonly read: (sources: Sources) => number | ReadonlyMap<string, number> | null;
}

/** As `/metrics` says it. */
export function plainHelp({ help }: MetricDefinition): string {
  return help.replaceAll('`', '');
}
