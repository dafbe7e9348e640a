// The pages of one stored column in sequence: decompressed into the Run's memory, with levels and values ready to be
// read. Loading a page invalidates the previous one.
import { isAscii } from 'node:buffer';
import type { Kernel } from '../../kernel/bindings/kernel.ts';
import type { Heap } from '../../memory/heap.ts';
import type { Failed } from '../../protocol/failure.ts';
import type { WholeSource } from '../source/source.ts';
import { codecOf, UNCOMPRESSED } from './decompress.ts';
import { DeltaIntegers, DeltaLengths, DeltaPrefixes, type PackedValues, SplitStreams } from './expand-values.ts';
import { type ColumnChunk, type PageHeader, readPageHeader } from './footer.ts';
import { EMPTY_PAGES_MAX, HEADERS_AT_ONCE, malformedParquet, PAGE_BYTES_MAX, unsupportedParquet } from './limits.ts';
import { type InflatedBytes, PageRegion, tooLarge } from './page-memory.ts';
import { BOOLEAN, BYTE_ARRAY, INT32, type SchemaNode } from './schema.ts';
import { valueWidth } from './value-form.ts';
import { Booleans, type BooleanTexts, ByteArrays, FixedValues, RunDecoder, type ValueReader } from './value-readers.ts';

/** Numbers of encodings in parquet.thrift. */
const PLAIN = 0;
const PLAIN_DICTIONARY = 2;
const RLE = 3;
const DELTA_BINARY_PACKED = 5;
const DELTA_LENGTH_BYTE_ARRAY = 6;
const DELTA_BYTE_ARRAY = 7;
const RLE_DICTIONARY = 8;
const BYTE_STREAM_SPLIT = 9;

const LENGTH_BYTES = 4;
const INDEX_BITS_MAX = 32;

/** Shared by all columns of a reader. */
export interface PageTools {
  readonly source: WholeSource;
  readonly heap: Heap;
  readonly kernel: Kernel['exports'];
  /** Region for a page as stored in the file. */
  readonly stored: PageRegion;
  readonly inflated: InflatedBytes;
  readonly booleans: BooleanTexts;
}

/** Values of a dictionary. Valid until the next chunk is opened. */
export interface DictionaryPage {
  readonly count: number;
  readonly values: ValueReader;
  readonly isAscii: boolean;
}

export class LeafPages {
  readonly leaf: SchemaNode;
  readonly #tools: PageTools;
  readonly #width: number;
  readonly #page: PageRegion;
  readonly #unpacked: PageRegion;
  readonly #lastValue: PageRegion;
  readonly #dictionaryRegion: PageRegion;
  #chunk: ColumnChunk = { start: 0, end: 0, codec: UNCOMPRESSED, values: 0 };
  #position = 0;
  /** Number of values of the chunk in pages that have not been loaded. */
  #valuesLeft = 0;
  /** Number of pages of the chunk without values. */
  #emptyPages = 0;
  #dictionary: DictionaryPage | null = null;

  /** Number of values of the page, including nulls. */
  values = 0;
  /** null if no value is null. */
  definitions: RunDecoder | null = null;
  /** null if each value begins a row. */
  repetitions: RunDecoder | null = null;
  /** Reads the non-null values, or `indexes` reads their dictionary indexes. */
  reader: ValueReader | null = null;
  indexes: RunDecoder | null = null;
  /** True if all bytes of the page are ASCII. */
  isAscii = false;

  constructor(tools: PageTools, leaf: SchemaNode) {
    this.#tools = tools;
    this.leaf = leaf;
    this.#width = valueWidth(leaf);
    this.#page = new PageRegion(tools.heap, 'page');
    this.#unpacked = new PageRegion(tools.heap, 'page');
    this.#lastValue = new PageRegion(tools.heap, 'value');
    this.#dictionaryRegion = new PageRegion(tools.heap, 'dictionary');
  }

  /** null until a page of the chunk has defined it. */
  get dictionary(): DictionaryPage | null {
    return this.#dictionary;
  }

  /** Offset in the file of the current or next page. */
  get position(): number {
    return this.#position;
  }

