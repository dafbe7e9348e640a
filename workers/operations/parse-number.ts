// The operation `parse_number`: parses numbers as people write them into exact decimals, integers or doubles.

import { nativeNumber } from '../batch/native-cell.ts';
import { type Static, Type } from '../bundled/type-box.ts';
import { type CellTarget, editedIds, startCellOperator } from '../execution/cells/cell-operator.ts';
import { cellTargets, intoParameter } from '../execution/cells/cell-targets.ts';
import {
  ambiguousNumberText,
  finiteNumber,
  type NumberMarks,
  type NumberReading,
  numberEdits,
  numberKernel,
  readByFormats,
} from '../execution/cells/numbers.ts';
import { VotedCells } from '../execution/cells/read-cells.ts';
import { CellFault, convertEdit, type NativeReader } from '../execution/cells/value-cells.ts';
import { KIND_NUMBER } from '../kernel/layout/cells.ts';
import { columnSet } from '../template/base-parameters.ts';
import { defineOperation } from '../template/operation.ts';
import { namesFor } from '../template/operation-hint.ts';
import type { Scope } from '../template/scope.ts';
import { anyKey } from '../template/section-schemas.ts';
import { pointerSegment } from '../template/source-node.ts';
import { type Decimal, decimalToNumber, parseDecimal, roundDecimal } from '../values/decimal.ts';
import {
  contradictingStyles,
  NEGATIVE_STYLES,
  type NumberFormat,
  type NumberUnit,
  parseNumberText,
} from '../values/number-text.ts';

/** Parameters for the separators of digits. */
const marks = {
  decimal: Type.Optional(Type.String({ minLength: 1, maxLength: 1, default: '.', description: 'Decimal separator.' })),
  grouping: Type.Optional(
    Type.String({
      maxLength: 1,
      default: '',
      description:
        "Separator between groups of digits, only accepted at these positions. A space means any space, and `'` also the typographic apostrophe.",
    }),
  ),
  groups: Type.Optional(
    Type.Enum(['thousands', 'indian'], {
      default: 'thousands',
      description: 'Groups of three digits, or as in India three digits after groups of two: `12,34,567`.',
    }),
  ),
};

const parameters = Type.Object({
  columns: columnSet,
  ...marks,
  formats: Type.Optional(
    Type.Array(Type.Object(marks, { additionalProperties: false }), {
      minItems: 1,
      maxItems: 10,
      description:
        'Several number formats, instead of `decimal`, `grouping` and `groups`; the first one that matches the whole text is used.',
    }),
  ),
  ambiguous: Type.Optional(
    Type.Enum(['first', 'error', 'column_vote'], {
      description:
        'Required if two of `formats` can read one text as different numbers (`1,234`). `first`: the first format is used. `error`: such a text is AMBIGUOUS_NUMBER. `column_vote`: of such formats, only the one that reads the most cells of the column is used (of equal ones the first); this needs all rows before the first row of the output.',
    }),
  ),
  units: Type.Optional(
    Type.Record(anyKey, Type.Number({ exclusiveMinimum: 0 }), {
      minProperties: 1,
      maxProperties: 50,
      description: 'Texts after the number, and their factors: `{k: 1000, "Mio.": 1000000}`; case matters.',
    }),
  ),
  negative: Type.Optional(
    Type.Array(Type.Enum([...NEGATIVE_STYLES]), {
      minItems: 1,
      description:
        'Forms of negative numbers; by default `-x`. `▲x` also accepts `△`. `x CR`, `x DR`, `x C`, `x D`, `x S` and `x H` have a bookkeeping word after the number, `CR x` and so on before it. The other word of the pair (CR and DR, C and D, S and H) marks numbers that are not negative. Case is ignored, and a dot may follow the word.',
    }),
  ),
  strip: Type.Optional(
    Type.Array(Type.String({ minLength: 1 }), {
      description:
        'Texts that are removed at both ends, also next to the sign, such as `€` or `EUR`; never between digits.',
    }),
  ),
  percent: Type.Optional(
    Type.Boolean({
      default: false,
      description: 'Accepts `7,5 %` as 0.075, with any sign that `negative` allows: `(7,5 %)`, `7,5 %-`.',
    }),
  ),
  exponent: Type.Optional(Type.Boolean({ default: false, description: 'Accepts `1.5E3`.' })),
  type: Type.Optional(
    Type.Enum(['decimal', 'integer', 'number'], { default: 'decimal', description: 'The type of the result.' }),
  ),
  scale: Type.Optional(
    Type.Integer({ minimum: 0, maximum: 100, description: 'Number of decimal places; by default as written.' }),
  ),
  rounding: Type.Optional(
    Type.Enum(['half_even', 'half_up', 'down', 'error'], {
      default: 'error',
      description: 'Rounding of digits that `scale` or `type` do not keep; `error` is PRECISION_LOSS.',
    }),
  ),
  into: intoParameter,
});

