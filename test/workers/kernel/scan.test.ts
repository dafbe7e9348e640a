// The kernels of the CSV fast path, each against its scalar reference implementation.
import { deepStrictEqual } from 'node:assert/strict';
import { test } from 'tap';
import { compileKernels, instantiateKernel } from '../../../workers/kernel/bindings/kernel.ts';
import { unlimitedShare } from '../../../workers/memory/budget.ts';
import { Heap } from '../../../workers/memory/heap.ts';
import { fc } from '../../random.ts';
import { sweep } from '../../sweep.ts';
import { indexRows, type RowsRules } from './scalar/index-rows.ts';
import { materialise } from './scalar/materialise.ts';
import { scan } from './scalar/scan.ts';

const kernel = instantiateKernel(compileKernels());
const LF = 10;
const TEXT_BYTES = 65_536;

interface PlacedText {
  readonly heap: Heap;
  readonly text: number;
  readonly state: number;
  readonly structurals: number;
}

/** Places the text between two line feeds, as in a window. */
function placed(bytes: Uint8Array): PlacedText {
  const heap = new Heap(kernel.memory, kernel.exports.heapStart(), unlimitedShare(), 1 << 20);
  const state = heap.allocate(64);
  const text = heap.allocate(TEXT_BYTES) + 64;
  const structurals = heap.allocate(TEXT_BYTES * 4);
  heap.u8[text - 1] = LF;
  heap.u8.set(bytes, text);
  heap.u8[text + bytes.length] = LF;
  return { heap, text, state, structurals };
}

const piece = fc.constantFrom(',', ',', '\n', '\r', '\r\n', '"', '"', '""', 'x', 'word of some length', 'é', '\0');
const tidyPiece = fc.constantFrom('1,2\n', '"a",b\n', '"a,\n""b""",c\r\n', 'x'.repeat(61), ',', '\n', '"\r\n",', 'ü');
const bytes = fc
  .oneof(fc.array(piece, { maxLength: 150 }), fc.array(tidyPiece, { maxLength: 150 }))
  .map((pieces) => Buffer.from(pieces.join('')));

test('the structural scan, in one go and in chunks', async (t) => {
  const stops = fc.array(fc.nat(300), { maxLength: 6 });
  const property = fc.property(bytes, stops, fc.integer({ min: 73, max: 200 }), checkScan);
  t.doesNotThrow(() => fc.assert(property, { numRuns: sweep({ short: 250, long: 5_000 }) }));
});

test('the structural scan at every place in a block', async (t) => {
  const snippets = ['"a"b,"c', '"a"\r\n"b"', '"a""b"', 'a"b', '\r\n', '\ra', '"\r"\r"', '""x', ',"\n', '"a",', '\0'];
  t.doesNotThrow(() => {
    for (const snippet of snippets) {
      for (let pad = 0; pad < 140; pad++) {
        const tail = `,${'y'.repeat(70)}\n"${'z,'.repeat(40)}"\n`;
        checkScan(Buffer.from(`${'x'.repeat(pad)},${snippet}${tail}`), [], 200);
        checkScan(Buffer.from(`"${'x'.repeat(pad)}${snippet}${tail}`), [], 200);
      }
    }
  });
});

function checkScan(text: Uint8Array, stops: readonly number[], entries: number): void {
  const at = placed(text);
  const slots = at.state >>> 2;
  const end = at.text + text.length;
  const got: number[] = [];
  at.heap.u32.set([at.text, 0, at.structurals, 0, 0, 0], slots);
  // The next byte decides the meaning of a CR at the end of a range, so any stop is allowed.
  for (const stop of [...stops.map((stop) => Math.min(at.text + stop, end)).sort((a, b) => a - b), end]) {
    while (at.heap.u32[slots]! < stop) {
      at.heap.u32[slots + 2] = at.structurals;
      kernel.exports.scan(at.state, stop, at.structurals + entries * 4, 44, 34);
      const after = at.heap.u32[slots + 2]!;
      got.push(...at.heap.u32.subarray(at.structurals >>> 2, after >>> 2));
    }
  }
  const want = scan(at.heap.u8, at.text, end, 44, 34);
  deepStrictEqual(got, want.structurals);
  const [, mode, , lines, rowEnds, flags] = at.heap.u32.subarray(slots, slots + 6);
  deepStrictEqual(
    { lines, rowEnds, nul: (flags! & 1) !== 0, literal: (flags! & 2) !== 0, quoted: mode === 2 },
    {
      lines: want.lines,
      rowEnds: want.rowEnds,
      nul: want.holdsNul,
      literal: want.holdsLiteralQuote,
      quoted: want.quoted,
    },
  );
}

const rules: fc.Arbitrary<RowsRules> = fc.record({
  columns: fc.integer({ min: 1, max: 5 }),
  columnsMax: fc.constantFrom(6, 100),
  quote: fc.constant(34),
  raggedFails: fc.constantFrom(false, false, true),
  strayFails: fc.constantFrom(false, false, true),
  emptyIsNull: fc.boolean(),
});

