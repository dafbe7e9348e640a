// Runs that take seconds because of real work: many steps over accented text, and a parameter after the file, so that
// the work restarts after the last byte.
import { step, template } from './catalog-folder.ts';
import { CANARY, field, file, type Part } from './multipart.ts';

const STEPS = ['nfkc', 'title', { prefix: '\u00c9' }, 'strip_accents', 'lower', { prefix: '\u00e9' }, { truncate: 40 }];

/** Needs the columns `n` and `text`. */
export const SLOW = slowTemplate(30);

/** The same for as long as the test needs. */
export function slowTemplate(operations: number): object {
  const slow = step('text', { columns: ['text'], steps: STEPS });
  return template(
    Array.from({ length: operations }, () => slow),
    { name: 'Slow' },
  );
}

/** An upload for SLOW; `tail` is appended to the file. */
export function slowUpload(rows: number, tail = ''): Part[] {
  const row = (index: number): string => `${index},\u00c9t\u00e9 \u00e0 la ${CANARY} \u00f1and\u00fa ${index}\n`;
  const text = `n,text\n${Array.from({ length: rows }, (_, index) => row(index)).join('')}${tail}`;
  return [file(text), field('delimiter', ',')];
}