export const parseNumber = defineOperation({
  name: 'parse_number',
  purpose:
    'parses texts as exact decimals, integers or doubles, with one or several formats; the whole text must match',
  summary: 'Parses texts as numbers. The whole text must be a number. Decimals are exact.',
  parametersKnownAs: {
    ...namesFor('Write decimal: ",".', 'decimal_separator', 'decimal_point', 'decimal_mark'),
    ...namesFor('Write grouping: ".".', 'thousands', 'thousands_separator', 'group_separator', 'grouping_separator'),
  },
  knownAs: [{ names: 'number to_number parse_int to_int to_float', form: 'columns: ..., decimal: ",", grouping: "."' }],
  parameters,
  cells: true,
  memory: ({ ambiguous }) => (ambiguous === 'column_vote' ? 'B' : 'R'),
  examples: [
    {
      title: 'Detect the decimal separator from the column',
      operation: {
        op: 'parse_number',
        columns: ['net', 'gross'],
        formats: [
          { decimal: '.', grouping: ',' },
          { decimal: ',', grouping: '.' },
        ],
        ambiguous: 'column_vote',
      },
      input: {
        columns: ['net', 'gross'],
        rows: [
          ['1.234', '1.234'],
          ['12,50', '12.50'],
          ['1.000,25', null],
        ],
      },
      output: {
        columns: ['net', 'gross'],
        rows: [
          ['1234', '1.234'],
          ['12.50', '12.50'],
          ['1000.25', null],
        ],
      },
    },
    {
      title: 'Indian groups, and units',
      operation: {
        op: 'parse_number',
        columns: 'n',
        grouping: ',',
        groups: 'indian',
        units: { k: 1000, lakh: 100000 },
      },
      input: { columns: ['n'], rows: [['12,34,567'], ['1.5k'], ['-2.25 lakh'], ['1,234,567']] },
      output: { columns: ['n'], rows: [['1234567'], ['1500'], ['-225000'], [null]] },
    },
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
      title: 'Debit and credit',
      operation: { op: 'parse_number', columns: 'amount', decimal: ',', grouping: '.', negative: ['-x', 'x S', '▲x'] },
      input: {
        columns: ['amount'],
        rows: [['1.234,50 S'], ['12,00 H'], ['7 s.'], ['-3'], ['▲1.000'], ['5 X'], ['-5 S']],
      },
      output: { columns: ['amount'], rows: [['-1234.50'], ['12.00'], ['-7'], ['-3'], ['-1000'], [null], [null]] },
    },
    {
      title: 'Integers in a new column',
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
    checkFormats(given, scope);
    checkNegative(given, scope);
    const units = unitsOf(given, scope);
    const makes = given.type ?? 'decimal';
    const targets = cellTargets(scope, { columns: given.columns, into: given.into, takes: ['text'], makes });
    return { targets, readings: readingsOf(given, units), ambiguous: given.ambiguous ?? 'first' };
  },
  edits: ({ targets }) => editedIds(targets),
  start({ targets, readings: planned, ambiguous }, context) {
    const readings = planned.map((one) => ({ ...one, format: { ...one.format, seen: new Map() } }));
    const reading = readings[0]!;
    const native = nativeReader(reading);
    if (ambiguous === 'column_vote' && readings.length > 1) {
      return new VotedCells<NumberReading>(context, targets, {
        patterns: readings,
        matches: (one, text) => parseNumberText(text, one.format) !== null,
        contradict: (one, other) => ambiguousNumberText(one.format, other.format) !== null,
        kernelOf: (one) => numberKernel(context, { ...one, scale: null }),
        edit: (target, elected) => numberEdits(context, elected[0]!, numberReader(elected, false), native)(target),
      });
    }
    const onlySure = ambiguous === 'error' && readings.length > 1;
    const read = numberReader(readings, onlySure);
    // A kernel parses with the first format only, and leaves the texts that do not match.
    const editOf = onlySure
      ? (target: CellTarget) => convertEdit(context, target, read, native)
      : numberEdits(context, reading, read, native);
    return startCellOperator(context, targets, targets.map(editOf));
  },
});

type Parameters = Static<typeof parameters>;

