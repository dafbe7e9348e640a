// The kernels that inflate and deflate Snappy, against their scalar reference implementations. Inflating: valid data and changed
// data; the kernel writes nothing outside its output.
import t from 'tap';
import { compileKernels, instantiateKernel } from '../../../workers/kernel/bindings/kernel.ts';
import { SNAPPY_TABLE_BYTES } from '../../../workers/kernel/layout/output-program.ts';
import { snappyBytesMax } from '../../../workers/output/parquet/column-pages.ts';
import { fc, noiseBytes } from '../../random.ts';
import { deflateSnappy, inflateSnappy } from './scalar/snappy.ts';

const kernel = instantiateKernel(compileKernels());
kernel.memory.grow(16);
const memory = new Uint8Array(kernel.memory.buffer);
const FROM = kernel.exports.heapStart();
const FENCE = 0xa5;

/**
 * Inflates with the kernel, with guard bytes around the output. Returns null for invalid data. Throws if a guard byte has
 * changed.
 */
function byKernel(packed: Uint8Array, bytes: number): Uint8Array | null {
  const to = FROM + packed.length + 64;
  memory.set(packed, FROM);
  memory.fill(FENCE, to - 64, to + bytes + 64);
  const isValid = Boolean(kernel.exports.inflateSnappy(FROM, FROM + packed.length, to, to + bytes));
  const beside = [...memory.subarray(to - 64, to), ...memory.subarray(to + bytes, to + bytes + 64)];
  if (beside.some((byte) => byte !== FENCE)) throw new Error('written beside the output');
  return isValid ? memory.slice(to, to + bytes) : null;
}

function byTwin(packed: Uint8Array, bytes: number): Uint8Array | null {
  const output = new Uint8Array(bytes);
  return inflateSnappy(packed, output) ? output : null;
}

type Element =
  | { readonly literal: Uint8Array }
  | { readonly length: number; readonly offset: number; readonly form: 1 | 2 | 4 };

const elements: fc.Arbitrary<Element> = fc.oneof(
  fc.record({ literal: fc.uint8Array({ minLength: 1, maxLength: 90 }) }),
  fc.record({
    length: fc.integer({ min: 4, max: 64 }),
    offset: fc.oneof(fc.integer({ min: 1, max: 12 }), fc.integer({ min: 1, max: 2000 })),
    form: fc.constantFrom(1 as const, 2 as const, 4 as const),
  }),
);

/** Packs elements to valid data: copies whose offset is before the start of the output are left out. */
function packed(list: readonly Element[]): { readonly bytes: Uint8Array; readonly length: number } {
  const body: number[] = [];
  let length = 0;
  for (const element of list) {
    if ('literal' in element) {
      const bytes = element.literal.length;
      if (bytes <= 60) body.push((bytes - 1) << 2);
      else body.push(60 << 2, bytes - 1);
      body.push(...element.literal);
      length += bytes;
    } else if (element.offset <= length) {
      const { offset } = element;
      const short = element.form === 1 && offset < 2048;
      const bytes = short ? Math.min(element.length, 11) : element.length;
      if (short) body.push(1 | ((bytes - 4) << 2) | ((offset >> 8) << 5), offset & 255);
      else if (element.form === 4) body.push(3 | ((bytes - 1) << 2), offset & 255, offset >> 8, 0, 0);
      else body.push(2 | ((bytes - 1) << 2), offset & 255, offset >> 8);
      length += bytes;
    }
  }
  const head =
    length < 128
      ? [length]
      : length < 16_384
        ? [(length & 127) | 128, length >> 7]
        : [(length & 127) | 128, ((length >> 7) & 127) | 128, length >> 14];
  return { bytes: Uint8Array.from([...head, ...body]), length };
}

const isEqual = (left: Uint8Array | null, right: Uint8Array | null): boolean =>
  left === null || right === null ? left === right : Buffer.compare(left, right) === 0;

t.test('valid data is inflated as by the scalar reference', (t) => {
  fc.assert(
    fc.property(fc.array(elements, { maxLength: 60 }), (list) => {
      const { bytes, length } = packed(list);
      const expected = byTwin(bytes, length);
      return expected !== null && isEqual(byKernel(bytes, length), expected);
    }),
  );
  t.end();
});

