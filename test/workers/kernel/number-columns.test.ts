// Kernels between columns and vectors of numbers or dates (number-vectors.ts), against references in plain JavaScript.
import { deepStrictEqual, equal } from 'node:assert/strict';
import { META_BIG, META_NULL } from '../../../workers/kernel/layout/cells.ts';
import {
  AND,
  DATE_DAY,
  DATE_MONTH,
  DATE_WEEKDAY,
  DATE_YEAR,
  DECIMAL,
  DOUBLE,
  FALSE,
  INTEGER,
  NULL,
  OR,
  SET,
  TRUE,
  UNKNOWN,
} from '../../../workers/kernel/layout/expressions.ts';
import { fc } from '../../random.ts';
import { checkKernel, columnOf, type KernelRig, rowOf, type ShownText } from './kernel-rig.ts';
import { type Computed, expectNumbers, fillVector, numbersOfForms } from './number-cells.ts';
import { isSettled } from './scalar/states.ts';

const FORMS = [DOUBLE, INTEGER, DECIMAL];
const states = fc.constantFrom(FALSE, TRUE, NULL, UNKNOWN);

const numberTexts = fc.oneof(
  fc.constantFrom('', '-', '.', '-0', '5.', '.5', '1.2.3', '+1', '1e3', ' 1', '123456789012345', '1234567890123456'),
  fc.constantFrom('0000000000000001', '0.00000000000001', '-9.99', '１', '1-', '--1'),
  fc.stringMatching(/^-?[0-9]{1,9}(\.[0-9]{0,8})?$/),
);

function parsed(value: ShownText, form: number): Computed {
  if (typeof value !== 'string') return value === null ? NULL : UNKNOWN;
  const match = /^(-?)([0-9]*)(?:(\.)([0-9]*))?$/.exec(value);
  const [, sign, whole = '', point, fraction = ''] = match ?? [];
  const digits = whole + fraction;
  if (match === null || digits.length === 0 || digits.length > 15) return UNKNOWN;
  if (form === INTEGER) return point === undefined ? { value: Number(value) + 0, scale: 0 } : UNKNOWN;
  if (form === DOUBLE) return { value: Number(value), scale: 0 };
  return { value: sign === '-' ? -BigInt(digits) : BigInt(digits), scale: fraction.length };
}

checkKernel(
  'parseNumbers: numbers of up to 15 digits, and unknown for other texts',
  fc.tuple(
    columnOf(fc.tuple(fc.oneof({ weight: 9, arbitrary: numberTexts }, fc.constantFrom(null, undefined)), states)),
    fc.constantFrom(...FORMS),
    fc.constantFrom(SET, AND, OR),
  ),
  (rig, [cells, form, mode], before) => {
    const count = cells.length;
    const views = rig.texts(
      cells.map(([value]) => value),
      before,
    );
    const at = rig.byteList(
      cells.map(([, state]) => state),
      before,
    );
    const made = rig.numberVector(count, before);
    rig.exports.parseNumbers(views, rig.rows(count), count, form, made.at, at, mode);
    expectNumbers(
      rig,
      made,
      form,
      cells.map(([value, state]) => (isSettled(state, mode) ? UNKNOWN : parsed(value, form))),
    );
  },
);

const longs = fc.oneof(
  fc.constantFrom(0n, 1n, -1n, 2n ** 53n - 1n, 2n ** 53n, 2n ** 53n + 1n, 1n - 2n ** 53n, -(2n ** 53n), -(2n ** 63n)),
  fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
);
const metas = fc.constantFrom(0, 0, 2, 18, 253, META_BIG, META_NULL);

/** Cells of a typed column by physical row. The rows between them are not in the list. */
function placeColumn(rig: KernelRig, cells: readonly (readonly [bigint, number])[], before: number): [number, number] {
  const at = rig.region(cells.length * 16, before);
  const meta = rig.region(cells.length * 2, before);
  for (const [position, [bits, mark]] of cells.entries()) {
    rig.setLong(at + rowOf(position) * 8, bits);
    rig.bytes[meta + rowOf(position)] = mark;
  }
  return [at, meta];
}

function loaded([bits, meta]: readonly [bigint, number], form: number): Computed {
  if (meta === META_NULL) return NULL;
  if (form === DECIMAL) return meta === META_BIG ? UNKNOWN : { value: bits, scale: meta };
  if (form === DOUBLE) return { value: Buffer.from(BigInt64Array.of(bits).buffer).readDoubleLE(), scale: 0 };
  const isSafe = Number.isSafeInteger(Number(bits));
  return isSafe ? { value: Number(bits), scale: 0 } : UNKNOWN;
}

checkKernel(
  'loadNumbers: typed columns, and unknown for numbers that are not exact',
  fc.tuple(columnOf(fc.tuple(longs, metas)), fc.constantFrom(...FORMS)),
  (rig, [given, form], before) => {
    // Only decimals have a scale or can be too large.
    const cells = given.map(([bits, meta]): [bigint, number] => [
      bits,
      form === DECIMAL || meta === META_NULL ? meta : 0,
    ]);
    const [at, meta] = placeColumn(rig, cells, before);
    const made = rig.numberVector(cells.length, before);
    rig.exports.loadNumbers(at, meta, rig.rows(cells.length), cells.length, form, made.at);
    expectNumbers(
      rig,
      made,
      form,
      cells.map((cell) => loaded(cell, form)),
    );
  },
);

