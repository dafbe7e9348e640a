// The schema of a Parquet file: turns the flat list of elements into a tree whose leaves are the stored columns.

import { Failed } from '../../protocol/failure.ts';
import { CELL_BYTES_MAX, COLUMNS_MAX, ROW_BYTES_MAX } from '../ceilings.ts';
import { SCHEMA_DEPTH_MAX, SCHEMA_ELEMENTS_MAX } from './limits.ts';
import { isTrue, type ThriftReader } from './thrift.ts';

export const REQUIRED = 0;
export const OPTIONAL = 1;
export const REPEATED = 2;

/** Numbers of physical types in parquet.thrift. */
export const BOOLEAN = 0;
export const INT32 = 1;
export const INT64 = 2;
export const INT96 = 3;
export const FLOAT = 4;
export const DOUBLE = 5;
export const BYTE_ARRAY = 6;
export const FIXED_LEN_BYTE_ARRAY = 7;

export type TimeUnit = 'millis' | 'micros' | 'nanos';

/** Meaning of the values of a column, from the logical type or the older converted type. */
export type Meaning =
  | { readonly is: 'plain' | 'text' | 'map' | 'list' | 'date' | 'json' | 'uuid' | 'float16' | 'interval' | 'null' }
  | { readonly is: 'decimal'; readonly scale: number }
  | { readonly is: 'time' | 'timestamp'; readonly unit: TimeUnit; readonly isUtc: boolean }
  | { readonly is: 'unsigned' };

/** An element of the schema. */
export interface SchemaNode {
  readonly name: string;
  readonly repetition: number;
  /** null for a group. */
  readonly physical: number | null;
  /** Length of a fixed-length value in bytes. */
  readonly typeLength: number;
  readonly meaning: Meaning;
  readonly children: readonly SchemaNode[];
  /** Definition level from which on the value exists; for a repeated node, from which on it has an element. */
  readonly definition: number;
  /** Repetition level at which another element begins. */
  readonly repetitionLevel: number;
  /** Range of its leaves: [first, end). */
  readonly leaves: readonly [first: number, end: number];
}

interface Element {
  name: string;
  repetition: number;
  physical: number | null;
  typeLength: number;
  children: number;
  scale: number;
  converted: number | null;
  logical: Meaning | null;
}

const PLAIN: Meaning = { is: 'plain' };

/** Indexed by the number of the converted type. */
const CONVERTED: readonly Meaning[] = [
  ...([{ is: 'text' }, { is: 'map' }, { is: 'map' }, { is: 'list' }, { is: 'text' }] as const),
  ...([PLAIN, { is: 'date' }] as const),
  ...(['millis', 'micros'] as const).map((unit): Meaning => ({ is: 'time', unit, isUtc: true })),
  ...(['millis', 'micros'] as const).map((unit): Meaning => ({ is: 'timestamp', unit, isUtc: true })),
  ...[0, 1, 2, 3].map((): Meaning => ({ is: 'unsigned' })),
  ...[PLAIN, PLAIN, PLAIN, PLAIN, { is: 'json' } as const, PLAIN, { is: 'interval' } as const],
];
const CONVERTED_DECIMAL = 5;

/** Keyed by the field of LogicalType, for types without parameters. */
const LOGICAL: ReadonlyMap<number, Meaning> = new Map<number, Meaning>([
  ...([
    [1, { is: 'text' }],
    [2, { is: 'map' }],
    [3, { is: 'list' }],
    [4, { is: 'text' }],
    [6, { is: 'date' }],
  ] as const),
  ...([
    [11, { is: 'null' }],
    [12, { is: 'json' }],
    [14, { is: 'uuid' }],
    [15, { is: 'float16' }],
  ] as const),
]);

const UNITS: readonly (TimeUnit | null)[] = [null, 'millis', 'micros', 'nanos'];

/** Returns the columns of the file, which are the children of the schema's root. Throws Failed. */
export function readSchema(thrift: ThriftReader): readonly SchemaNode[] {
  const elements: Element[] = [];
  let namesLength = 0;
  thrift.list(() => {
    if (elements.length === SCHEMA_ELEMENTS_MAX) throw tooWide();
    const element = readElement(thrift);
    namesLength += element.name.length;
    if (namesLength > ROW_BYTES_MAX) throw thrift.fail(`column names of more than ${ROW_BYTES_MAX} bytes`);
    elements.push(element);
  });
  const builder = new TreeBuilder(elements, thrift);
  const root = elements[0];
  if (root === undefined || root.physical !== null) throw thrift.fail('no root in its schema');
  const columns = builder.children(root.children, 0, 0, 0);
  if (!builder.isDone) throw thrift.fail('a schema with loose ends');
  if (columns.length === 0) throw new Failed('MALFORMED_FILE', 'The Parquet file has no columns.');
  if (columns.length > COLUMNS_MAX) throw tooWide();
  return columns;
}

