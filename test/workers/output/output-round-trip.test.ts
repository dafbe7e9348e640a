// From file to file through the real reader: the output bytes are the same for all spellings of a table in the input.
import assert from 'node:assert/strict';
import t from 'tap';
import { openCsvReader } from '../../../workers/input/csv/csv-reader.ts';
import { BytesSource } from '../../../workers/input/source/bytes-source.ts';
import { csvCell } from '../../../workers/kernel/plain/emit-csv.ts';
import { MemorySink } from '../../../workers/output/sink/file-sink.ts';
import { runCoroutine } from '../../../workers/scheduling/coroutine.ts';
import type { TemplateOutput } from '../../../workers/template/template.ts';
import { fc } from '../../random.ts';
import { sweep } from '../../sweep.ts';
import { drive, newBench } from '../batch/build-batch.ts';
import { createRowWriter, csvOutput, jsonOutput } from './output-settings.ts';

const text = fc.oneof(
  { weight: 3, arbitrary: fc.string({ unit: fc.constantFrom(...'ab1,;"\n\r\t=+-é€😀'), maxLength: 12 }) },
  { weight: 2, arbitrary: fc.constantFrom('', 'NA', '+49 89 123456', '-1.5', '=1', 'plain', 'x'.repeat(40)) },
);

/** A cell and its spelling, with or without needless quotes. */
const cell = fc.record({ text, quoted: fc.boolean() });

const table = fc.integer({ min: 2, max: 4 }).chain((width) =>
  fc.record({
    width: fc.constant(width),
    rows: fc.array(
      fc.record({
        cells: fc.array(cell, { minLength: 1, maxLength: width }),
        ending: fc.constantFrom('\n', '\r\n', '\n\n'),
      }),
      { minLength: 1, maxLength: 12 },
    ),
    lastEnding: fc.boolean(),
    ragged: fc.boolean(),
    delimiter: fc.constantFrom(',', ';', '\t'),
    /** A text after a closing quote makes the field literal, and the batch no longer plain. */
    stray: fc.boolean(),
  }),
);

type Table = typeof table extends fc.Arbitrary<infer T> ? T : never;

/** The file and its cells. */
function spell({ width, rows, lastEnding, ragged, delimiter, stray }: Table) {
  const names = Array.from({ length: width }, (_, column) => `c${column}`);
  const cells: (string | null)[][] = [];
  let file = `${names.join(delimiter)}\n`;
  rows.forEach((row, index) => {
    const padded = ragged ? row.cells : names.map((_, column) => row.cells[column] ?? { text: 'pad', quoted: false });
    // A line without content is blank, not a row.
    const [first, ...rest] = padded as [Table['rows'][number]['cells'][number], ...Table['rows'][number]['cells']];
    const sound = rest.length === 0 && first.text === '' ? [{ text: 'x', quoted: first.quoted }] : [first, ...rest];
    file += sound.map((cell) => spellCell(cell, delimiter)).join(delimiter);
    cells.push(names.map((_, column) => sound[column]?.text ?? null));
    if (index < rows.length - 1 || lastEnding || stray) file += row.ending;
  });
  if (stray) {
    file += names.map(() => '"a"b').join(delimiter);
    cells.push(names.map(() => '"a"b'));
  }
  return { file: Buffer.from(file), cells };
}

function spellCell({ text, quoted }: { text: string; quoted: boolean }, delimiter: string): string {
  const needed = text.includes(delimiter) || /["\n\r]/.test(text);
  return quoted || needed ? `"${text.replaceAll('"', '""')}"` : text;
}

async function convert(file: Buffer, delimiter: string, output: TemplateOutput, nullValues: readonly string[]) {
  const bench = newBench();
  const reader = await runCoroutine(
    openCsvReader({
      ...bench,
      source: new BytesSource(file),
      dialect: { delimiter, quote: '"', headerRow: 0 },
      nullValues,
      ragged: 'pad',
      strayQuotes: 'keep',
      type: 'csv',
      encoding: 'utf-8',
      largeRow: { acquire: async () => {} },
      windowBytes: 4096,
    }),
  );
  const sink = new MemorySink();
  const schema = reader.head.headers.map((name, id) => ({ id, name, type: 'text' as const }));
  const writer = createRowWriter({ ...bench, output, schema, nullValues, sink, bufferBytes: 1024 });
  for (;;) {
    bench.arena.clear();
    const batch = reader.next(5);
    if (batch === 'end') break;
    if (batch === 'wait') await reader.wait();
    else drive(writer.push(batch));
  }
  writer.finish();
  reader.close();
  return Buffer.from(sink.bytes()).toString();
}

t.test('the spelling of the input never shows in the output', async () => {
  const nullValues = fc.constantFrom<string[]>([''], ['', 'NA'], ['NA'], []);
  await fc.assert(
    fc.asyncProperty(table, fc.constantFrom(',', ';', '¦'), nullValues, async (table, delimiter, nullValues) => {
      const { file, cells } = spell(table);
      // A missing cell of a short row is null, and so is an empty text if null_values contains it.
      const values = cells.map((row) => row.map((text) => (text === null || nullValues.includes(text) ? null : text)));
      const csv = await convert(file, table.delimiter, csvOutput({ delimiter, header: false, null: '-' }), nullValues);
      const rules = { delimiter: Buffer.from(delimiter), guard: 'auto', quote: false, quoteEmpty: false } as const;
      const fields = values.map((row) =>
        row.map((text) => (text === null ? '-' : Buffer.from(csvCell(Buffer.from(text), rules).bytes).toString())),
      );
      assert.equal(csv, fields.map((row) => `${row.join(delimiter)}\n`).join(''));
      const json = await convert(file, table.delimiter, jsonOutput('ndjson'), nullValues);
      const objects = values.map((row) => Object.fromEntries(row.map((text, column) => [`c${column}`, text])));
      assert.equal(json, objects.map((object) => `${JSON.stringify(object)}\n`).join(''));
    }),
    { numRuns: sweep({ short: 38, long: 600 }) },
  );
});
