// Reads figures where they are counted, at the moment of a scrape.
import type { StoreFigure } from '../stores/stores.ts';
import type { FigureDefinition } from './metric-definition.ts';

/** Without those that nobody knows now. */
export function readFigures<Sources>(
  definitions: readonly FigureDefinition<Sources>[],
  sources: Sources,
): readonly StoreFigure[] {
  return definitions.flatMap((metric) => {
    const read = metric.read(sources);
    if (read === null) return [];
    return [{ metric, values: typeof read === 'number' ? new Map([['', read]]) : read }];
  });
}
