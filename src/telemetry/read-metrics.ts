// Reads metrics from where they are counted, during a scrape.
import type { MetricValues } from '../stores/stores.ts';
import type { ScrapedMetricDefinition } from './metric-definition.ts';

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
