// Lines that are only ever proposed, because they depend on what the data means: booleans, lists of allowed values,
// unique cells, blank cells that repeat the cell above, and debit and credit columns.
import { isIdentifierName } from '../column-names.ts';
import type { ColumnProfile } from '../column-profile.ts';
import { columnSet, counted, type DraftedSample, type DraftLine, grouped, list, scalar } from '../draft-line.ts';
import { isSumWord } from '../sample-profile.ts';
import { recordTypes } from './input-rules.ts';
import { expressionName, expressionText } from './row-rules.ts';

const BOOLEANS: readonly (readonly [string, string])[] = [
  ['true', 'false'],
  ['yes', 'no'],
  ['y', 'n'],
  ['ja', 'nein'],
  ['j', 'n'],
  ['oui', 'non'],
  ['sí', 'no'],
  ['si', 'no'],
  ['wahr', 'falsch'],
  ['1', '0'],
];

export function booleanLines({ profile, names }: DraftedSample): DraftLine[] {
  return profile.columns.flatMap((column, at) => {
    const texts = column.nativeOthers > 0 || column.values === null ? [] : [...column.values.keys()];
    if (texts.length === 0 || texts.length > 4) return [];
    const pair = BOOLEANS.find((words) => texts.every((text) => words.includes(text.toLowerCase())));
    if (pair === undefined || (texts.length === 1 && pair[0] === '1')) return [];
    const yes = texts.filter((text) => text.toLowerCase() === pair[0]);
    const no = texts.filter((text) => text.toLowerCase() === pair[1]);
    const words = `true_values: ${list(yes.length > 0 ? yes : [pair[0]])}, false_values: ${list(no.length > 0 ? no : [pair[1]])}`;
    const text = `{cast: {columns: {${scalar(names[at]!)}: boolean}, ${words}}}`;
    return [offer(text, `${counted(column.cells, 'cell')}, ${texts.length} distinct`)];
  });
}

/** A list of allowed values is proposed only if its values occur at least this often on average. */
const REPEATED_MIN = 3;
const VALUE_LIST_MAX = 20;

/** Name of the first column if it has no header. */
const FIRST_WITHOUT_HEADER = 'column_1';

