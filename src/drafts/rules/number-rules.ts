// Lines for numbers and dates. A line is active if the cells prove it; otherwise it is a suggestion in a comment.
import { isDateName, isIdentifierName, isTimeName } from '../column-names.ts';
import type { ColumnProfile } from '../column-profile.ts';
import { cellLine, type DraftedColumn, type DraftedSample, type DraftLine, grouped, scalar } from '../draft-line.ts';
import { type DateReading, DECIMAL_MARKS, type DecimalMark, NumberCells } from '../typed-cells.ts';

// Lines for numbers. A notation that the cells prove is active; a notation that is only likely becomes a suggestion.

interface Notation {
  readonly decimal: DecimalMark;
  /** Empty: digits are not grouped. */
  readonly grouping: string;
}

/** Share of the cells that a notation must read to be proposed at all. */
const OFFERED_SHARE = 0.8;

/**
 * Grouped whole numbers need at least this many distinct lengths. With fewer lengths they may be identifiers, in
 * which the separators are significant.
 */
const GROUPED_LENGTHS_MIN = 3;

/** The notation that reads every cell and that at least one cell proves; null: no such notation. */
export function provenNotation({ cells, numbers }: ColumnProfile): Notation | null {
  for (const decimal of DECIMAL_MARKS) {
    const { reads, proofs, groupings } = numbers.marks[decimal];
    const used = [...groupings.keys()].filter((grouping) => grouping !== '');
    if (cells > 0 && reads === cells && proofs > 0 && used.length <= 1) return { decimal, grouping: used[0] ?? '' };
  }
  return null;
}

/** The notations in which a total below a column may be written; empty if not all cells of the column are numbers. */
export function totalNotations(column: ColumnProfile): readonly Notation[] {
  const proven = provenNotation(column);
  if (proven !== null) return [proven];
  const { cells, numbers, nativeNumbers } = column;
  if (cells === 0) return [];
  if (nativeNumbers === cells) return [{ decimal: '.', grouping: '' }];
  // Whole numbers such as 33 205 do not show which decimal mark the column uses. The sum decides.
  return DECIMAL_MARKS.flatMap((decimal) => {
    const { reads, groupings } = numbers.marks[decimal];
    const used = [...groupings.keys()].filter((grouping) => grouping !== '');
    return reads === cells && used.length <= 1 ? [{ decimal, grouping: used[0] ?? '' }] : [];
  });
}

/**
 * Returns the parameters of `parse_number` for the sum of a column, to be appended to others. Null: not all of its
 * cells are numbers.
 */
export function sumParameters(column: ColumnProfile): string | null {
  const [notation] = totalNotations(column);
  if (notation === undefined) return null;
  const parameters = parametersOf(notation, column);
  return parameters === '' ? '' : `, ${parameters}`;
}

/**
 * Parameters of `parse_number` for a total below a column; null if the draft leaves the column as text, so that it has
 * no sum. A total may have grouping, a currency or a sign that no cell above it has.
 */
export function totalParameters(column: ColumnProfile, name: string, total: string): string | null {
  const notation = provenNotation(column);
  if (notation === null || proposed(column, name)?.isActive !== true) return null;
  const numbers = new NumberCells();
  numbers.add(total);
  const own = [...numbers.marks[notation.decimal].groupings.keys()].find((grouping) => grouping !== '') ?? '';
  return parametersOf({ ...notation, grouping: notation.grouping || own }, { numbers });
}

/** Columns with the same notation share one line. */
export function numberLines({ profile, names }: DraftedSample): DraftLine[] {
  const groups = new Map<string, { columns: DraftedColumn[]; proposal: Proposal }>();
  const shown = fileMark(profile.columns, names);
  for (const [at, column] of profile.columns.entries()) {
    const proposal = epochProposal(names[at]!, column) === null ? proposed(column, names[at]!, shown) : null;
    if (proposal === null) continue;
    const key = `${proposal.isActive} ${proposal.isWhole} ${proposal.parameters}`;
    const group = groups.get(key) ?? { columns: [], proposal };
    groups.set(key, group);
    group.columns.push({ name: names[at]!, evidence: proposal.evidence });
  }
  return [...groups.values()].map(({ columns, proposal }) =>
    cellLine('parse_number', columns, proposal.parameters, proposal.isActive),
  );
}

