// If LibreOffice is installed, it opens a workbook of ours and converts it to CSV and to PDF, which show what LibreOffice
// displays.
import { spawnSync } from 'node:child_process';
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'tap';
import { applyTemplate } from '../apply-template.ts';

const NO_OFFICE = spawnSync('soffice', ['--version']).status === 0 ? false : 'LibreOffice (soffice) is not installed';

/** Numbers of LibreOffice's CSV filter: comma, quotes, UTF-8, from row 1, cells as shown. */
const CSV = 'csv:Text - txt - csv (StarCalc):44,34,76,1,,0,false,true';
const START_MILLISECONDS_MAX = 200_000;

test('LibreOffice reads a workbook and shows it', { skip: NO_OFFICE, timeout: 240_000 }, async (t) => {
  const operations = [{ op: 'cast', columns: { n: 'decimal', b: 'boolean', d: 'date', z: 'datetime' } }];
  const xlsx = { freeze_header: true, autofilter: true, number_format: { n: '#,##0.00', d: 'dd.mm.yyyy' } };
  const input =
    't,n,b,d,z\n007,1234.5,true,2026-01-31,2026-01-31T13:05:00Z\n=1+1,-0.25,false,1900-03-01,1999-12-31T00:00:00Z\n"ä <&> 😀",12345678901234567890,,1900-02-28,\n';
  const { bytes } = await applyTemplate({ operations, output: { format: 'xlsx', xlsx } }, input);
  const folder = t.testdir();
  writeFileSync(join(folder, 'made.xlsx'), bytes!);
  for (const form of [CSV, 'pdf']) {
    const args = [
      '--headless',
      `-env:UserInstallation=file://${folder}/profile`,
      '--convert-to',
      form,
      '--outdir',
      folder,
    ];
    const { status, stderr } = spawnSync('soffice', [...args, join(folder, 'made.xlsx')], {
      encoding: 'utf8',
      timeout: START_MILLISECONDS_MAX,
    });
    t.equal(status, 0, stderr);
  }
  t.equal(
    readFileSync(join(folder, 'made.csv'), 'utf8'),
    't,n,b,d,z\n007,"1,234.50",TRUE,31.01.2026,2026-01-31 13:05:00\n=1+1,-0.25,FALSE,01.03.1900,1999-12-31 00:00:00\n' +
      'ä <&> 😀,12345678901234567890,,1900-02-28,\n',
  );
  t.ok(statSync(join(folder, 'made.pdf')).size > 5_000);
});