export function valueListLines({ profile, names }: DraftedSample): DraftLine[] {
  return profile.columns.flatMap(({ values, cells, numbers, dates, nativeNumbers, nativeOthers }, at) => {
    // A list of the numbers of a sample would refuse those of other files; booleans have no other values.
    if (nativeNumbers > 0 || nativeOthers > 0) return [];
    if (values === null || values.size < 2 || values.size > VALUE_LIST_MAX || cells < values.size * REPEATED_MIN)
      return [];
    if (numbers.marks['.'].reads > 0 || numbers.marks[','].reads > 0 || dates.readings.length > 0) return [];
    // In a file with records of several types, the first column has the types, and a Template keeps one of them.
    if (at === 0 && names[0] === FIRST_WITHOUT_HEADER && recordTypes(profile.columns[0]!) !== null) return [];
    const texts = [...values.keys()].filter((text) => !isSumWord(text)).sort();
    // JSON lists and objects rarely have a fixed set of values.
    if (texts.length < 2 || texts.some((each) => /^[[{]/.test(each))) return [];
    const text = `{validate: {rules: [{column: ${scalar(names[at]!)}, check: in, values: ${list(texts)}}]}}`;
    return [offer(text, `${counted(texts.length, 'distinct value')} in ${counted(cells, 'cell')}`)];
  });
}

const UNIQUE_CELLS_MIN = 3;

/**
 * Proposes at most one unique column: the first column of the file, or the first one whose name denotes an
 * identifier. Other columns are often unique by chance.
 */
export function uniqueLines({ profile, names }: DraftedSample): DraftLine[] {
  const at = profile.columns.findIndex(
    ({ cells, blanks, repeats, dates }, index) =>
      repeats === 0 &&
      (index === 0 || isIdentifierName(names[index]!)) &&
      blanks === 0 &&
      cells >= UNIQUE_CELLS_MIN &&
      dates.readings.length === 0,
  );
  if (at < 0) return [];
  const text = `{validate: {rules: [{column: ${scalar(names[at]!)}, check: unique}]}}`;
  return [offer(text, `${counted(profile.columns[at]!.cells, 'cell')}, all distinct`)];
}

/** Blank cells count as intended if they occur in at least one of this many rows. */
const FILLED_SHARE = 4;

export function fillLines({ profile, names }: DraftedSample): DraftLine[] {
  const groups = new Map<number | null, string[]>();
  for (const [at, column] of profile.columns.entries()) {
    if (column.blanksBelow === 0 || column.blanksBelow < column.blanks || column.cells === 0) continue;
    const by = profile.fills.find((fill) => fill.column === at)?.by ?? null;
    if (by === null && (column.blanks * FILLED_SHARE < profile.bodyRows || isIdentifierName(names[at]!))) continue;
    groups.set(by, [...(groups.get(by) ?? []), names[at]!]);
  }
  return [...groups].map(([by, of]) => {
    const grouping = by === null ? '' : `, group_by: ${scalar(names[by]!)}`;
    const blanks = of.reduce((sum, name) => sum + profile.columns[names.indexOf(name)]!.blanksBelow, 0);
    const where = by === null ? 'below a filled cell' : `where ${scalar(names[by]!)} has the value of the row above`;
    return offer(`{fill_down: {columns: ${columnSet(of)}${grouping}}}`, `${counted(blanks, 'blank cell')} ${where}`);
  });
}

/** Pairs of codes for debit and credit. The first code lowers a balance. */
const SIDES: readonly (readonly [string, string])[] = [
  ['D', 'C'],
  ['DR', 'CR'],
  ['DEBIT', 'CREDIT'],
  ['DBIT', 'CRDT'],
  ['S', 'H'],
  ['SOLL', 'HABEN'],
  ['AF', 'BIJ'],
  ['-', '+'],
];

const DEBIT_NAME = /(?:^|_)(?:debits?|soll|paid_out|withdrawals?|ausgang|belastung|cargo|money_out)(?:_|$)/;
const CREDIT_NAME = /(?:^|_)(?:credits?|haben|paid_in|deposits?|eingang|gutschrift|abono|money_in)(?:_|$)/;

export function signLines({ profile, names }: DraftedSample): DraftLine[] {
  const isAmount = ({ cells, numbers }: ColumnProfile): boolean =>
    cells > 0 && Math.max(numbers.marks['.'].fractions, numbers.marks[','].fractions) > 0;
  const amounts = names.filter((_, at) => isAmount(profile.columns[at]!));
  const [amount] = amounts;
  if (amount === undefined) return [];
  const lines = profile.columns.flatMap(({ values, cells }, at) => {
    const texts = [...(values?.keys() ?? [])];
    if (cells === 0 || texts.length === 0 || texts.length > 2) return [];
    const side = SIDES.find((words) => texts.every((text) => words.includes(text.toUpperCase())));
    const debit = texts.find((text) => text.toUpperCase() === side?.[0]);
    if (side === undefined || debit === undefined) return [];
    const [sign, of] = [expressionName(names[at]!), expressionName(amount)];
    const text = `{set: {columns: {${scalar(amount)}: '${sign} == ${expressionText(debit)} ? -${of} : ${of}'}}}`;
    return [
      offer(
        text,
        `${counted(cells, 'cell')} that ${texts.length === 1 ? 'is' : 'are'} a word for debit or credit; ${scalar(amount)} must be a number`,
      ),
    ];
  });
  const debit = amounts.find((name) => DEBIT_NAME.test(name));
  const credit = amounts.find((name) => CREDIT_NAME.test(name) && name !== debit);
  if (debit === undefined || credit === undefined) return lines;
  const [out, into] = [expressionName(debit), expressionName(credit)];
  const expression = `coalesce(${into}, 0d) - coalesce(${out}, 0d)`;
  const text = `{set: {columns: {amount_signed: '${expression}'}}}`;
  return [
    ...lines,
    offer(
      text,
      `an amount is in ${scalar(debit)} or in ${scalar(credit)}, ${grouped(profile.bodyRows)} rows; both must be numbers`,
    ),
  ];
}

function offer(text: string, evidence: string): DraftLine {
  return { place: 'operation', text, evidence, isActive: false };
}