/** The decimal mark that columns of the file prove. */
interface FileMark {
  readonly decimal: DecimalMark;
  /** A column that proves it. */
  readonly name: string;
}

/** Null: no column proves a mark, or different columns prove different ones. */
function fileMark(columns: readonly ColumnProfile[], names: readonly string[]): FileMark | null {
  const marks = columns.flatMap((column, at): FileMark[] => {
    const proven = provenNotation(column);
    return proven === null ? [] : [{ decimal: proven.decimal, name: names[at]! }];
  });
  return marks.every(({ decimal }) => decimal === marks[0]!.decimal) ? (marks[0] ?? null) : null;
}

interface Proposal {
  readonly parameters: string;
  readonly evidence: string;
  readonly isActive: boolean;
  /** Every cell can be read with this notation. */
  readonly isWhole: boolean;
}

/** @param shown the mark of the file's other columns, for a column whose cells show none */
function proposed(column: ColumnProfile, name: string, shown: FileMark | null = null): Proposal | null {
  const { cells, numbers, nativeNumbers, nativeOthers } = column;
  if (cells === 0 || nativeOthers > 0) return null;
  if (nativeNumbers > 0) {
    if (nativeNumbers < cells || isIdentifierName(name)) return null;
    return {
      parameters: '',
      evidence: `${grouped(cells)} of ${grouped(cells)} are numbers in the file`,
      isActive: true,
      isWhole: true,
    };
  }
  const proven = provenNotation(column);
  const notation = proven ?? likelyNotation(column, shown);
  if (notation === null || numbers.leadingZeros > 0) return null;
  const { reads, proofs, fractions } = numbers.marks[notation.decimal];
  if (reads < column.valueCells * OFFERED_SHARE) return null;
  const read = `${grouped(reads)} of ${grouped(cells)} read`;
  const mark = notation.decimal === ',' ? 'comma' : 'point';
  if (numbers.integers >= reads) return integerProposal(name, column, read, reads);
  const isCertain = proven !== null && !isIdentifierName(name) && !isGuessed(column) && reads === cells;
  const isAmount = fractions > 0 || numbers.lengths.size >= GROUPED_LENGTHS_MIN;
  const doubts = [
    ...(proofs === 0
      ? [
          'no cell shows whether the point or the comma is the decimal separator',
          ...(shown?.decimal === notation.decimal ? [`${scalar(shown.name)} proves the ${mark}`] : []),
        ]
      : [`${grouped(proofs)} ${proofs === 1 ? 'proves' : 'prove'} the ${mark}`]),
    ...guesses(column),
    ...(isIdentifierName(name) ? ['its name suggests that it is not an amount'] : []),
    ...(isAmount ? [] : ['groups of digits may belong to an identifier']),
  ];
  return {
    parameters: parametersOf(notation, column),
    evidence: [read, ...doubts].join('; '),
    isActive: isCertain && isAmount,
    isWhole: reads === cells,
  };
}

function integerProposal(name: string, { cells }: ColumnProfile, read: string, reads: number): Proposal | null {
  if (isIdentifierName(name) || reads < cells) return null;
  return {
    parameters: 'type: integer',
    evidence: `${read}, whole numbers; they may be identifiers`,
    isActive: false,
    isWhole: true,
  };
}

/** The notation whose decimal mark reads more cells; if both read the same cells, that of the file's other columns. */
function likelyNotation({ numbers }: ColumnProfile, shown: FileMark | null): Notation | null {
  const [point, comma] = [numbers.marks['.'], numbers.marks[',']];
  if (point.reads === 0 && comma.reads === 0) return null;
  const isShown = shown?.decimal === ',' && comma.proofs === point.proofs;
  const better = comma.reads === point.reads ? isShown || comma.proofs > point.proofs : comma.reads > point.reads;
  const decimal = better ? ',' : '.';
  const groupings = [...numbers.marks[decimal].groupings].filter(([grouping]) => grouping !== '');
  groupings.sort(([, a], [, b]) => b - a);
  return { decimal, grouping: groupings[0]?.[0] ?? '' };
}

