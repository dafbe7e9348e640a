// `workbook-writing`: writes 200,000 rows of 12 columns as a workbook, compared with exceljs' stream writer,
// alternating, each in a separate process. template-run also parses the CSV and its columns within the measured time;
// the rows for exceljs exist before.
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { WORKBOOK_COLUMNS, workbookRows } from './inputs/workbook-rows.ts';
import { median } from './median.ts';
import type { Section } from './report/section.ts';
import { printSection } from './report/terminal.ts';

const ROWS = 200_000;
const ROUNDS = 3;
const NUMBERS = ['id', 'amount', 'quantity', 'rank'];
const SELF = fileURLToPath(import.meta.url);
const CLI = fileURLToPath(new URL('../src/cli.js', import.meta.url));

export interface WorkbookWriting {
  readonly rows: number;
  readonly ours: WriterFigures;
  readonly exceljs: WriterFigures;
}

interface WriterRound {
  readonly milliseconds: number;
  /** Size of the workbook. */
  readonly bytes: number;
}

/** Medians, and the time of each round. */
export interface WriterFigures extends WriterRound {
  readonly roundMilliseconds: readonly number[];
}

/** Medians of ROUNDS rounds. */
export function measureWorkbookWriting(rows: number = ROWS, rounds: number = ROUNDS): WorkbookWriting {
  const folder = mkdtempSync(join(tmpdir(), 'template-run-workbooks-'));
  try {
    const source = join(folder, 'rows.csv');
    writeFileSync(source, `${[WORKBOOK_COLUMNS, ...workbookRows(rows)].map((row) => row.join(',')).join('\n')}\n`);
    writeFileSync(join(folder, 'template.json'), JSON.stringify(template()));
    const turns = Array.from({ length: rounds }, () => ({ ours: ours(folder), exceljs: theirs(folder, rows) }));
    const middle = (who: 'ours' | 'exceljs'): WriterFigures => ({
      milliseconds: median(turns.map((turn) => turn[who].milliseconds)),
      roundMilliseconds: turns.map((turn) => turn[who].milliseconds),
      bytes: turns[0]![who].bytes,
    });
    return { rows, ours: middle('ours'), exceljs: middle('exceljs') };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

export function workbookWritingSection({ rows, ours, exceljs }: WorkbookWriting): Section {
  const perSecond = ({ milliseconds }: { readonly milliseconds: number }): number => (rows / milliseconds) * 1000;
  const line = (name: string, figures: WriterFigures): string[] => [
    name,
    perSecond(figures).toFixed(0),
    figures.milliseconds.toFixed(0),
    (figures.bytes / 1e6).toFixed(1),
    (perSecond(ours) / perSecond(figures)).toFixed(2),
  ];
  return {
    name: 'workbook-writing',
    title: 'Writing a workbook',
    columns: ['', 'rows/s', 'ms', 'MB', 'ours / it'],
    rows: [line('template-run', ours), line('exceljs, stream writer', exceljs)],
    notes: [
      `${rows} rows of ${WORKBOOK_COLUMNS.length} columns: seven of texts, four of numbers, one of dates. template-run reads them from a CSV and converts their types within its time; exceljs has them in memory before. Both deflate at level 1.`,
    ],
    chart: {
      unit: 'rows/s',
      better: 'more',
      bars: (
        [
          ['template-run', ours, true],
          ['exceljs, stream writer', exceljs, false],
        ] as const
      ).map(([label, figures, isOurs]) => ({
        label,
        value: perSecond(figures),
        samples: figures.roundMilliseconds.map((milliseconds) => perSecond({ milliseconds })),
        ours: isOurs,
      })),
      limit: null,
    },
  };
}

function template(): object {
  return {
    format: 1,
    operations: [
      { op: 'parse_number', columns: NUMBERS },
      { op: 'parse_date', columns: ['ordered_on'], formats: ['yyyy-MM-dd'] },
    ],
    output: { format: 'xlsx' },
  };
}

/** Time as printed by the command: from the first byte read to the last one written. */
function ours(folder: string): WriterRound {
  const out = join(folder, 'ours.xlsx');
  rmSync(out, { force: true });
  const args = [CLI, 'run', join(folder, 'template.json'), join(folder, 'rows.csv'), '-o', out];
  const { stderr, status } = spawnSync(process.execPath, args, { encoding: 'utf8' });
  const told = / in (\d+) ms/.exec(stderr)?.[1];
  if (status !== 0 || told === undefined) throw new Error(`template-run failed: ${stderr}`);
  return { milliseconds: Number(told), bytes: statSync(out).size };
}

function theirs(folder: string, rows: number): WriterRound {
  const out = join(folder, 'exceljs.xlsx');
  const printed = execFileSync(process.execPath, [SELF, 'exceljs', out, String(rows)], { encoding: 'utf8' });
  return { milliseconds: Number(printed), bytes: statSync(out).size };
}

/** The part of exceljs that a child process uses. */
interface StreamWriter {
  addWorksheet(name: string): { addRow(row: readonly unknown[]): { commit(): void }; commit(): Promise<void> };
  commit(): Promise<void>;
}

interface ExcelJs {
  readonly stream: { readonly xlsx: { readonly WorkbookWriter: new (options: object) => StreamWriter } };
}

/** Number of rows between two returns to the event loop, so that the writer's stream can proceed. */
const ROWS_AT_ONCE = 2_000;

async function writeWithExceljs(out: string, count: number): Promise<void> {
  const { stream } = createRequire(import.meta.url)('exceljs') as ExcelJs;
  const numbers = new Set(NUMBERS.map((name) => WORKBOOK_COLUMNS.indexOf(name)));
  const date = WORKBOOK_COLUMNS.indexOf('ordered_on');
  const rows = workbookRows(count).map((row) =>
    row.map((text, column) => (numbers.has(column) ? Number(text) : column === date ? new Date(text) : text)),
  );
  const began = performance.now();
  // Its fastest settings: no shared strings, and the same compression level as template-run.
  const workbook = new stream.xlsx.WorkbookWriter({
    filename: out,
    useStyles: true,
    useSharedStrings: false,
    zip: { zlib: { level: 1 } },
  });
  const sheet = workbook.addWorksheet('Data');
  sheet.addRow(WORKBOOK_COLUMNS).commit();
  for (const [index, row] of rows.entries()) {
    sheet.addRow(row).commit();
    if (index % ROWS_AT_ONCE === 0) await new Promise((resolve) => setImmediate(resolve));
  }
  await sheet.commit();
  await workbook.commit();
  console.log(performance.now() - began);
}

const [what, out, count] = process.argv.slice(2);
if (process.argv[1] === SELF) {
  if (what === 'exceljs') await writeWithExceljs(out!, Number(count));
  else {
    printSection(workbookWritingSection(measureWorkbookWriting()));
  }
}
