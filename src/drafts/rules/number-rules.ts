// Numbers: the notation that the cells prove, and those that are only likely.

import { isIdentifierName } from '../column-names.ts';
import type { ColumnProfile } from '../column-profile.ts';
import { cellLine, type DraftedColumn, type DraftedSample, type DraftLine, grouped } from '../draft-line.ts';
import { DECIMAL_MARKS, type DecimalMark } from '../number-cells.ts';

interface Notation {
  readonly decimal: DecimalMark;
  /** Empty: nothing groups digits. */
  readonly grouping: string;
}

/** Part of the cells that must read for a notation to be offered at all. */
const OFFERED_SHARE = 0.8;

/** Whole numbers of fewer different lengths than these may be identifiers, whose groups of digits are part of them. */
const GROUPED_LENGTHS_MIN = 3;

/** The notation under which every cell reads and which some cell proves; null: there is none. */
export function provenNotation({ cells, numbers }: ColumnProfile): Notation | null {
  for (const decimal of DECIMAL_MARKS) {
    const { reads, proofs, groupings } = numbers.marks[decimal];
    const used = [...groupings.keys()].filter((grouping) => grouping !== '');
    if (cells > 0 && reads === cells && proofs > 0 && used.length <= 1) return { decimal, grouping: used[0] ?? '' };
  }
  return null;
}

/** One line for what is written the same way. */
export function numberLines({ profile, names }: DraftedSample): DraftLine[] {
  const groups = new Map<string, { columns: DraftedColumn[]; proposal: Proposal }>();
  for (const [at, column] of profile.columns.entries()) {
    const proposal = proposed(column, names[at]!);
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

interface Proposal {
  readonly parameters: string;
  readonly evidence: string;
  readonly isActive: boolean;
  /** Every cell reads so. */
  readonly isWhole: boolean;
}

function proposed(column: ColumnProfile, name: string): Proposal | null {
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
  const notation = proven ?? likelyNotation(column);
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
      ? ['nothing tells the point from the comma']
      : [`${grouped(proofs)} ${proofs === 1 ? 'proves' : 'prove'} the ${mark}`]),
    ...guesses(column),
    ...(isIdentifierName(name) ? ['its name says that it may be no amount'] : []),
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

/** The mark under which more cells read. */
function likelyNotation({ numbers }: ColumnProfile): Notation | null {
  const [point, comma] = [numbers.marks['.'], numbers.marks[',']];
  if (point.reads === 0 && comma.reads === 0) return null;
  const better = comma.reads === point.reads ? comma.proofs > point.proofs : comma.reads > point.reads;
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
    ...(marked > 0 ? [`${grouped(marked)} with CR or DR, whose sign is a matter of who keeps the books`] : []),
  ];
}

function parametersOf({ decimal, grouping }: Notation, { numbers }: ColumnProfile): string {
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