test('rows of any shape, and uniform ones', async (t) => {
  const property = fc.property(bytes, rules, fc.integer({ min: 1, max: 40 }), (text, given, rowsMax) => {
    const at = placed(text);
    const { structurals, holdsLiteralQuote } = scan(at.heap.u8, at.text, at.text + text.length, 44, 34);
    const ends = structurals.filter((address) => at.heap.u8[address] !== 44);
    const complete = structurals.slice(0, structurals.lastIndexOf(ends[ends.length - 1] ?? -1) + 1);
    const want = indexRows(at.heap.u8, complete, at.text - 1, rowsMax, given);
    const table = at.heap.allocate(rowsMax * 24);
    const events = at.heap.allocate(rowsMax * 12);
    at.heap.u32.set(complete, at.structurals >>> 2);
    const after = at.structurals + complete.length * 4;
    const slots = at.state >>> 2;
    at.heap.u32.set([at.structurals, at.text - 1, 0, 0, 1, 0, 0], slots);
    const bits =
      (given.raggedFails ? 1 : 0) |
      (given.strayFails ? 2 : 0) |
      (holdsLiteralQuote ? 4 : 0) |
      (given.emptyIsNull ? 8 : 0);
    const { columns, columnsMax } = given;
    kernel.exports.indexRaggedRows(at.state, after, rowsMax, columns, columnsMax, table, events, bits, 34);
    const { u32 } = at.heap;
    const [, , rows, eventCount, plain, stop] = u32.subarray(slots, slots + 7);
    deepStrictEqual([...u32.subarray(table >>> 2, (table >>> 2) + rows! * (columns + 1))], want.entries);
    deepStrictEqual(
      [rows, plain === 0, [null, 'ragged', 'stray', 'columns', 'swallowed'][stop!]],
      [want.rows, want.missing, want.stop],
    );
    const ragged: number[] = [];
    const short: number[] = [];
    const strays: [number, number][] = [];
    for (let event = events >>> 2; event < (events >>> 2) + eventCount! * 3; event += 3) {
      if (u32[event + 1] === 1) ragged.push(u32[event]!);
      if (u32[event + 1] === 2) short.push(u32[event]!);
      if (u32[event + 2]! > 0) strays.push([u32[event]!, u32[event + 2]!]);
    }
    deepStrictEqual({ ragged, short, strays }, { ragged: want.ragged, short: want.short, strays: want.strays });
    // The condition by which RowTable chooses the kernel: rows with a literal quote are never read as uniform.
    const even =
      !holdsLiteralQuote && ends.length > 0 && complete.length === ends.length * columns && given.emptyIsNull;
    if (!even || kernel.exports.rowsAreUniform(at.structurals, ends.length, columns) === 0) return;
    const count = Math.min(ends.length, rowsMax);
    kernel.exports.indexRows(at.structurals, at.text - 1, count, columns, table);
    const uniform = indexRows(at.heap.u8, complete, at.text - 1, rowsMax, {
      ...given,
      strayFails: false,
      columnsMax: 100,
    });
    deepStrictEqual([...u32.subarray(table >>> 2, (table >>> 2) + count * (columns + 1))], uniform.entries);
  });
  t.doesNotThrow(() => fc.assert(property, { numRuns: sweep({ short: 250, long: 5_000 }) }));
});

test('clean cells, with an arena that fills up', async (t) => {
  const content = fc.array(fc.constantFrom('"', '""', 'a', 'é', 'NA', 'some more text', ','), { maxLength: 12 });
  const field = fc.oneof(
    content.map((pieces) => pieces.join('')),
    content.map((pieces) => `"${pieces.join('').replaceAll('"', '""')}"`),
    content.map((pieces) => `"${pieces.join('')}"`),
  );
  const property = fc.property(
    fc.array(field, { minLength: 1, maxLength: 30 }),
    fc.boolean(),
    fc.boolean(),
    (fields, emptyIsNull, listed) => {
      const at = placed(Buffer.from(fields.join('\n')));
      const { heap } = at;
      const views = heap.allocate(fields.length * 8);
      const selection = heap.allocate(fields.length * 4);
      const texts = heap.allocate(64);
      const table = heap.allocate((fields.length + 1) * 4);
      heap.u32.set([2, (1 << 2) | (1 << 3), 2], texts >>> 2);
      heap.u8.set(Buffer.from('NA'), texts + 12);
      heap.u32[(texts >>> 2) + 4] = 3;
      heap.u8.set(Buffer.from('é"'), texts + 20);
      heap.u32[table >>> 2] = at.text - 1;
      let end = at.text - 1;
      for (const [row, text] of fields.entries()) {
        end += 1 + Buffer.byteLength(text);
        heap.u32[(table >>> 2) + row + 1] = end;
        heap.u32[(selection >>> 2) + row] = row;
      }
      const slots = at.state >>> 2;
      heap.u32.set([0, heap.allocate(8), 0], slots);
      for (;;) {
        // Memory for one cell at a time: the kernel stops before the next cell and is called again.
        const limit = heap.u32[slots + 1]! + heap.u32[slots + 2]!;
        kernel.exports.materialise(
          at.state,
          table,
          4,
          selection,
          fields.length,
          views,
          limit,
          34,
          emptyIsNull ? 1 : 0,
          listed ? texts : 0,
        );
        if (heap.u32[slots + 2] === 0) break;
        heap.u32[slots + 1] = heap.allocate(heap.u32[slots + 2]!);
      }
      const nullTexts = [...(emptyIsNull ? [''] : []), ...(listed ? ['NA', 'é"'] : [])];
      for (const row of fields.keys()) {
        const from = heap.u32[(table >>> 2) + row]! + 1;
        const want = materialise(heap.u8, from, heap.u32[(table >>> 2) + row + 1]!, 34, nullTexts);
        const [start, length] = heap.u32.subarray((views >>> 2) + row * 2, (views >>> 2) + row * 2 + 2);
        const got = start === 0 ? null : Buffer.from(heap.u8.slice(start, start! + length!)).toString();
        deepStrictEqual(got, want === null ? null : Buffer.from(want).toString());
      }
    },
  );
  t.doesNotThrow(() => fc.assert(property, { numRuns: sweep({ short: 190, long: 3_000 }) }));
});
