// How CSV writes typed cells: the Template's decimal mark, texts of booleans and pattern of dates.
import { compileDatePattern } from '../../values/date-pattern.ts';
import type { TypedFormat } from '../typed-text.ts';
import type { CsvSettings } from './csv-section.ts';

export function typedFormat(csv: CsvSettings): TypedFormat {
  return {
    decimalMark: csv.decimal,
    formatDate: csv.dateFormat === null ? null : dateFormatter(csv.dateFormat),
    nonFinite: 'name',
    boolean: csv.boolean,
  };
}

/** Times stay ISO 8601: a pattern of days would lose them. */
function dateFormatter(source: string): (days: number) => string {
  const pattern = compileDatePattern(source);
  if ('problem' in pattern) throw new Error('the date pattern was not checked');
  return (days) => pattern.format({ days, second: 0, nanos: 0, offsetSeconds: 0 });
}
