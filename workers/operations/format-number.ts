// The operation `format_number`: formats numbers as people write them.
import { type Static, Type } from '../bundled/type-box.ts';
import { editedIds, startCellOperator } from '../execution/cells/cell-operator.ts';
import { cellTargets, intoParameter } from '../execution/cells/cell-targets.ts';
import { type NumberWriting, writeNumbersEdits } from '../execution/cells/numbers.ts';
import { CellFault } from '../execution/cells/value-cells.ts';
import { columnSet } from '../template/base-parameters.ts';
import { defineOperation } from '../template/operation.ts';
import { Decimal, decimalFromNumber, decimalText, roundDecimal } from '../values/decimal.ts';

const parameters = Type.Object({
  columns: columnSet,
  decimal: Type.Optional(Type.String({ minLength: 1, maxLength: 1, default: '.', description: 'Decimal separator.' })),
  grouping: Type.Optional(
    Type.String({ maxLength: 1, default: '', description: 'Separator between groups of three digits.' }),
  ),
  scale: Type.Optional(
    Type.Integer({ minimum: 0, maximum: 100, description: 'Number of decimal places; by default unchanged.' }),
  ),
  rounding: Type.Optional(
    Type.Enum(['half_even', 'half_up', 'down', 'error'], {
      default: 'half_even',
      description: 'Rounding of further digits.',
    }),
  ),
  negative: Type.Optional(Type.Enum(['-x', 'x-', '(x)'], { default: '-x', description: 'Form of negative numbers.' })),
  prefix: Type.Optional(Type.String({ maxLength: 100, default: '', description: 'Text before the number.' })),
  suffix: Type.Optional(
    Type.String({ maxLength: 100, default: '', description: 'Text after the number, such as ` €`.' }),
  ),
  into: intoParameter,
});

export const formatNumber = defineOperation({
  name: 'format_number',
  purpose: 'formats numbers as texts',
  summary: 'Formats numbers as texts: decimal separator, groups, decimal places, sign.',
  knownAs: [
    {
      names: 'number_format numfmt fmtnum format format_currency to_currency',
      form: "columns: ..., decimal: ',', grouping: '.'",
    },
  ],
  parameters,
  cells: true,
  memory: 'R',
  examples: [
    {
      title: 'German format',
      operation: { op: 'format_number', columns: ['amount'], decimal: ',', grouping: '.', scale: 2, suffix: ' €' },
      input: { columns: ['amount'], types: ['decimal'], rows: [['1234567.5'], ['-999.995'], ['0'], [null]] },
      output: { columns: ['amount'], rows: [['1.234.567,50 €'], ['-1.000,00 €'], ['0,00 €'], [null]] },
    },
  ],
  effect(given, scope) {
    const takes = ['decimal', 'integer', 'number'] as const;
    return { targets: cellTargets(scope, { columns: given.columns, into: given.into, takes, makes: 'text' }), given };
  },
  edits: ({ targets }) => editedIds(targets),
  start({ targets, given }, context) {
    const write = (value: unknown): unknown => numberText(value, given);
    const edits = targets.map(writeNumbersEdits(context, writingOf(given), write));
    return startCellOperator(context, targets, edits);
  },
});

const AROUND_NEGATIVE = { '-x': ['-', ''], 'x-': ['', '-'], '(x)': ['(', ')'] } as const;

function writingOf(given: Static<typeof parameters>): NumberWriting {
  const { decimal = '.', grouping = '', scale = null, rounding = 'half_even', prefix = '', suffix = '' } = given;
  const negative = AROUND_NEGATIVE[given.negative ?? '-x'];
  return { scale, rounding, decimal, grouping, prefix, suffix, negative };
}

function numberText(value: unknown, given: Static<typeof parameters>): unknown {
  const {
    decimal = '.',
    grouping = '',
    scale,
    rounding = 'half_even',
    negative = '-x',
    prefix = '',
    suffix = '',
  } = given;
  const exact = exactOf(value);
  if (exact === null) return new CellFault('NOT_A_NUMBER');
  const rounded = scale === undefined ? exact : roundDecimal(exact, scale, rounding);
  if (rounded === null) return new CellFault('PRECISION_LOSS');
  const text = decimalText(rounded);
  const isNegative = text.startsWith('-');
  const [whole = '', fraction] = (isNegative ? text.slice(1) : text).split('.');
  const grouped = grouping === '' ? whole : groupedByThree(whole, grouping);
  const digits = prefix + (fraction === undefined ? grouped : `${grouped}${decimal}${fraction}`) + suffix;
  if (!isNegative) return digits;
  return negative === '-x' ? `-${digits}` : negative === 'x-' ? `${digits}-` : `(${digits})`;
}

function groupedByThree(whole: string, grouping: string): string {
  let grouped = whole.slice(0, whole.length % 3);
  for (let at = whole.length % 3; at < whole.length; at += 3) {
    grouped += (at === 0 ? '' : grouping) + whole.slice(at, at + 3);
  }
  return grouped;
}

function exactOf(value: unknown): Decimal | null {
  if (value instanceof Decimal) return value;
  if (typeof value === 'bigint') return new Decimal(value, 0);
  return decimalFromNumber(value as number);
}
