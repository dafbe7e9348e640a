// Signatures of the kernels of expressions; what they do is told where they are written (assembly/states.ts, match-text.ts,
// choose.ts, marks.ts, vector.ts, calculate.ts). All values are addresses, counts or the numbers named here.

/** How states are put to those that are there. */
export const STATES = { set: 0, and: 1, or: 2 } as const;

/** A state for which the closures must decide. */
export const STATE_UNKNOWN = 3;

/** Tests on texts. */
export const TEXT_TESTS = { isAny: 0, startsWith: 1, endsWith: 2, contains: 3, '<': 4, '<=': 5, isNull: 6 } as const;

/** What the values of a vector are. */
export const FORMS = { double: 0, int: 1, decimal: 2 } as const;

export const ORDERS = { '<': 0, '<=': 1, '>': 2, '>=': 3, '==': 4 } as const;

export const ARITHMETIC = { '+': 0, '-': 1, '*': 2, '/': 3 } as const;

/** Bytes of a vector's description. */
export const VECTOR_BYTES = 24;

export interface ExpressionKernels {
  combineStates(states: number, others: number, count: number, mode: number): void;
  negateStates(states: number, count: number): void;
  loadBooleans(meta: number, rows: number, count: number, states: number, mode: number): void;
  findUnknown(states: number, from: number, count: number): number;
  keepTrue(states: number, rows: number, count: number): number;
  matchText: MatchText;
  matchLength: MatchLength;
  chooseTexts(states: number, rows: number, count: number, texts: number, views: number, todo: number): void;
  markTrue(states: number, rows: number, count: number, marks: number): void;
  markFound(views: number, rows: number, count: number, marks: number): void;
  markEmpty(views: number, rows: number, count: number, marks: number): void;
  markMeta(meta: number, rows: number, count: number, value: number, marks: number): void;
  markOthers(marks: number, rows: number, count: number, others: number): void;
  keepMarked(marks: number, rows: number, count: number): number;
  keepUnlisted(rows: number, count: number, listed: number, listedCount: number, kept: number): number;
  parseNumbers: ParseNumbers;
  loadNumbers(at: number, meta: number, rows: number, count: number, form: number, vector: number): void;
  storeNumbers: StoreNumbers;
  calculate(form: number, operator: number, left: number, right: number, result: number, count: number): void;
  compareNumbers: CompareNumbers;
}

type MatchText = (
  views: number,
  rows: number,
  count: number,
  test: number,
  texts: number,
  textCount: number,
  negate: number,
  states: number,
  mode: number,
) => void;

type MatchLength = (
  views: number,
  rows: number,
  count: number,
  least: number,
  most: number,
  states: number,
  mode: number,
) => void;

type ParseNumbers = (
  views: number,
  rows: number,
  count: number,
  form: number,
  vector: number,
  states: number,
  mode: number,
) => void;

type StoreNumbers = (
  vector: number,
  rows: number,
  count: number,
  form: number,
  at: number,
  meta: number,
  todo: number,
) => number;

type CompareNumbers = (
  form: number,
  operator: number,
  left: number,
  right: number,
  count: number,
  negate: number,
  states: number,
  mode: number,
) => void;