class TreeBuilder {
  readonly #elements: readonly Element[];
  readonly #thrift: ThriftReader;
  #next = 1;
  #leaves = 0;

  constructor(elements: readonly Element[], thrift: ThriftReader) {
    this.#elements = elements;
    this.#thrift = thrift;
  }

  get isDone(): boolean {
    return this.#next === this.#elements.length;
  }

  children(count: number, definition: number, repetition: number, depth: number): SchemaNode[] {
    if (depth > SCHEMA_DEPTH_MAX) throw this.#thrift.fail('a schema nested too deep');
    if (count > this.#elements.length - this.#next) throw this.#thrift.fail('a schema that is cut off');
    return Array.from({ length: count }, () => this.#node(definition, repetition, depth));
  }

  #node(parentDefinition: number, parentRepetition: number, depth: number): SchemaNode {
    const element = this.#elements[this.#next++];
    if (element === undefined) throw this.#thrift.fail('a schema that is cut off');
    const { name, repetition, physical, typeLength } = element;
    const definition = parentDefinition + (repetition === REQUIRED ? 0 : 1);
    const repetitionLevel = parentRepetition + (repetition === REPEATED ? 1 : 0);
    const first = this.#leaves;
    if (physical !== null) this.#leaves++;
    else if (element.children < 1) throw this.#thrift.fail('a group without columns');
    const children = physical === null ? this.children(element.children, definition, repetitionLevel, depth + 1) : [];
    const leaves = [first, this.#leaves] as const;
    const meaning = meaningOf(element);
    return { name, repetition, physical, typeLength, meaning, children, definition, repetitionLevel, leaves };
  }
}

function meaningOf({ logical, converted, scale }: Element): Meaning {
  if (logical !== null) return logical;
  if (converted === CONVERTED_DECIMAL) return { is: 'decimal', scale };
  return CONVERTED[converted ?? -1] ?? PLAIN;
}

function readElement(thrift: ThriftReader): Element {
  const numbers = new Map<number, number>();
  let name = '';
  let logical: Meaning | null = null;
  thrift.struct((id) => {
    if (id === 4) name = thrift.text(CELL_BYTES_MAX);
    else if (id === 10) logical = readLogical(thrift);
    else if (id <= 8) numbers.set(id, thrift.integer());
    else return false;
    return true;
  });
  const physical = numbers.get(1) ?? null;
  const repetition = numbers.get(3) ?? REQUIRED;
  if (physical !== null && (physical < BOOLEAN || physical > FIXED_LEN_BYTE_ARRAY))
    throw thrift.fail('a column of an unknown type');
  if (repetition < REQUIRED || repetition > REPEATED) throw thrift.fail('an unknown repetition in its schema');
  return {
    name,
    repetition,
    physical,
    typeLength: numbers.get(2) ?? 0,
    children: numbers.get(5) ?? 0,
    converted: numbers.get(6) ?? null,
    scale: numbers.get(7) ?? 0,
    logical,
  };
}

function readLogical(thrift: ThriftReader): Meaning | null {
  let meaning: Meaning | null = null;
  thrift.struct((id) => {
    if (id === 5) meaning = { is: 'decimal', scale: readInteger(thrift, 1) };
    else if (id === 7 || id === 8) meaning = readTime(thrift, id === 7 ? 'time' : 'timestamp');
    else if (id === 10) meaning = readIsSigned(thrift) ? PLAIN : { is: 'unsigned' };
    else {
      meaning = LOGICAL.get(id) ?? null;
      return false;
    }
    return true;
  });
  return meaning;
}

function readInteger(thrift: ThriftReader, wanted: number): number {
  let value = 0;
  thrift.struct((id) => {
    if (id !== wanted) return false;
    value = thrift.integer();
    return true;
  });
  return value;
}

function readTime(thrift: ThriftReader, is: 'time' | 'timestamp'): Meaning {
  let isUtc = false;
  let unitId = 0;
  thrift.struct((id, type) => {
    if (id === 1) isUtc = isTrue(type);
    if (id !== 2) return false;
    thrift.struct((field) => {
      unitId = field;
      return false;
    });
    return true;
  });
  const unit = UNITS[unitId] ?? null;
  if (unit === null) throw thrift.fail('a time without a unit');
  return { is, unit, isUtc };
}

function readIsSigned(thrift: ThriftReader): boolean {
  let isSigned = true;
  thrift.struct((id, type) => {
    if (id === 2) isSigned = isTrue(type);
    return false;
  });
  return isSigned;
}

function tooWide(): Failed {
  return new Failed('MALFORMED_FILE', `The Parquet file has more than ${COLUMNS_MAX} columns.`);
}
