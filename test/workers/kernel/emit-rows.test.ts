// Kernels that write rows as CSV and JSON (emit-csv.ts, emit-json.ts, encoded-rows.ts), with the programs that the writers
// make for them. The references are the scalar implementation of CSV, and JSON.stringify.
import { deepStrictEqual, equal, ok } from 'node:assert/strict';
import type { Batch } from '../../../workers/batch/batch.ts';
import { ENTRY_BYTES } from '../../../workers/kernel/layout/encoded-rows.ts';
import { GUARDED, OUT_NEXT } from '../../../workers/kernel/layout/output-program.ts';
import { csvCell } from '../../../workers/kernel/plain/emit-csv.ts';
import { Arena } from '../../../workers/memory/arena.ts';
import type { TemplateOutput } from '../../../workers/template/template.ts';
import { fc } from '../../random.ts';
import { sweep } from '../../sweep.ts';
import { batchOf, schemaOf, select } from '../batch/build-batch.ts';
import { createRowWriter, csvOutput, jsonOutput, keepingSink } from '../output/output-settings.ts';
import { checkKernel, type KernelRig, rowCounts, rowOf } from './kernel-rig.ts';

const RUNS = sweep({ short: 60, long: 200 });
/** Kernels that write rows overwrite up to this many bytes after the limit. */
const OVERWRITTEN_BYTES = 64;
/** Each case has a separate arena, and no writer of these tests needs more. */
const ARENA_BYTES = 4096;
const WORD_BYTES = 8;
const FLAG_REST = 0x8000_0000;
const FLAG_GUARDED = 0x4000_0000;
const LENGTH = 0x3fff_ffff;

const text = fc
  .tuple(
    fc.constantFrom(0, 0, 0, 14, 15, 16, 17, 33),
    fc.array(fc.constantFrom('a', ',', '"', '\n', '=', '+', '-', '1', ' ', 'é', '😀', '\\', '\u0001'), {
      maxLength: 6,
    }),
  )
  .map(([fill, parts]) => `${'x'.repeat(fill)}${parts.join('')}`);
type Row = readonly (string | null)[];
const table = fc.tuple(rowCounts, fc.integer({ min: 1, max: 3 })).chain(([count, width]) =>
  fc
    .array(fc.array(fc.option(text, { nil: null, freq: 6 }), { minLength: width, maxLength: width }), {
      minLength: count,
      maxLength: count,
    })
    .map((rows) => ({ rows: rows as readonly Row[], width })),
);

/** Text of a row, and the number of its guarded formulas. */
interface Written {
  readonly text: string;
  readonly guarded: number;
}

interface Form {
  readonly isJson: boolean;
  readonly output: TemplateOutput;
  readonly write: (row: Row) => Written;
}

const DELIMITER = Buffer.from(',');
const FORMS: readonly Form[] = [
  ...(['auto', 'off'] as const).map(
    (guard): Form => ({
      isJson: false,
      output: csvOutput({ header: false, formulaGuard: guard }),
      write(row) {
        const cells = row.map((cell) =>
          csvCell(Buffer.from(cell ?? ''), {
            delimiter: DELIMITER,
            quote: false,
            quoteEmpty: row.length === 1,
            guard: cell === null ? 'off' : guard,
          }),
        );
        const line = cells.map(({ bytes }) => Buffer.from(bytes).toString()).join(',');
        return { text: `${line}\n`, guarded: cells.filter(({ guarded }) => guarded).length };
      },
    }),
  ),
  {
    isJson: true,
    output: jsonOutput('ndjson'),
    write: (row) => ({
      text: `${JSON.stringify(Object.fromEntries(row.map((cell, column) => [`c${column}`, cell])))}\n`,
      guarded: 0,
    }),
  },
];

/** Places the rows of a table. Returns the program that the writer makes for them, and the batch. */
function placeTable(
  rig: KernelRig,
  { rows, width }: { readonly rows: readonly Row[]; readonly width: number },
  output: TemplateOutput,
  before: number,
): { program: number; batch: Batch } {
  const clock = { isDue: () => false };
  const bench = { kernel: rig.kernel, heap: rig.heap, arena: new Arena(rig.heap, ARENA_BYTES), clock };
  const columns = Array.from({ length: width }, (_, column) => ({
    kind: 'views' as const,
    at: rig.texts(
      rows.map((row) => row[column]!),
      before,
    ),
  }));
  const selection = rows.map((_, position) => rowOf(position));
  const batch = select(bench, batchOf(bench, rows.length * 2, columns), selection);
  const names = columns.map((_, column) => [`c${column}`, 'text'] as const);
  const writer = createRowWriter({
    output,
    schema: schemaOf(Object.fromEntries(names)),
    nullValues: [''],
    ...bench,
    sink: keepingSink(),
    bufferBytes: 16,
  });
  return { program: writer.ahead!.load(batch), batch };
}

