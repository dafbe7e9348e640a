// Files with millions of small parts: lists, keys, columns, strings, styles. Each is compressed or small, so an attacker
// sends it in a second. Made when asked for.
import { gzipSync } from 'node:zlib';
import { lyingFile } from '../workers/input/parquet/lying-file.ts';
import { rowsOf, type WrittenWorkbook, workbookOf } from '../workers/input/xlsx/workbook-writer.ts';

const MILLION = 1_000_000;
const MIB = 1024 * 1024;

const many = (count: number, one: (index: number) => string, between = ''): string =>
  Array.from({ length: count }, (_, index) => one(index)).join(between);

/** Members of a JSON object. */
const members = (count: number, value: string): string => many(count, (index) => `"k${index}":${value}`, ',');

const ROWS = rowsOf([
  ['a', 'b'],
  ['x', '1'],
]);

const workbook = (parts: Partial<WrittenWorkbook>): Buffer => workbookOf({ rows: ROWS, ...parts });

const one = { values: 2, rows: 2, bytes: 8, storedBytes: 8, codec: 0, physical: 1, repetition: 0, encoding: 0 };
const TWO_NUMBERS = Buffer.from([1, 0, 0, 0, 2, 0, 0, 0]);

export const CROWDED_FILES: Readonly<Record<string, () => Buffer | string>> = {
  'JSON: an object of a million lists': () => gzipSync(`{${members(MILLION, '[]')}}`),
  'JSON: an object of a million lists of objects': () =>
    gzipSync(`{${members(MILLION, '[{"a":1}]')},"rows":[{"a":1}]}`),
  'JSON: an object of a million objects': () => gzipSync(`{${members(MILLION, '{}')},"rows":[{"a":1}]}`),
  'JSON: a million lists below a key': () => gzipSync(`{"data":{${members(MILLION, '[]')}},"rows":[{"a":1}]}`),
  'JSON: a list of three million empty objects': () => gzipSync(`[${'{},'.repeat(3 * MILLION)}{"a":1}]`),
  'JSON: a list of three million empty lists': () => gzipSync(`[["a"],${'[],'.repeat(3 * MILLION)}["b"]]`),
  'JSON: a cell of a million lists': () => gzipSync(`[{"a":[${'[],'.repeat(MILLION)}[]]}]`),
  'JSON: a cell with 300,000 keys': () => gzipSync(`[{"a":{${members(300_000, '1')}}}]`),
  'JSON: a million rows with a key of their own': () => gzipSync(many(MILLION, (index) => `{"k${index}":1}\n`)),
  'JSON: rows of 16,384 keys': () =>
    gzipSync(`[{${members(16_384, '1')}},${`{${members(16_384, '{"b":[1]}')}},`.repeat(20)}{}]`),
  'JSON: keys of 64 KiB': () =>
    gzipSync(`{${many(400, (index) => `"${'k'.repeat(65_000)}${index}":[]`, ',')},"rows":[{"a":1}]}`),
  'JSON: objects of two columns in each other, 150 deep': () =>
    gzipSync(`[${`${'{"a":1,"b":'.repeat(150)}1${'}'.repeat(150)},`.repeat(20_000)}{}]`),
  'JSON: a text of 40 MiB': () => gzipSync(`[{"a":"${'x'.repeat(40 * MIB)}"}]`),
  'JSON: a text of escapes': () => gzipSync(`[{"a":"${'\\u0041'.repeat(4 * MIB)}"}]`),
  'JSON: a number of 40 MiB': () => gzipSync(`[{"a":${'1'.repeat(40 * MIB)}}]`),
  'CSV: a million columns': () => gzipSync(`${many(MILLION, (index) => `c${index}`, ',')}\n1,2\n`),
  'CSV: 16,384 columns with long names': () =>
    gzipSync(`${many(16_384, (index) => `${'n'.repeat(1000)}${index}`, ',')}\n1,2\n`),
  'CSV: 16,384 columns with names of 4 MiB': () =>
    gzipSync(`${many(16_384, (index) => `${'n'.repeat(250)}${index}`, ',')}\n1,2\n`),
  'CSV: 16,384 columns with one name': () => gzipSync(`${many(16_384, () => 'same', ',')}\n${'1,2\n'.repeat(10)}`),
  'CSV: five million rows above the header': () => gzipSync(`${'\n'.repeat(5 * MILLION)}a,b\n1,2\n`),
  'CSV: quotes in quotes': () => gzipSync(`a,b\n${`"${'""'.repeat(MILLION)}",1\n`.repeat(8)}`),
  'CSV: rows of very different lengths': () => gzipSync(`a,b\n${many(3000, (index) => ','.repeat(index * 5), '\n')}`),
  'XLSX: a million shared strings': () =>
    workbook({
      strings: many(MILLION, (index) => `<si><t>${index}</t></si>`),
      rows: `${ROWS}<row r="3"><c r="A3" t="s"><v>999999</v></c></row>`,
    }),
  'XLSX: a shared string of a million runs': () =>
    workbook({
      strings: `<si>${'<r><rPr><b/></rPr><t>x</t></r>'.repeat(MILLION)}</si>`,
      rows: `${ROWS}<row r="3"><c r="A3" t="s"><v>0</v></c></row>`,
    }),
  'XLSX: a cell of a million runs': () =>
    workbook({
      rows: `${ROWS}<row r="3"><c r="A3" t="inlineStr"><is>${'<r><t>x</t></r>'.repeat(MILLION)}</is></c></row>`,
    }),
  'XLSX: a million styles': () =>
    workbook({ styles: `<styleSheet><cellXfs>${'<xf numFmtId="14"/>'.repeat(MILLION)}</cellXfs></styleSheet>` }),
  'XLSX: a million number formats': () =>
    workbook({
      styles: `<styleSheet><numFmts>${many(MILLION, (index) => `<numFmt numFmtId="${index + 200}" formatCode="0"/>`)}</numFmts></styleSheet>`,
    }),
  'XLSX: a million merged ranges': () =>
    workbook({
      after: `<mergeCells>${many(MILLION, (index) => `<mergeCell ref="A${index + 3}:B${index + 3}"/>`)}</mergeCells>`,
    }),
  'XLSX: a million columns and links': () =>
    workbook({
      before: `<cols>${'<col min="1" max="16384" width="9"/>'.repeat(MILLION)}</cols>`,
      after: `<hyperlinks>${'<hyperlink ref="A1" display="x"/>'.repeat(MILLION)}</hyperlinks>`,
    }),
  'XLSX: a million defined names': () =>
    workbook({
      workbookProperties: `<definedNames>${many(MILLION, (index) => `<definedName name="n${index}">One!$A$1</definedName>`)}</definedNames>`,
    }),
  'XLSX: three million empty rows': () => workbook({ rows: `${ROWS}${'<row/>'.repeat(3 * MILLION)}` }),
  'XLSX: rows of 16,384 empty cells': () =>
    workbook({ rows: `${ROWS}${`<row>${'<c/>'.repeat(16_384)}</row>`.repeat(100)}` }),
  'Parquet: 200,000 row groups': () => lyingFile(TWO_NUMBERS, one, { before: 100_000, after: 100_000, offset: 4 }),
  'Parquet: a million key-value pairs': () =>
    lyingFile(TWO_NUMBERS, one, undefined, {
      file: (thrift) => {
        thrift.list(5, 12, 800_000);
        for (let count = 0; count < 800_000; count++) thrift.body(() => thrift.text(1, 'k'));
      },
    }),
};
