// The header of one page, and how it is read from the file: nobody says how long it is.
import type { WholeSource } from '../source/source.ts';
import { PAGE_HEADER_BYTES, PAGE_HEADER_BYTES_MAX } from './limits.ts';
import { malformedParquet } from './malformed-parquet.ts';
import { isTrue, ThriftCut, ThriftReader } from './thrift.ts';

export type PageKind = 'data' | 'data_v2' | 'dictionary' | 'other';

export interface PageHeader {
  readonly kind: PageKind;
  /** Bytes of the page behind the header, as they are inflated and as they stand. */
  readonly bytes: number;
  readonly storedBytes: number;
  /** Values with nulls. */
  readonly values: number;
  readonly encoding: number;
  /** Bytes of the levels before the values, in pages of version 2. */
  readonly definitionBytes: number;
  readonly repetitionBytes: number;
  /** Of the values in pages of version 2; the codec may be set and not used. */
  readonly isCompressed: boolean;
  /** Encoding of the levels in pages of version 1. */
  readonly levelEncodings: readonly [definition: number, repetition: number];
  /** Of the header itself. */
  readonly headerBytes: number;
}

const KINDS: readonly PageKind[] = ['data', 'other', 'dictionary', 'data_v2'];

/** Reads the header at `position`; it ends before `end`. Throws Failed. */
export function readPageHeader(source: WholeSource, position: number, end: number): PageHeader {
  for (let size = PAGE_HEADER_BYTES; ; size *= 64) {
    const bytes = new Uint8Array(Math.min(size, PAGE_HEADER_BYTES_MAX, end - position));
    source.readAt(bytes, position);
    const thrift = new ThriftReader(bytes, 0, bytes.length, position);
    try {
      return checked(readHeader(thrift), thrift);
    } catch (error) {
      if (!(error instanceof ThriftCut)) throw error;
      if (bytes.length < size) throw malformedParquet('a page header that is cut off', position);
    }
  }
}

interface Fields {
  numbers: Map<number, number>;
  page: Map<number, number>;
  isCompressed: boolean;
}

function readHeader(thrift: ThriftReader): Fields {
  const fields: Fields = { numbers: new Map(), page: new Map(), isCompressed: true };
  thrift.struct((id) => {
    if (id <= 3) {
      fields.numbers.set(id, thrift.integer());
      return true;
    }
    if (id !== 5 && id !== 7 && id !== 8) return false;
    fields.page.clear();
    thrift.struct((pageId, type) => readPageField(thrift, fields, id === 8, pageId, type));
    return true;
  });
  return fields;
}

function readPageField(thrift: ThriftReader, fields: Fields, isV2: boolean, id: number, type: number): boolean {
  if (isV2 && id === 7) fields.isCompressed = isTrue(type);
  // Of a dictionary the third says whether it is sorted, in its type alone.
  if (id > (isV2 ? 6 : 4) || (type <= 2 && id >= 3)) return false;
  fields.page.set(id, thrift.integer());
  return true;
}

function checked({ numbers, page, isCompressed }: Fields, thrift: ThriftReader): PageHeader {
  const kind = KINDS[numbers.get(1) ?? -1] ?? 'other';
  const isV2 = kind === 'data_v2';
  const header: PageHeader = {
    kind,
    bytes: numbers.get(2) ?? -1,
    storedBytes: numbers.get(3) ?? -1,
    values: kind === 'other' ? 0 : (page.get(1) ?? -1),
    encoding: page.get(isV2 ? 4 : 2) ?? -1,
    definitionBytes: isV2 ? (page.get(5) ?? -1) : 0,
    repetitionBytes: isV2 ? (page.get(6) ?? -1) : 0,
    isCompressed,
    levelEncodings: [page.get(3) ?? -1, page.get(4) ?? -1],
    headerBytes: thrift.at,
  };
  const { bytes, storedBytes, values, definitionBytes, repetitionBytes } = header;
  const levelBytes = definitionBytes + repetitionBytes;
  const isSound =
    [bytes, storedBytes, values, definitionBytes, repetitionBytes].every((one) => one >= 0 && one < 2 ** 31) &&
    levelBytes <= Math.min(bytes, storedBytes);
  if (!isSound) {
    const lengths = `${bytes} bytes, ${storedBytes} of them stored, ${levelBytes} of levels, ${values} values`;
    throw thrift.fail(`a page header with impossible lengths (${lengths})`);
  }
  return header;
}