checkKernel(
  'storeNumbers: vectors to typed columns, and the rows that are unknown',
  fc.tuple(numbersOfForms(FORMS), fc.boolean()),
  (rig, [{ form, cells }, isConstant], before) => {
    const count = cells.length;
    const wanted = isConstant ? cells.map(() => cells[0]!) : cells;
    const vector = fillVector(rig, cells, form, before, isConstant ? 0 : 8);
    const [at, meta] = placeColumn(
      rig,
      cells.map(() => [77n, 99]),
      before,
    );
    const old = rig.byteValues(at, count * 16);
    const todo = rig.region((count + 1) * 4, 16);
    const filled = rig.exports.storeNumbers(vector.at, rig.rows(count), count, form, at, meta, todo) >>> 0;
    equal(filled, wanted.filter(({ mark }) => mark === 0).length);
    const left = wanted.flatMap(({ mark }, position) => (mark === UNKNOWN ? [rowOf(position)] : []));
    deepStrictEqual(rig.wordValues(todo, left.length + 1), [left.length, ...left]);
    for (const [position, { mark, value, scale }] of wanted.entries()) {
      const row = rowOf(position);
      const place = at + row * 8;
      const kind = mark === UNKNOWN ? 99 : mark === NULL ? META_NULL : form === DECIMAL ? scale : 0;
      equal(rig.bytes[meta + row], kind);
      if (mark !== 0) equal(rig.long(place), 77n);
      else if (form === DOUBLE) deepStrictEqual(rig.double(place), value);
      else equal(rig.long(place), BigInt(value));
      // The row before is not in the list.
      deepStrictEqual(rig.byteValues(place - 8, 8), old.slice((row - 1) * 8, row * 8));
      equal(rig.bytes[meta + row - 1], 0xa5);
    }
  },
);

const DAY_MS = 86_400_000;
const DAY_MIN = -719_162;
const DAY_MAX = 2_932_896;
const days = fc.oneof(
  fc.constantFrom(DAY_MIN, DAY_MIN + 1, -25_508, -1, 0, 1, 59, 11_016, 11_017, 19_782, DAY_MAX),
  fc.integer({ min: DAY_MIN, max: DAY_MAX }),
);
const dateText = (day: number): string => new Date(day * DAY_MS).toISOString().slice(0, 10);

const dateTexts = fc.oneof(
  { weight: 4, arbitrary: days.map(dateText) },
  fc.constantFrom('', '2024-02-30', '2023-02-29', '1900-02-29', '2000-02-29', '0000-01-01', '2024-13-01', '2024-00-10'),
  fc.constantFrom(
    '2024-01-00',
    '2024-01-32',
    '2024/01/01',
    '2024-1-001',
    '2024-01-0x',
    '2024-01-01T',
    ' 2024-01-0',
    '２-01-01',
  ),
  fc.constantFrom(null, undefined),
);

function dayOf(value: ShownText): Computed {
  if (typeof value !== 'string') return value === null ? NULL : UNKNOWN;
  const time = /^\d{4}-\d\d-\d\d$/.test(value) ? Date.parse(`${value}T00:00:00Z`) : Number.NaN;
  const day = time / DAY_MS;
  // Date.parse may accept the 30th of February as a day of March.
  return day >= DAY_MIN && dateText(day) === value ? { value: day, scale: 0 } : UNKNOWN;
}

checkKernel('parseDays: dates of ISO 8601, and unknown for other texts', columnOf(dateTexts), (rig, values, before) => {
  const views = rig.texts(values, before);
  const made = rig.numberVector(values.length, before);
  rig.exports.parseDays(views, rig.rows(values.length), values.length, made.at);
  expectNumbers(rig, made, INTEGER, values.map(dayOf));
});

/** A vector of day numbers. */
function placeDays(rig: KernelRig, cells: readonly (readonly [number, number])[], before: number): number {
  const numbers = cells.map(([mark, day]) => ({ mark, value: day, scale: 0 }));
  return fillVector(rig, numbers, INTEGER, before).at;
}

const dayCells = columnOf(fc.tuple(fc.constantFrom(0, 0, 0, 0, NULL, UNKNOWN), days));

const PARTS: Readonly<Record<number, (date: Date) => number>> = {
  [DATE_YEAR]: (date) => date.getUTCFullYear(),
  [DATE_MONTH]: (date) => date.getUTCMonth() + 1,
  [DATE_DAY]: (date) => date.getUTCDate(),
  [DATE_WEEKDAY]: (date) => date.getUTCDay() || 7,
};

checkKernel(
  'dateParts: year, month, day and weekday',
  fc.tuple(dayCells, fc.constantFrom(DATE_YEAR, DATE_MONTH, DATE_DAY, DATE_WEEKDAY)),
  (rig, [cells, part], before) => {
    const made = rig.numberVector(cells.length, before);
    rig.exports.dateParts(placeDays(rig, cells, before), part, made.at, cells.length);
    expectNumbers(
      rig,
      made,
      INTEGER,
      cells.map(([mark, day]) => (mark === 0 ? { value: PARTS[part]!(new Date(day * DAY_MS)), scale: 0 } : mark)),
    );
  },
);

/** Space that writeVector requires before each text, in bytes. */
const NUMBER_BYTES_MAX = 288;

checkKernel('writeVector: dates as texts', dayCells, (rig, cells, before) => {
  const texts = cells.map(([mark, day]) => (mark === 0 ? dateText(day) : mark === NULL ? null : undefined));
  const bytes = texts.filter((value) => typeof value === 'string').length * 10;
  const vector = placeDays(rig, cells, before);
  const made = rig.region(cells.length * 8, before);
  const free = bytes + NUMBER_BYTES_MAX;
  const next = rig.region(free, before);
  equal(rig.exports.writeVector(INTEGER, 1, vector, cells.length, made, next, next + free) >>> 0, next + bytes);
  deepStrictEqual(rig.vectorTexts(made, cells.length), texts);
});