t.test('changed data is refused or inflated as by the scalar reference', (t) => {
  fc.assert(
    fc.property(
      fc.array(elements, { maxLength: 40 }),
      fc.nat(),
      fc.nat(255),
      fc.integer({ min: -3, max: 3 }),
      (list, at, to, more) => {
        const { bytes, length } = packed(list);
        const changed = bytes.slice(0, bytes.length - (at % 3 === 0 ? at % bytes.length : 0));
        if (changed.length > 0) changed[at % changed.length] = to;
        const wanted = Math.max(0, length + more);
        return isEqual(byKernel(changed, wanted), byTwin(changed, wanted));
      },
    ),
  );
  t.end();
});

/** Data with few and with many matches: texts of words from a small alphabet, and of any bytes. */
const data = fc.oneof(
  fc.record({
    words: fc.array(fc.uint8Array({ maxLength: 12 }), { minLength: 1, maxLength: 9 }),
    picks: fc.array(fc.nat()),
  }),
  fc.record({
    words: fc.constant([Uint8Array.of(0), Uint8Array.of(1)]),
    picks: fc.array(fc.nat(), { maxLength: 400 }),
  }),
  fc.record({
    words: fc.uint8Array({ maxLength: 400 }).map((bytes) => [bytes]),
    picks: fc.array(fc.nat(), { maxLength: 3 }),
  }),
);

/** Maximum size of the data to deflate: more than three fragments. */
const DEFLATED_BYTES_MAX = 200_000;

/** Number of bytes after the output that `deflateSnappy` may overwrite. */
const OVERWRITTEN_BYTES_MAX = 15;

/** Deflates with the kernel. Throws if it exceeds its bound, or if a byte outside the reserved memory has changed. */
function deflatedByKernel(source: Uint8Array): Uint8Array {
  const table = FROM + DEFLATED_BYTES_MAX + 64;
  const to = table + SNAPPY_TABLE_BYTES + 64;
  const limit = to + snappyBytesMax(source.length);
  memory.set(source, FROM);
  memory.fill(FENCE, table - 64, limit + 64);
  const end = kernel.exports.deflateSnappy(FROM, source.length, to, table);
  if (end - to > source.length + source.length / 64 + 8) throw new Error('more bytes than the maximum');
  if (end + OVERWRITTEN_BYTES_MAX > limit) throw new Error('less memory reserved than may be written');
  const guards = [
    memory.subarray(table - 64, table),
    memory.subarray(to - 64, to),
    memory.subarray(end + OVERWRITTEN_BYTES_MAX, limit + 64),
  ];
  if (guards.some((bytes) => bytes.some((byte) => byte !== FENCE))) throw new Error('written beside the output');
  return memory.slice(to, end);
}

t.test('data is deflated to the same bytes as by the scalar reference, and inflates to the original', (t) => {
  fc.assert(
    fc.property(data, fc.constantFrom(1, 1, 1, 40, 4000), ({ words, picks }, times) => {
      const once = Buffer.concat(picks.map((pick) => words[pick % words.length]!));
      const source = Buffer.concat(new Array<Buffer>(times).fill(once)).subarray(0, DEFLATED_BYTES_MAX);
      const scalar = new Uint8Array(source.length + snappyBytesMax(source.length));
      scalar.set(source);
      const end = deflateSnappy(scalar, 0, source.length, source.length);
      const deflated = deflatedByKernel(source);
      return isEqual(deflated, scalar.slice(source.length, end)) && isEqual(byTwin(deflated, source.length), source);
    }),
  );
  t.end();
});

t.test('random data with short repetitions stays within the bound of the output', (t) => {
  for (const literal of [1, 5, 60, 61, 64, 256, 257, 300, 70_000]) {
    const source = Uint8Array.from(noiseBytes(DEFLATED_BYTES_MAX));
    // The last four of each `literal + 4` bytes repeat earlier bytes.
    for (let at = 300; at < source.length; at++)
      if (at % (literal + 4) >= literal) source[at] = source[at - 4 - (literal % 256)]!;
    const deflated = deflatedByKernel(source);
    t.ok(isEqual(byTwin(deflated, source.length), source), `${literal} bytes between repetitions: ${deflated.length}`);
  }
  t.end();
});
