// The operation `check_totals`: compares totals of all rows with expected values, and fails the Run if they differ.
import type { Batch } from '../batch/batch.ts';
import type { Column } from '../batch/schema.ts';
import { type Static, Type } from '../bundled/type-box.ts';
import { type Accumulator, HeldBytes, makeAccumulator } from '../execution/aggregate/accumulators.ts';
import { CellReader } from '../expression/compile/cell-values.ts';
import type { Slices } from '../scheduling/time-slices.ts';
import { defineOperation, type Operator, type OperatorContext } from '../template/operation.ts';
import type { Scope } from '../template/scope.ts';
import { META_PREFIX } from '../template/template.ts';
import {
  addDecimals,
  compareDecimals,
  Decimal,
  decimalFromNumber,
  negateDecimal,
  parseDecimal,
} from '../values/decimal.ts';
import { parseNumberText } from '../values/number-text.ts';

const amount = Type.Union([Type.Number(), Type.String({ minLength: 1 })]);

/** A number above or below the table in the file. */
const metaAmount = Type.Object(
  {
    meta: Type.String({ minLength: 1 }),
    decimal: Type.Optional(Type.Enum(['.', ','])),
    grouping: Type.Optional(Type.String({ minLength: 1, maxLength: 1 })),
  },
  { additionalProperties: false },
);

const check = Type.Object(
  {
    expr: Type.String({ minLength: 1, maxLength: 1000 }),
    equals: Type.Optional(Type.Union([amount, metaAmount])),
    between: Type.Optional(Type.Tuple([amount, amount])),
    tolerance: Type.Optional(amount),
    message: Type.Optional(Type.String({ minLength: 1, maxLength: 500 })),
  },
  { additionalProperties: false, oneOf: [{ required: ['equals'] }, { required: ['between'] }] },
);

type Check = Static<typeof check>;
type Name = 'sum' | 'count' | 'count_values' | 'min' | 'max' | 'mean';

interface Term {
  readonly name: Name;
  readonly column: Column | null;
  readonly negative: boolean;
}

interface PlannedCheck {
  readonly terms: readonly Term[];
  /** Bounds, relative to the value of `from` if there is one. */
  readonly low: Decimal;
  readonly high: Decimal;
  readonly from: Static<typeof metaAmount> | null;
  readonly message: string | null;
}

