// Figures of the stores in Prometheus' text form: they are counted where they arise, and only written here.
import type { StoreFigure } from '../stores/stores.ts';
import { plainHelp } from './metric-definition.ts';

/** Names, labels and their values are words of ours: nothing needs to be escaped. */
export function figureText(figures: readonly StoreFigure[]): string {
  return figures
    .map(({ metric, values }) => {
      const { name, kind, labels } = metric;
      const samples = [...values].map(([text, value]) => {
        return `${name}${labels.map((label) => `{${label}="${text}"}`).join('')} ${value}\n`;
      });
      return `# HELP ${name} ${plainHelp(metric)}\n# TYPE ${name} ${kind}\n${samples.join('')}`;
    })
    .join('');
}
