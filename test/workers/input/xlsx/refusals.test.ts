// Workbooks that are refused: each kind of malformed file, and zip bombs.
// With all tests only: work and memory of large inputs.
import { test } from 'tap';
import { readSheetOf } from '../../../../bench/workbook-cells.ts';
import { Failed } from '../../../../workers/protocol/failure.ts';
import { skipUnlessLong } from '../../../sweep.ts';
import { workbookOf } from './workbook-writer.ts';
import { inMemory, zipOf } from './zip-writer.ts';

const ONE = '<row r="1"><c r="A1"><v>1</v></c></row>';

test('a cell of 400,000 tags and texts is refused, and one of nearly as many is read', async (t) => {
  const cell = (runs: number): Buffer =>
    workbookOf({ rows: `<row r="1"><c r="A1" t="inlineStr"><is>${'<r><t>x</t></r>'.repeat(runs)}</is></c></row>` });
  t.equal(await refusal(cell(79_000)), 'read');
  t.equal(await refusal(cell(81_000)), 'MALFORMED_FILE');
  const formula = `<row r="1"><c r="A1"><f>${'<x/>'.repeat(401_000)}</f><v>1</v></c></row>`;
  t.equal(await refusal(workbookOf({ rows: formula })), 'MALFORMED_FILE');
});

test('malformed, encrypted and other files are refused with a code', async (t) => {
  const sound = workbookOf({ rows: ONE });
  t.equal(await refusal(sound), 'read');
  for (let length = 0; length < sound.length; length += 7)
    t.equal(await refusal(sound.subarray(0, length)), 'MALFORMED_FILE');
  t.equal(await refusal(workbookOf({ rows: ONE, entry: { isEncrypted: true } })), 'UNSUPPORTED_FILE_TYPE');
  t.equal(await refusal(workbookOf({ rows: ONE, entry: { method: 12 } })), 'UNSUPPORTED_FILE_TYPE');
  t.equal(await refusal(workbookOf({ rows: ONE, entry: { toldCrc32: 1 } })), 'MALFORMED_FILE');
  t.equal(await refusal(workbookOf({ rows: ONE, entry: { toldBytes: 9 } })), 'MALFORMED_FILE');
  t.equal(await refusal(workbookOf({ rows: ONE, form: { overlaps: true } })), 'MALFORMED_FILE');
  t.equal(await refusal(zipOf([{ name: 'a.csv', content: 'a,b' }])), 'UNSUPPORTED_FILE_TYPE');
  t.equal(
    await refusal(
      zipOf([
        { name: 'a', content: '' },
        { name: 'A', content: '' },
      ]),
    ),
    'MALFORMED_FILE',
  );
  const document = `<!DOCTYPE a [<!ENTITY b "c">]><worksheet><sheetData>${ONE}</sheetData></worksheet>`;
  const sheets = [
    document,
    `<worksheet><sheetData>${ONE}`,
    `<worksheet><sheetData><row></c></row></sheetData></worksheet>`,
    `<worksheet><sheetData><row><c t="str"><v>&b;</v></c></row></sheetData></worksheet>`,
    `<worksheet><sheetData><row><c t="s"><v>0</v></c></row></sheetData></worksheet>`,
    `<worksheet><sheetData><row><c r="XFE1"><v>0</v></c></row></sheetData></worksheet>`,
    `<worksheet><sheetData><row r="3000000000"><c><v>0</v></c></row></sheetData></worksheet>`,
    `${'<a>'.repeat(100)}${'</a>'.repeat(100)}`,
    Buffer.concat([Buffer.from('<worksheet>'), Buffer.of(0xff), Buffer.from('</worksheet>')]),
  ];
  for (const sheet of sheets) t.equal(await refusal(workbookOf({ sheet })), 'MALFORMED_FILE');
});

test('bombs are refused early', { skip: skipUnlessLong }, async (t) => {
  const zeros = `<worksheet><sheetData>${'<row/>'.repeat(20_000_000)}</sheetData></worksheet>`;
  t.equal(await refusal(workbookOf({ sheet: zeros })), 'FILE_TOO_LARGE');
  const cells = `<row>${'<c t="s"><v>0</v></c>'.repeat(16_000)}</row>`;
  t.equal(
    await refusal(workbookOf({ strings: `<si><t>${'x'.repeat(1_000)}</t></si>`, rows: cells.repeat(8) })),
    'FILE_TOO_LARGE',
  );
});

async function refusal(bytes: Uint8Array): Promise<string> {
  try {
    await readSheetOf(inMemory(bytes), () => true);
  } catch (error) {
    if (error instanceof Failed) return error.failure.code;
    throw error;
  }
  return 'read';
}