const free = fc.constantFrom(16, 200, 1000, 20_000);

for (const [name, forms] of [
  ['emitCsv', FORMS.filter(({ isJson }) => !isJson)],
  ['emitJson', FORMS.filter(({ isJson }) => isJson)],
] as const) {
  checkKernel(
    `${name}: whole rows as long as they fit, and the number of guarded formulas`,
    fc.tuple(table, fc.constantFrom(...forms), free),
    (rig, [given, form, freeBytes], before) => {
      const { program, batch } = placeTable(rig, given, form.output, before);
      const count = given.rows.length;
      const expected = given.rows.map(form.write);
      let bytes: number = freeBytes;
      let guarded = rig.word(program + GUARDED);
      for (let from = 0; from < count; ) {
        const out = rig.region(bytes + OVERWRITTEN_BYTES, before);
        const place = [from, count, out, out + bytes] as const;
        const rows = form.isJson
          ? rig.exports.emitJson(program, batch.selection, ...place)
          : rig.exports.emitCsv(program, batch.selection, ...place);
        const some = expected.slice(from, from + rows);
        const end = rig.word(program + OUT_NEXT);
        ok(end <= out + bytes);
        equal(Buffer.from(rig.bytes.subarray(out, end)).toString(), some.map((row) => row.text).join(''));
        guarded += some.reduce((sum, row) => sum + row.guarded, 0);
        equal(rig.word(program + GUARDED), guarded);
        from += rows;
        // The rest is written with enough memory for all rows.
        bytes = 30_000;
        ok(from === count || freeBytes < bytes);
      }
    },
    RUNS,
  );
}

/** Keys of sorted rows, shorter and longer than the word of an entry. */
const keys = fc.constantFrom('', 'a', 'abcdefg', 'abcdefgh', 'abcdefghi', 'k'.repeat(24), 'k'.repeat(25));

checkKernel(
  'finishRows: rows with their entries as long as both fit',
  fc.tuple(table, fc.constantFrom(...FORMS), free, fc.constantFrom(1, 16, 40), keys),
  (rig, [given, form, freeBytes, entriesMax, suffix], before) => {
    const { program, batch } = placeTable(rig, given, form.output, before);
    const count = given.rows.length;
    const guardedBefore = rig.word(program + GUARDED);
    const all = given.rows.map((_, position) => `${position}${suffix}`);
    const views = rig.texts(all, before);
    const entries = rig.region(entriesMax * ENTRY_BYTES, before);
    const next = rig.region(freeBytes + OVERWRITTEN_BYTES, before);
    const reached = rig.region(4, 8);
    const place = [entries, entries + entriesMax * ENTRY_BYTES, next, next + freeBytes, reached] as const;
    const end = rig.exports.finishRows(program, batch.selection, 0, count, views, ...place) >>> 0;
    ok(end <= next + freeBytes);
    const finished = rig.word(reached);
    ok(finished <= Math.min(count, entriesMax));
    if (freeBytes === 20_000) equal(finished, Math.min(count, entriesMax));
    let at = next;
    for (let position = 0; position < finished; position += 1) {
      const entry = entries + position * ENTRY_BYTES;
      const row = form.write(given.rows[position]!);
      const key = Buffer.from(all[position]!);
      const word = Buffer.alloc(WORD_BYTES);
      key.copy(word, 0, 0, WORD_BYTES);
      equal(rig.long(entry), word.readBigInt64BE());
      equal(rig.word(entry + 8), at);
      const flags = rig.word(entry + 12);
      const length = flags & LENGTH;
      equal(Buffer.from(rig.bytes.subarray(at, at + length)).toString(), row.text);
      at += length;
      deepStrictEqual(
        [(flags & FLAG_GUARDED) !== 0, (flags & FLAG_REST) !== 0],
        [row.guarded > 0, key.length > WORD_BYTES],
      );
      if (row.guarded > 0) {
        equal(rig.word(at), row.guarded);
        at += 4;
      }
      if (key.length > WORD_BYTES) {
        const rest = key.subarray(WORD_BYTES);
        equal(rig.word(at), rest.length);
        equal(Buffer.from(rig.bytes.subarray(at + 4, at + 4 + rest.length)).toString(), rest.toString());
        at += 4 + rest.length;
      }
    }
    equal(end, at);
    equal(rig.word(program + GUARDED), guardedBefore);
  },
  RUNS,
);
