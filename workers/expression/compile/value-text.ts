// Owns how values become texts and JSON, and JSON becomes values: what a cell of a computed column holds.
import { CalendarDate, dateText } from '../../values/calendar.ts';
import { Decimal, decimalText } from '../../values/decimal.ts';
import { JSON_DEPTH_MAX } from '../../values/json-parts.ts';
import { Duration, durationText, Timestamp, timestampText } from '../../values/timestamp.ts';
import { checkLength } from '../syntax/text-point.ts';
import { BAD_ARGUMENT } from './evaluation-error.ts';
import { MapValue, OptionalValue, TypeValue, Uint, type Value } from './value.ts';

/** The text of a value as a CSV cell shows it; null is the empty text, lists and maps are JSON. Takes both forms of ints. */
export function valueText(value: Value): string {
  if (value === null) return '';
  if (typeof value === 'string') return value;
  if (typeof value === 'boolean' || typeof value === 'bigint' || typeof value === 'number') return String(value);
  if (value instanceof Uint) return String(value.value);
  if (value instanceof Decimal) return decimalText(value);
  if (value instanceof CalendarDate) return dateText(value.days);
  if (value instanceof Timestamp) return timestampText(value);
  if (value instanceof Duration) return durationText(value);
  if (value instanceof TypeValue) return value.name;
  if (value instanceof Uint8Array) return Buffer.from(value).toString('base64');
  if (value instanceof OptionalValue) return valueText(value.value);
  return jsonText(value);
}

/** JSON of a value: numbers of every type as numbers, what JSON has no form for as text, NaN and infinities as null. */
export function jsonText(value: Value): string {
  const writer = new JsonWriter();
  writer.write(value, 0);
  return writer.pieces.join('');
}

/** The value of parsed JSON: numbers are doubles, objects are maps. Undefined when it is nested too deep. */
export function valueOfJson(json: unknown, depth = 0): Value | undefined {
  if (json === null || typeof json === 'boolean' || typeof json === 'string' || typeof json === 'number') return json;
  if (typeof json !== 'object' || depth >= JSON_DEPTH_MAX) return undefined;
  if (Array.isArray(json)) {
    const list: Value[] = [];
    for (const element of json) {
      const value = valueOfJson(element, depth + 1);
      if (value === undefined) return undefined;
      list.push(value);
    }
    return list;
  }
  const map = new MapValue();
  for (const [key, member] of Object.entries(json)) {
    const value = valueOfJson(member, depth + 1);
    if (value === undefined) return undefined;
    map.add(key, value);
  }
  return map;
}

/** Writes within the limit of a text: shared parts of a value can make its JSON far larger than the value. */
class JsonWriter {
  readonly pieces: string[] = [];
  #length = 0;

  write(value: Value, depth: number): void {
    if (depth > JSON_DEPTH_MAX) throw BAD_ARGUMENT;
    if (Array.isArray(value)) {
      this.#append('[');
      for (const [index, element] of value.entries()) {
        if (index > 0) this.#append(',');
        this.write(element, depth + 1);
      }
      this.#append(']');
    } else if (value instanceof MapValue) {
      this.#append('{');
      let first = true;
      for (const entry of value.entries()) {
        if (!first) this.#append(',');
        first = false;
        this.#append(`${JSON.stringify(valueText(entry.key))}:`);
        this.write(entry.value, depth + 1);
      }
      this.#append('}');
    } else if (value instanceof OptionalValue) this.write(value.value, depth + 1);
    else this.#append(scalarJson(value));
  }

  #append(piece: string): void {
    this.#length += piece.length;
    checkLength(this.#length);
    this.pieces.push(piece);
  }
}

function scalarJson(value: Value): string {
  if (value === null) return 'null';
  if (typeof value === 'number' && !Number.isFinite(value)) return 'null';
  const text = valueText(value);
  const plain =
    typeof value === 'boolean' ||
    typeof value === 'number' ||
    typeof value === 'bigint' ||
    value instanceof Uint ||
    value instanceof Decimal;
  return plain ? text : JSON.stringify(text);
}