function checkFormats(given: Parameters, scope: Scope): void {
  const { formats, decimal = '.', grouping = '', groups = 'thousands', ambiguous } = given;
  if (formats === undefined) checkMarks({ decimal, grouping }, '', scope);
  // Parameters with their default value may be omitted.
  const beside = { decimal: decimal !== '.', grouping: grouping !== '', groups: groups !== 'thousands' };
  for (const [name, isSet] of Object.entries(formats === undefined ? {} : beside)) {
    if (isSet) scope.problem(`/${name}`, 'BAD_VALUE', `"${name}" is set in each of "formats". Leave it out here.`);
  }
  for (const [index, second] of (formats ?? []).entries()) {
    checkMarks(second, `/formats/${index}`, scope);
    if (ambiguous !== undefined) continue;
    for (const first of formats!.slice(0, index)) {
      const text = ambiguousNumberText(first, second);
      if (text === null) continue;
      const message = `Two formats read ${JSON.stringify(text)} as different numbers. Set "ambiguous" to "column_vote", "first" or "error".`;
      scope.problem(`/formats/${index}`, 'AMBIGUOUS_FORMATS', message);
    }
  }
}

function checkNegative({ negative = [] }: Parameters, scope: Scope): void {
  const both = contradictingStyles(negative);
  if (both === null) return;
  const message = `"${both[0]}" and "${both[1]}" contradict each other. Keep the one that marks numbers below zero.`;
  scope.problem('/negative', 'BAD_VALUE', message);
}

function checkMarks({ decimal = '.', grouping = '' }: NumberMarks, pointer: string, scope: Scope): void {
  for (const [name, mark] of Object.entries({ decimal, grouping })) {
    if (!/[0-9+-]/.test(mark)) continue;
    scope.problem(`${pointer}/${name}`, 'BAD_VALUE', 'A digit or a sign cannot be a mark. Write another character.');
  }
  if (decimal !== grouping) return;
  const message = 'The decimal mark and the grouping are the same. Set one of them to another character.';
  scope.problem(`${pointer}/grouping`, 'SAME_MARK', message);
}

/** Sorted by length, longest first, so that no unit removes only the end of a longer one. */
function unitsOf({ units = {} }: Parameters, scope: Scope): readonly NumberUnit[] {
  const found: NumberUnit[] = [];
  for (const [text, factor] of Object.entries(units)) {
    const pointer = `/units/${pointerSegment(text)}`;
    const exact = parseDecimal(String(factor), true);
    if (!/^[^0-9+-]*\p{L}[^0-9+-]*$/u.test(text) || text !== text.trim())
      scope.problem(
        ...([pointer, 'BAD_VALUE'] as const),
        'A unit needs a letter. It must not contain digits, + or -, or begin or end with a space.',
      );
    else if (exact === null) scope.problem(pointer, 'BAD_VALUE', 'Write a number such as 1000 or 0.01.');
    else found.push({ text, factor: exact });
  }
  return found.sort((a, b) => b.text.length - a.text.length);
}

/** Returns one reading for each format. */
function readingsOf(given: Parameters, units: readonly NumberUnit[]): readonly NumberReading[] {
  const { type = 'decimal', scale, rounding = 'error' } = given;
  return (given.formats ?? [given]).map(({ decimal = '.', grouping = '', groups = 'thousands' }) => {
    const format: NumberFormat = {
      decimal,
      grouping,
      groups,
      units,
      negative: given.negative ?? ['-x'],
      // Sorted by length, longest first, so that no text removes only the beginning of a longer one.
      strip: [...(given.strip ?? [])].sort((a, b) => b.length - a.length),
      percent: given.percent ?? false,
      exponent: given.exponent ?? false,
    };
    return { format, type, scale: type === 'integer' ? 0 : (scale ?? null), rounding, minusZero: false };
  });
}

/** @param readings readings that differ only in their formats */
function numberReader(readings: readonly NumberReading[], onlySure: boolean): (value: unknown) => unknown {
  const formats = readings.map(({ format }) => format);
  return (value) => {
    const number = readByFormats(value as string, formats, onlySure);
    return number instanceof CellFault ? number : result(number, readings[0]!);
  };
}

/** A cell with the native kind number is used as it is written. Cells with any other native kind are not numbers. */
function nativeReader(reading: NumberReading): NativeReader {
  return (text, kind) => {
    if (kind !== KIND_NUMBER) return new CellFault('NOT_A_NUMBER');
    const number = nativeNumber(text);
    return number === null ? new CellFault('OUT_OF_RANGE') : result(number, reading);
  };
}

function result(number: Decimal, { type, scale, rounding }: NumberReading): unknown {
  const rounded = scale === null ? number : roundDecimal(number, scale, rounding);
  if (rounded === null) return new CellFault('PRECISION_LOSS');
  if (type === 'number') return finiteNumber(decimalToNumber(rounded));
  return type === 'integer' ? rounded.digits : rounded;
}
