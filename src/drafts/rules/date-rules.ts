// Dates: the pattern that the cells prove, and those that are only likely.

import { isDateName } from '../column-names.ts';
import type { ColumnProfile } from '../column-profile.ts';
import type { DateReading } from '../date-cells.ts';
import { cellLine, type DraftedColumn, type DraftedSample, type DraftLine, grouped, scalar } from '../draft-line.ts';

/** Part of the cells that must read for a pattern to be offered at all. */
const OFFERED_SHARE = 0.8;

interface ReadColumn {
  readonly name: string;
  readonly reading: DateReading;
  readonly isWhole: boolean;
  readonly isProven: boolean;
}

export function dateLines({ profile, names }: DraftedSample): DraftLine[] {
  const read = profile.columns.flatMap((column, at): ReadColumn[] => {
    const reading = bestReading(column);
    if (reading === null || mayBeNumber(names[at]!, reading)) return [];
    const isWhole = reading.reads === column.cells && column.nativeNumbers + column.nativeOthers === 0;
    const isProven = isWhole && (reading.form.rival === null || reading.proofs > 0);
    return [{ name: names[at]!, reading, isWhole, isProven }];
  });
  const lent = new Map(
    read.filter(({ isProven }) => isProven).map(({ name, reading }) => [reading.form.pattern, name]),
  );
  const lines = read.map((column) => ({
    column,
    line: lineOf(column, profile.columns[names.indexOf(column.name)]!, lent),
  }));
  const groups = new Map<string, { columns: DraftedColumn[]; line: Proposed }>();
  for (const { column, line } of lines) {
    const key = `${line.isActive} ${column.isWhole} ${line.parameters}`;
    const group = groups.get(key) ?? { columns: [], line };
    groups.set(key, group);
    group.columns.push({ name: column.name, evidence: line.evidence });
  }
  return [...groups.values()].map(({ columns, line }) =>
    cellLine('parse_date', columns, line.parameters, line.isActive),
  );
}

interface Proposed {
  readonly parameters: string;
  readonly evidence: string;
  readonly isActive: boolean;
}

/** A pattern that reads most cells; of equal ones that with proof, and then the strict one. */
function bestReading({ dates, valueCells }: ColumnProfile): DateReading | null {
  const readings = dates.readings.filter(({ reads }) => reads >= valueCells * OFFERED_SHARE);
  const most = readings[0];
  if (most === undefined) return null;
  const proven = readings.find(({ reads, proofs }) => reads === most.reads && proofs > 0);
  return proven ?? most;
}

/** Digits without any mark are a date where the column is called so. */
function mayBeNumber(name: string, { form }: DateReading): boolean {
  return form.guess === 'digits' && !isDateName(name);
}

function lineOf(
  { name, reading, isWhole, isProven }: ReadColumn,
  { cells }: ColumnProfile,
  lent: ReadonlyMap<string, string>,
): Proposed {
  const { form, reads, proofs } = reading;
  const lender = isProven || form.rival === null ? undefined : lent.get(form.pattern);
  const parts = [`${grouped(reads)} of ${grouped(cells)} read`];
  if (form.rival !== null && proofs > 0)
    parts.push(`${grouped(proofs)} ${proofs === 1 ? 'excludes' : 'exclude'} ${form.rival}`);
  else if (lender !== undefined && lender !== name) parts.push(`${scalar(lender)} proves the order of day and month`);
  else if (form.rival !== null) parts.push(`${form.rival} reads them too`);
  if (form.guess === 'century') parts.push('the century is a guess');
  if (form.guess === 'zone') parts.push('their time zone is not known: without timezone it is UTC');
  const isActive = isWhole && (isProven || lender !== undefined) && (form.guess === null || form.guess === 'digits');
  const locale = form.locale === null ? '' : `, locale: ${form.locale}`;
  const patterns = isActive || proofs > 0 || form.rival === null ? [form.pattern] : [form.pattern, form.rival];
  const ambiguous = patterns.length > 1 ? ', ambiguous: column_vote' : '';
  return {
    parameters: `formats: [${patterns.map(scalar).join(', ')}]${locale}${ambiguous}`,
    evidence: parts.join('; '),
    isActive,
  };
}
