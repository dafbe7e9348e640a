// The operation `parse_number`: texts as people write numbers become exact decimals, integers or numbers.
import { type Static, Type } from '../bundled/type-box.ts';
import { decimalToNumber, roundDecimal } from '../values/decimal.ts';
import { type NumberFormat, parseNumberText } from '../values/number-text.ts';
import { editedIds, startCellOperator } from './cells/cell-operator.ts';
import { cellTargets, intoParameter } from './cells/cell-targets.ts';
import { finiteNumber, type NumberReading, numberEdit } from './cells/number-cells.ts';
import { CellFault } from './cells/value-cells.ts';
import { columnSet } from './column-set.ts';
import { defineOperation } from './operation.ts';

const parameters = Type.Object({
  columns: columnSet,
  decimal: Type.Optional(Type.String({ minLength: 1, maxLength: 1, default: '.', description: 'The decimal mark.' })),
  grouping: Type.Optional(
    Type.String({
      maxLength: 1,
      default: '',
      description: 'What stands between groups of three digits; it is only taken in these places. A space means any.',
    }),
  ),
  negative: Type.Optional(
    Type.Array(Type.Enum(['-x', 'x-', '(x)', 'x CR']), {
      minItems: 1,
      description: 'Ways to write numbers below zero; `-x` unless set.',
    }),
  ),
  strip: Type.Optional(
    Type.Array(Type.String({ minLength: 1 }), { description: 'Texts left out, such as `€` or `EUR`.' }),
  ),
  percent: Type.Optional(Type.Boolean({ default: false, description: 'Takes `7,5 %` as 0.075.' })),
  exponent: Type.Optional(Type.Boolean({ default: false, description: 'Takes `1.5E3`.' })),
  type: Type.Optional(
    Type.Enum(['decimal', 'integer', 'number'], { default: 'decimal', description: 'The type of the result.' }),
  ),
  scale: Type.Optional(
    Type.Integer({ minimum: 0, maximum: 100, description: 'Digits behind the point; as written unless set.' }),
  ),
  rounding: Type.Optional(
    Type.Enum(['half_even', 'half_up', 'down', 'error'], {
      default: 'error',
      description: 'What becomes of digits that `scale` or `type` leave out; `error` is PRECISION_LOSS.',
    }),
  ),
  into: intoParameter,
});

export const parseNumber = defineOperation({
  name: 'parse_number',
  summary: 'Reads texts as numbers; the whole text must be one. Money stays exact.',
  parameters,
  cells: true,
  memory: 'R',
  examples: [
    {
      title: 'Amounts of a German bank',
      operation: {
        op: 'parse_number',
        columns: ['amount'],
        decimal: ',',
        grouping: '.',
        strip: ['€'],
        negative: ['-x', 'x-'],
      },
      input: { columns: ['amount'], rows: [['1.234,50 €'], ['12,00-'], ['-0,00'], [null], ['1.23,4']] },
      output: { columns: ['amount'], rows: [['1234.50'], ['-12.00'], ['0.00'], [null], [null]] },
    },
    {
      title: 'Whole numbers beside the text',
      operation: { op: 'parse_number', columns: 'n', type: 'integer', into: 'count' },
      input: { columns: ['n'], rows: [['007'], ['12.00'], ['1.5'], ['1e3']] },
      output: {
        columns: ['n', 'count'],
        rows: [
          ['007', '7'],
          ['12.00', '12'],
          ['1.5', null],
          ['1e3', null],
        ],
      },
    },
  ],
  effect(given, scope) {
    const { decimal = '.', grouping = '', type = 'decimal' } = given;
    for (const [name, mark] of Object.entries({ decimal, grouping })) {
      if (!/[0-9+-]/.test(mark)) continue;
      scope.problem(`/${name}`, 'BAD_VALUE', 'A digit or a sign cannot be a mark. Write another character.');
    }
    if (decimal === grouping)
      scope.problem(
        '/grouping',
        'SAME_MARK',
        'The decimal mark and the grouping are the same. Set one of them to another character.',
      );
    const targets = cellTargets(scope, { columns: given.columns, into: given.into, takes: ['text'], makes: type });
    return { targets, given };
  },
  edits: ({ targets }) => editedIds(targets),
  start({ targets, given }, context) {
    const reading = readingOf(given);
    const read = numberReader(reading);
    const edits = targets.map((target) => numberEdit(context, target, reading, read));
    return startCellOperator(context, targets, edits);
  },
});

function readingOf(given: Static<typeof parameters>): NumberReading {
  const { type = 'decimal', scale, rounding = 'error' } = given;
  const format: NumberFormat = {
    decimal: given.decimal ?? '.',
    grouping: given.grouping ?? '',
    negative: given.negative ?? ['-x'],
    strip: given.strip ?? [],
    percent: given.percent ?? false,
    exponent: given.exponent ?? false,
  };
  return { format, type, scale: type === 'integer' ? 0 : (scale ?? null), rounding, minusZero: false };
}

function numberReader({ format, type, scale, rounding }: NumberReading): (value: unknown) => unknown {
  return (value) => {
    const parsed = parseNumberText(value as string, format);
    if (parsed === null) return new CellFault('NOT_A_NUMBER');
    const rounded = scale === null ? parsed : roundDecimal(parsed, scale, rounding);
    if (rounded === null) return new CellFault('PRECISION_LOSS');
    if (type === 'number') return finiteNumber(decimalToNumber(rounded));
    return type === 'integer' ? rounded.digits : rounded;
  };
}