function isGuessed({ numbers }: ColumnProfile): boolean {
  return numbers.currencies.size > 0 || numbers.percents > 0 || numbers.marked > 0;
}

function guesses({ numbers }: ColumnProfile): string[] {
  const { currencies, percents, marked } = numbers;
  return [
    ...(currencies.size > 0 ? ['the currency would be lost'] : []),
    ...(percents > 0 ? [`${grouped(percents)} in percent`] : []),
    ...(marked > 0 ? [`${grouped(marked)} with CR or DR; which of the two is negative depends on the account`] : []),
  ];
}

function parametersOf({ decimal, grouping }: Notation, { numbers }: Pick<ColumnProfile, 'numbers'>): string {
  const { currencies, percents, marked, trailingMinus, bracketed } = numbers;
  const negative = [
    ...(trailingMinus > 0 ? ['"x-"'] : []),
    ...(bracketed > 0 ? ['(x)'] : []),
    ...(marked > 0 ? ['"x CR"'] : []),
  ];
  return [
    ...(decimal === '.' ? [] : [`decimal: "${decimal}"`]),
    ...(grouping === '' ? [] : [`grouping: "${grouping}"`]),
    ...(negative.length === 0 ? [] : [`negative: ["-x", ${negative.join(', ')}]`]),
    ...(currencies.size === 0
      ? []
      : [`strip: ${JSON.stringify([...currencies.keys(), ...(marked > 0 ? ['DR'] : [])])}`]),
    ...(percents === 0 ? [] : ['percent: true']),
  ].join(', ');
}

// Lines for dates. A pattern that the cells prove is active; a likely one is only proposed.

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
  return [
    ...[...groups.values()].map(({ columns, line }) => cellLine('parse_date', columns, line.parameters, line.isActive)),
    ...epochLines({ profile, names }),
  ];
}

/** Units of `parse_date`, by the number of digits that an instant between 2001 and 2286 has in this unit. */
const EPOCH_UNITS: ReadonlyMap<number, string> = new Map([
  [10, 's'],
  [13, 'ms'],
  [16, 'us'],
]);

/** Returns the unit if the cells are probably times counted since 1970, and the name of the column is that of a time. */
function epochProposal(name: string, { cells, numbers }: ColumnProfile): string | null {
  const isCount =
    cells > 0 && numbers.integers === cells && numbers.lengths.size === 1 && numbers.currencies.size === 0;
  return isCount && isTimeName(name) ? (EPOCH_UNITS.get([...numbers.lengths][0]!) ?? null) : null;
}

function epochLines({ profile, names }: Pick<DraftedSample, 'profile' | 'names'>): DraftLine[] {
  return profile.columns.flatMap((column, at) => {
    const unit = epochProposal(names[at]!, column);
    if (unit === null) return [];
    const evidence = `${grouped(column.cells)} of ${grouped(column.cells)} have the length of ${unit} since 1970`;
    return [cellLine('parse_date', [{ name: names[at]!, evidence }], `epoch: ${unit}`, false)];
  });
}

interface Proposed {
  readonly parameters: string;
  readonly evidence: string;
  readonly isActive: boolean;
}

/** The pattern that reads most cells. Among equals, a proven pattern wins, then the strict one. */
function bestReading({ dates, valueCells }: ColumnProfile): DateReading | null {
  const readings = dates.readings.filter(({ reads }) => reads >= valueCells * OFFERED_SHARE);
  const most = readings[0];
  if (most === undefined) return null;
  const proven = readings.find(({ reads, proofs }) => reads === most.reads && proofs > 0);
  return proven ?? most;
}

/** Eight digits are a date only if the column name says so. */
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
  if (form.guess === 'offset') parts.push('they become instants in UTC; their offsets would be lost');
  if (form.guess === 'zone') parts.push('their time zone is unknown: without timezone they are read as UTC');
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