const ZERO = new Decimal(0, 0);
const TERM = /\s*([+-]?)\s*(sum|count|count_values|min|max|mean)\(\s*(?:`([^`]+)`|([\p{L}_][\p{L}\p{N}_]*))?\s*\)\s*/uy;

export const checkTotals = defineOperation({
  name: 'check_totals',
  purpose: 'ends the Run if a total of all rows is not as expected',
  summary:
    'Fails the Run (TEMPLATE_CHECK_FAILED) if a total of all rows is not as expected. The rows remain unchanged.',
  knownAs: [{ names: 'check_sum checksum verify_totals assert_total control_total', form: null }],
  parameters: Type.Object({
    checks: Type.Array(check, {
      minItems: 1,
      maxItems: 100,
      description:
        '`{expr, equals | between, tolerance, message}`. `expr` is `sum`, `min`, `max`, `mean` or `count_values` of a column of numbers, or `count()` of rows, or several of these with `+` and `-`, such as "sum(debit) - sum(credit)". `equals` is a number, or a value outside the table (`{meta: total, decimal: ",", grouping: "."}`, see `input.footer`); `tolerance` is the permitted difference. Or use `between: [least, most]`. Sums are exact.',
    }),
  }),
  cells: false,
  memory: 'E',
  examples: [
    {
      title: 'A balance and a number of rows',
      operation: {
        op: 'check_totals',
        checks: [
          { expr: 'sum(debit) - sum(credit)', equals: 0 },
          { expr: 'count()', between: [1, 1000] },
        ],
      },
      input: {
        columns: ['debit', 'credit'],
        types: ['decimal', 'decimal'],
        rows: [
          ['0.10', null],
          ['0.20', null],
          [null, '0.30'],
        ],
      },
      output: {
        columns: ['debit', 'credit'],
        rows: [
          ['0.10', null],
          ['0.20', null],
          [null, '0.30'],
        ],
      },
    },
  ],
  effect: ({ checks }, scope) => checks.flatMap((given, index) => planCheck(given, scope, `/checks/${index}`) ?? []),
  edits: () => [],
  start: (checks: readonly PlannedCheck[], context) => new Totals(checks, context),
});

function planCheck(given: Check, scope: Scope, pointer: string): PlannedCheck | null {
  const terms = readTerms(given.expr, scope, `${pointer}/expr`);
  const { equals = 0 } = given;
  const source = typeof equals === 'object' ? equals : null;
  if (source !== null && !scope.variables.has(META_PREFIX + source.meta)) {
    const message = 'No value of this name is declared in input.preamble or input.footer.';
    scope.problem(`${pointer}/equals/meta`, 'UNKNOWN_NAME', message);
    return null;
  }
  const middle = typeof equals === 'object' ? 0 : equals;
  const [least, most] = given.between ?? [middle, middle];
  const numbers = [least, most, given.tolerance ?? 0].map((text) => parseDecimal(String(text), true));
  const [low, high, tolerance] = numbers;
  if (!low || !high || !tolerance || compareDecimals(tolerance, ZERO) < 0 || compareDecimals(low, high) > 0) {
    scope.problem(pointer, 'BAD_VALUE', 'Write numbers such as 0, "12.50" or [1, 5], and a tolerance of 0 or more.');
    return null;
  }
  const [from, to] = [addDecimals(low, negateDecimal(tolerance)), addDecimals(high, tolerance)];
  if (terms === null || from === null || to === null) return null;
  return { terms, low: from, high: to, from: source, message: given.message ?? null };
}

function readTerms(source: string, scope: Scope, pointer: string): Term[] | null {
  const terms: Term[] = [];
  for (let at = 0; at < source.length; ) {
    const pattern = new RegExp(TERM);
    pattern.lastIndex = at;
    const match = pattern.exec(source);
    const [whole = '', sign = '', name = '', quoted, plain] = match ?? [];
    const columnName = quoted ?? plain;
    if (match === null || (at > 0 && sign === '') || (name === 'count') !== (columnName === undefined)) {
      scope.problem(
        pointer,
        'BAD_TOTAL',
        'Write totals such as "sum(amount)", "count()" or "sum(debit) - sum(credit)".',
      );
      return null;
    }
    const column = columnName === undefined ? null : scope.read(columnName, pointer);
    if (column === null && columnName !== undefined) return null;
    if (column !== null && name !== 'count_values' && !NUMBERS.includes(column.type)) {
      const message = `The column ${JSON.stringify(column.name)} is ${column.type} at this step; totals take numbers. Use parse_number or cast.`;
      scope.problem(pointer, 'WRONG_TYPE', message);
      return null;
    }
    terms.push({ name: name as Name, column, negative: sign === '-' });
    at += whole.length;
  }
  return terms;
}

const NUMBERS: readonly string[] = ['integer', 'decimal', 'number'];

class Totals implements Operator {
  readonly #context: OperatorContext;
  readonly #checks: readonly PlannedCheck[];
  readonly #terms: readonly (readonly { readonly reader: CellReader | null; readonly total: Accumulator }[])[];

  constructor(checks: readonly PlannedCheck[], context: OperatorContext) {
    this.#context = context;
    this.#checks = checks;
    const held = new HeldBytes(context.budget);
    this.#terms = checks.map(({ terms }) =>
      terms.map(({ name, column }) => {
        const total = makeAccumulator(name, column?.type ?? null, { separator: '', percent: 50, held });
        total.begin();
        return { reader: column && new CellReader(column.type, context.indexOf(column)), total };
      }),
    );
  }

  push(batch: Batch): Slices {
    for (const { reader, total } of this.#terms.flat()) {
      reader?.bind(batch);
      for (let position = 0; position < batch.live; position++) {
        total.add(reader === null ? true : reader.read(batch.physicalRow(position)));
      }
    }
    return this.#context.next(batch);
  }

  finish(): Iterable<void> {
    for (const [index, { terms, low, high, from, message }] of this.#checks.entries()) {
      const middle = this.#valueOf(from);
      const total = this.#terms[index]!.reduce<Decimal | null>((sum, { total }, at) => {
        const { name, negative } = terms[at]!;
        const value = asDecimal(total.end(), name);
        if (sum === null || value === null) return null;
        return addDecimals(sum, negative ? negateDecimal(value) : value);
      }, ZERO);
      const off = total === null || middle === null ? null : addDecimals(total, negateDecimal(middle));
      if (off !== null && compareDecimals(off, low) >= 0 && compareDecimals(off, high) <= 0) continue;
      this.#context.errors.failCheck(`Total ${index + 1}: TOTAL_MISMATCH.${message === null ? '' : ` ${message}`}`);
    }
    return [];
  }

  /** Returns null if the value is not a number. */
  #valueOf(from: PlannedCheck['from']): Decimal | null {
    if (from === null) return ZERO;
    const { meta, decimal = '.', grouping = '' } = from;
    return parseNumberText(this.#context.meta[meta] ?? '', { decimal, grouping });
  }
}

/** Returns null if there is no value: the minimum of no rows is not a number, but their sum is 0. */
function asDecimal(value: unknown, name: Name): Decimal | null {
  if (value instanceof Decimal) return value;
  if (typeof value === 'bigint') return new Decimal(value, 0);
  if (typeof value === 'number') return decimalFromNumber(value);
  return value === null && name === 'sum' ? ZERO : null;
}
