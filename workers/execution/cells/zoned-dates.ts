// Instants and days by the clock of a zone: a kernel reads the texts as if their clock were that of UTC, and each moment is then
// moved. Cells that the kernel leaves are read by the same patterns and moved with the others.
import { META_NULL } from '../../kernel/layout/cells.ts';
import type { OperatorContext } from '../../operations/operation.ts';
import { instantOfLocal } from '../../values/time-zone.ts';
import { timestampOf } from '../../values/timestamp.ts';
import type { CellEdit, CellTarget, CellWork } from './cell-operator.ts';
import { hasKernel, readDatesEdit } from './date-cells.ts';
import { type DateReading, dateReader, dayInZone, nativeDateReader } from './date-reading.ts';
import { convertEdit } from './value-cells.ts';

const TWO_32 = 2 ** 32;
const MICROS_PER_SECOND = 1_000_000;
const MICROS = BigInt(MICROS_PER_SECOND);

/** High words of microseconds that a double holds exactly: 53 bits and the sign. */
const EXACT_HIGH_MAX = 2 ** 21;

/** Null where no kernel can begin, or where a text may say its offset beside others that have the zone's. */
export function zonedDatesEdit(context: OperatorContext, target: CellTarget, reading: DateReading): CellEdit | null {
  const { patterns, zone, onlySure, epoch, excelSerial } = reading;
  const saysOffset = patterns.some(({ parts }) => parts.some(({ letter }) => /[XZz]/.test(letter)));
  const countsToo = epoch !== null || excelSerial !== null || target.source?.hasKinds === true;
  if (onlySure || countsToo || (zone !== null && saysOffset) || !hasKernel(patterns[0])) return null;
  const local: DateReading = { ...reading, type: 'datetime', zone: null, toZone: null };
  const inUtc = { ...target, target: { ...target.target, type: 'datetime' as const } };
  const readLocal = readDatesEdit(context, inUtc, patterns, true, dateReader(local), nativeDateReader(local));
  const bySingle = convertEdit(context, target, dateReader(reading), nativeDateReader(reading));
  const move = mover(reading);
  return (work) => {
    if (work.batch.columns[work.column]!.kind === 'typed') return bySingle(work);
    let filled = 0;
    const changed = (count: number): void => {
      filled += count;
    };
    const made = readLocal({ ...work, changed });
    if (made === null) return null;
    if (!('kind' in made) || made.kind !== 'typed') throw new Error('moments are read at once into a typed column');
    filled -= moveAll(work, { ...made, type: reading.type }, move);
    work.changed(filled);
    return reading.type === 'date' ? { ...made, type: 'date' } : made;
  };
}

/** What becomes of seconds by a clock: a day, or the seconds of an instant; or why there is none. */
type Move = (seconds: number) => number | 'DATE_IN_DST_GAP' | 'OUT_OF_RANGE';

function mover({ type, zone, toZone, shiftsGaps }: DateReading): Move {
  return (localSeconds) => {
    let seconds = localSeconds;
    if (zone !== null) {
      const instant = instantOfLocal(zone, localSeconds);
      if (instant.kind === 'gap' && !shiftsGaps) return 'DATE_IN_DST_GAP';
      seconds = instant.seconds;
    }
    if (type === 'date') return dayInZone(seconds, toZone!) ?? 'OUT_OF_RANGE';
    return timestampOf(seconds, 0) === null ? 'OUT_OF_RANGE' : seconds;
  };
}

/** Moves the cells of a row list in place; gives how many have no value then. */
function moveAll(
  { batch, rows, count, fail }: CellWork,
  { at, meta, type }: { readonly at: number; readonly meta: number; readonly type: 'date' | 'datetime' },
  move: Move,
): number {
  const { u8, u32, i64 } = batch.heap;
  let failed = 0;
  for (let i = 0; i < count; i++) {
    const row = u32[(rows >>> 2) + i]!;
    if (u8[meta + row] === META_NULL) continue;
    const word = (at >>> 2) + row * 2;
    const high = u32[word + 1]! | 0;
    const isExact = high > -EXACT_HIGH_MAX && high < EXACT_HIGH_MAX;
    const micros = isExact ? high * TWO_32 + u32[word]! : i64[(at >>> 3) + row]!;
    const seconds = secondsOf(micros);
    const made = move(seconds);
    if (typeof made === 'string') {
      fail(row, made);
      u8[meta + row] = META_NULL;
      failed++;
      continue;
    }
    const value = type === 'date' ? made : made * MICROS_PER_SECOND;
    const rest = type === 'date' || !isExact ? 0 : Number(micros) - seconds * MICROS_PER_SECOND;
    if (isExact && Number.isSafeInteger(value)) {
      u32[word + 1] = Math.floor((value + rest) / TWO_32);
      u32[word] = value + rest - Math.floor((value + rest) / TWO_32) * TWO_32;
    } else i64[(at >>> 3) + row] = type === 'date' ? BigInt(made) : BigInt(micros) + BigInt(made - seconds) * MICROS;
  }
  return failed;
}

function secondsOf(micros: number | bigint): number {
  if (typeof micros === 'number') return Math.floor(micros / MICROS_PER_SECOND);
  const whole = micros / MICROS;
  return Number(micros < 0n && micros % MICROS !== 0n ? whole - 1n : whole);
}