  open(chunk: ColumnChunk): void {
    this.#chunk = chunk;
    this.#position = chunk.start;
    this.#valuesLeft = chunk.values;
    this.#emptyPages = 0;
    this.#dictionary = null;
    this.#dictionaryRegion.release();
    this.values = 0;
  }

  /** Loads the next page with values. Returns false if the chunk has no more pages. Throws Failed. */
  load(): boolean {
    this.values = 0;
    while (this.#valuesLeft > 0) {
      const { end } = this.#chunk;
      const start = this.#position;
      if (start >= end)
        throw malformedParquet(`a column that ends ${this.#valuesLeft} values before its metadata says`, start);
      const header = readPageHeader(this.#tools.source, start, end);
      const body = start + header.headerBytes;
      if (header.storedBytes > end - body) throw pageTooLong(header, end - body, start);
      this.#position = body + header.storedBytes;
      const broken = (): Failed => malformedParquet('a page whose content differs from its header', start);
      if (header.kind === 'dictionary') this.#loadDictionary(header, body, broken);
      else if (header.kind !== 'other' && header.values > 0) {
        if (header.values > this.#valuesLeft) {
          const what = `a page of ${header.values} values in a column that has ${this.#valuesLeft} left`;
          throw malformedParquet(what, start);
        }
        this.#valuesLeft -= header.values;
        this.#loadData(header, body, broken);
        return true;
      } else if (++this.#emptyPages > EMPTY_PAGES_MAX) {
        throw malformedParquet(`a column with more than ${EMPTY_PAGES_MAX} pages without values`, start);
      }
    }
    return false;
  }

  /** True if all pages of the chunk have been passed. */
  get isPassed(): boolean {
    return this.#position >= this.#chunk.end;
  }

  /**
   * Skips at most HEADERS_AT_ONCE pages by reading only their headers. Returns their number of values, including nulls.
   * Throws Failed.
   */
  pass(): number {
    let values = 0;
    const { end } = this.#chunk;
    for (let count = 0; count < HEADERS_AT_ONCE && this.#position < end; count++) {
      const header = readPageHeader(this.#tools.source, this.#position, end);
      const next = this.#position + header.headerBytes + header.storedBytes;
      if (next > end) throw pageTooLong(header, end - this.#position - header.headerBytes, this.#position);
      this.#position = next;
      if (header.kind === 'data' || header.kind === 'data_v2') values += header.values;
    }
    this.values = 0;
    this.#valuesLeft = 0;
    return values;
  }

  #loadDictionary(header: PageHeader, body: number, broken: () => Failed): void {
    const { heap } = this.#tools;
    if (this.#dictionary !== null || this.leaf.physical === BOOLEAN) throw broken();
    const at = this.#inflate(header, body, 0, this.#dictionaryRegion, broken);
    const end = at + header.bytes;
    const values = this.#width === 0 ? new ByteArrays(at, end, broken) : new FixedValues(at, end, this.#width, broken);
    if (header.values * (this.#width || LENGTH_BYTES) > header.bytes) throw broken();
    this.#dictionary = { count: header.values, values, isAscii: isAscii(heap.u8.subarray(at, end)) };
  }

  #loadData(header: PageHeader, body: number, broken: () => Failed): void {
    const { heap } = this.#tools;
    const levelBytes = header.definitionBytes + header.repetitionBytes;
    const page = this.#inflate(header, body, levelBytes, this.#page, broken);
    const end = page + header.bytes;
    let at = page;
    const level = (max: number, bytes: number, encoding: number): RunDecoder | null => {
      if (max === 0) {
        at += bytes;
        return null;
      }
      const width = bitsFor(max);
      let length = bytes;
      if (header.kind === 'data') {
        if (encoding !== RLE) throw unsupportedParquet('levels of an encoding that is no longer used');
        if (end - at < LENGTH_BYTES) throw broken();
        length = new DataView(heap.u8.buffer).getUint32(at, true);
        at += LENGTH_BYTES;
      }
      if (length > end - at) throw broken();
      at += length;
      return new RunDecoder(at - length, at, width, broken);
    };
    this.repetitions = level(this.leaf.repetitionLevel, header.repetitionBytes, header.levelEncodings[1]);
    this.definitions = level(this.leaf.definition, header.definitionBytes, header.levelEncodings[0]);
    this.values = header.values;
    this.isAscii = isAscii(heap.u8.subarray(page, end));
    this.#readValues(header, at, end, broken);
  }

  #readValues({ encoding, values }: PageHeader, at: number, end: number, broken: () => Failed): void {
    const { heap, booleans } = this.#tools;
    const { physical } = this.leaf;
    this.indexes = null;
    this.reader = null;
    const regions = { region: this.#unpacked, lastValue: this.#lastValue };
    const packed: PackedValues = { heap, at, end, valuesMax: values, ...regions, broken };
    if (encoding === PLAIN_DICTIONARY || encoding === RLE_DICTIONARY) {
      if (this.#dictionary === null) throw broken();
      // A page of nulls may have no bytes.
      const width = at < end ? heap.u8[at]! : 0;
      if (width > INDEX_BITS_MAX) throw broken();
      this.indexes = new RunDecoder(at + 1, end, width, broken);
    } else if (physical === BOOLEAN && (encoding === PLAIN || encoding === RLE)) {
      const bits =
        encoding === PLAIN
          ? RunDecoder.packed(at, end, 1, broken)
          : new RunDecoder(Math.min(end, at + LENGTH_BYTES), end, 1, broken);
      this.reader = new Booleans(bits, booleans);
    } else if (encoding === PLAIN) {
      this.reader = this.#width === 0 ? new ByteArrays(at, end, broken) : new FixedValues(at, end, this.#width, broken);
    } else this.reader = this.#unpack(encoding, packed);
  }

  #unpack(encoding: number, packed: PackedValues): ValueReader {
    const { physical } = this.leaf;
    const isBytes = physical !== null && physical >= BYTE_ARRAY;
    if (packed.at === packed.end) return new FixedValues(packed.at, packed.end, 1, packed.broken);
    if (encoding === DELTA_BINARY_PACKED && (this.#width === 4 || this.#width === 8) && !isBytes)
      return new DeltaIntegers(packed, physical === INT32 ? 4 : 8);
    if (encoding === DELTA_LENGTH_BYTE_ARRAY && physical === BYTE_ARRAY) return new DeltaLengths(packed);
    if (encoding === DELTA_BYTE_ARRAY && isBytes) return new DeltaPrefixes(packed);
    if (encoding === BYTE_STREAM_SPLIT && this.#width > 0) return new SplitStreams(packed, this.#width);
    throw unsupportedParquet('an encoding that is not known');
  }

  /** Returns the address of the decompressed page. Its first `plainBytes` bytes are stored uncompressed. */
  #inflate(header: PageHeader, body: number, plainBytes: number, region: PageRegion, broken: () => Failed): number {
    const { source, heap, kernel, stored, inflated } = this.#tools;
    const { bytes, storedBytes } = header;
    const codec = codecOf(header.isCompressed ? this.#chunk.codec : UNCOMPRESSED);
    if (codec === null) throw unsupportedParquet('a compression that is not known');
    const { pageBytesMax = PAGE_BYTES_MAX } = codec;
    if (bytes > pageBytesMax || storedBytes > pageBytesMax) throw tooLarge('page', Math.max(bytes, storedBytes));
    inflated.add(bytes);
    const at = region.take(bytes);
    const from = stored.take(storedBytes + (codec.copies ? bytes : 0));
    const input = heap.u8.subarray(from, from + storedBytes);
    source.readAt(input, body);
    const output = heap.u8.subarray(at, at + bytes);
    output.set(input.subarray(0, plainBytes));
    const isEmpty = bytes === plainBytes && storedBytes === plainBytes;
    if (!isEmpty && !codec.inflate(input.subarray(plainBytes), output.subarray(plainBytes), kernel)) throw broken();
    return at;
  }
}

function pageTooLong({ storedBytes }: PageHeader, there: number, position: number): Failed {
  return malformedParquet(`a page of ${storedBytes} bytes in a column that has ${there} left`, position);
}

/** Number of bits for numbers up to `max`. */
function bitsFor(max: number): number {
  return 32 - Math.clz32(max);
}
