// Figures of the stores in Prometheus' text form: they are counted where they arise, and only written here.
import type { StoreFigure } from '../stores/stores.ts';

/** Names, labels and their values are words of ours: nothing needs to be escaped. */
export function figureText(figures: readonly StoreFigure[]): string {
  return figures
    .map(({ name, help, label, values }) => {
      const type = name.endsWith('_total') ? 'counter' : 'gauge';
      const samples = [...values].map(([text, value]) => {
        return `${name}${label === null ? '' : `{${label}="${text}"}`} ${value}\n`;
      });
      return `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n${samples.join('')}`;
    })
    .join('');
}
