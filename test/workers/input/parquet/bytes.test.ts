// Columns of bytes without a type: as text, as hex digits or in base64.
import { test } from 'tap';
import { applyTemplate } from '../../apply-template.ts';
import { lyingFile } from './lying-file.ts';

const VALUES = [Buffer.from([0, 255, 254]), Buffer.from('é'), Buffer.from('')];

function fileOf(values: readonly Buffer[]): Buffer {
  const page = Buffer.concat(values.flatMap((value) => [Buffer.from([value.length, 0, 0, 0]), value]));
  const size = { bytes: page.length, storedBytes: page.length, values: values.length, rows: values.length };
  return lyingFile(page, { ...size, codec: 0, physical: 6, repetition: 0, encoding: 0 });
}

async function cellsOf(bytes: string, format = 'csv'): Promise<string | null> {
  const input = { parquet: { bytes }, null_values: [] };
  const { text, outcome } = await applyTemplate({ input, output: { format } }, fileOf(VALUES));
  return text ?? `${outcome.failure?.code}: ${outcome.failure?.message}`;
}

test('bytes as hex and base64, which are texts', async (t) => {
  t.match(await cellsOf('hex'), /^\w+\n00fffe\nc3a9\n""\n$/);
  t.match(await cellsOf('base64'), /^\w+\nAP\/\+\nw6k=\n""\n$/);
  t.match(await cellsOf('hex', 'ndjson'), /^\{"\w+":"00fffe"\}\n\{"\w+":"c3a9"\}\n\{"\w+":""\}\n$/);
});

test('bytes that are not text refuse the file, and the message says what to declare', async (t) => {
  t.match(await cellsOf('text'), /^MALFORMED_FILE: .* or write input\.parquet: \{bytes: hex\}\.$/);
});

test('a wrong declaration', async (t) => {
  await t.rejects(cellsOf('octal'), /\/input\/parquet\/bytes/);
});
