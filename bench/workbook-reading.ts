// `workbook-reading`: converts workbooks of 200,000 rows and 12 columns to CSV, compared with exceljs' stream reader,
// which only iterates over the cells. Alternating, each in a separate process. One workbook has its texts in the cells,
// the other uses shared strings.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { WORKBOOK_COLUMNS, workbookRows } from './inputs/workbook-rows.ts';
import { median } from './median.ts';
import type { Section } from './report/section.ts';
import { printSection } from './report/terminal.ts';

const ROWS = 200_000;
const ROUNDS = 5;
const SELF = fileURLToPath(import.meta.url);
const CLI = fileURLToPath(new URL('../src/cli.js', import.meta.url));
const KINDS = ['inline texts', 'shared texts'] as const;

/** Preloaded module that prints the peak memory of a process at its exit, in KiB. Threads print it, too. */
const TELL_PEAK =
  'data:text/javascript,process.on("exit",()=>process.stderr.write("peak "+process.resourceUsage().maxRSS+"\\n"))';

interface ReaderRound {
  readonly milliseconds: number;
  readonly peakKibibytes: number;
}

/** Medians, and the time of each round. */
export interface ReaderFigures extends ReaderRound {
  readonly roundMilliseconds: readonly number[];
}

export interface WorkbookReading {
  readonly rows: number;
  readonly kinds: readonly { readonly kind: string; readonly ours: ReaderFigures; readonly exceljs: ReaderFigures }[];
}

/** Medians over the rounds. Throws if a cell of the CSV differs from the rows. */
export function measureWorkbookReading(rows: number = ROWS, rounds: number = ROUNDS): WorkbookReading {
  const folder = mkdtempSync(join(tmpdir(), 'template-run-workbooks-'));
  try {
    writeFileSync(join(folder, 'template.json'), JSON.stringify({ format: 1, operations: [] }));
    const kinds = KINDS.map((kind) => {
      const path = join(folder, `${kind}.xlsx`);
      start([SELF, 'make', path, String(rows), kind]);
      const turns = Array.from({ length: rounds }, () => ({
        ours: ours(folder, path, rows),
        exceljs: theirs(path, rows),
      }));
      const middle = (who: 'ours' | 'exceljs'): ReaderFigures => ({
        milliseconds: median(turns.map((turn) => turn[who].milliseconds)),
        roundMilliseconds: turns.map((turn) => turn[who].milliseconds),
        peakKibibytes: median(turns.map((turn) => turn[who].peakKibibytes)),
      });
      return { kind, ours: middle('ours'), exceljs: middle('exceljs') };
    });
    return { rows, kinds };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

export function workbookReadingSection({ rows, kinds }: WorkbookReading): Section {
  const perSecond = ({ milliseconds }: { readonly milliseconds: number }): number => (rows / milliseconds) * 1000;
  const table = kinds.flatMap(({ kind, ours, exceljs }) =>
    (
      [
        [`template-run, ${kind}`, ours],
        [`exceljs, stream reader, ${kind}`, exceljs],
      ] as const
    ).map(([name, figures]) => ({ name, figures, ratio: perSecond(ours) / perSecond(figures) })),
  );
  return {
    name: 'workbook-reading',
    title: 'Reading a workbook',
    columns: ['', 'rows/s', 'ms', 'peak MB', 'ours / it'],
    rows: table.map(({ name, figures, ratio }) => [
      name,
      perSecond(figures).toFixed(0),
      figures.milliseconds.toFixed(0),
      (figures.peakKibibytes / 1000).toFixed(0),
      ratio.toFixed(2),
    ]),
    notes: [
      `${rows} rows of ${WORKBOOK_COLUMNS.length} columns of texts and numbers. template-run writes them to a CSV within its time; exceljs only iterates over the cells.`,
    ],
    chart: {
      unit: 'rows/s',
      better: 'more',
      bars: table.map(({ name, figures }) => ({
        label: name,
        value: perSecond(figures),
        samples: figures.roundMilliseconds.map((milliseconds) => perSecond({ milliseconds })),
        ours: name.startsWith('template-run'),
      })),
      limit: null,
    },
  };
}

/** Time as printed by the command: from the first byte read to the last one written. */
function ours(folder: string, path: string, rows: number): ReaderRound {
  const out = join(folder, 'out.csv');
  rmSync(out, { force: true });
  const { stderr, peakKibibytes } = start([CLI, 'run', join(folder, 'template.json'), path, '-o', out]);
  const told = / in (\d+) ms/.exec(stderr)?.[1];
  const expected = [WORKBOOK_COLUMNS, ...workbookRows(rows)].map((row) => `${row.join(',')}\n`).join('');
  // Numbers are written in their shortest form.
  const isEqual = readFileSync(out, 'utf8').length === expected.replace(/\.?0+(?=,\d+,SKU)/g, '').length;
  if (told === undefined || !isEqual) throw new Error(`template-run gave another answer: ${stderr}`);
  return { milliseconds: Number(told), peakKibibytes };
}

function theirs(path: string, rows: number): ReaderRound {
  const { stdout, peakKibibytes } = start([SELF, 'read', path]);
  const [milliseconds, cells] = stdout.split(' ').map(Number);
  if (cells !== (rows + 1) * WORKBOOK_COLUMNS.length) throw new Error('exceljs found another number of cells');
  return { milliseconds: milliseconds!, peakKibibytes };
}

interface Ended {
  readonly stdout: string;
  readonly stderr: string;
  readonly peakKibibytes: number;
}

function start(args: readonly string[]): Ended {
  const { stdout, stderr, status } = spawnSync(process.execPath, ['--import', TELL_PEAK, ...args], {
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(`${args.join(' ')} failed: ${stderr}`);
  const peaks = [...stderr.matchAll(/^peak (\d+)$/gm)].map(([, peak]) => Number(peak));
  return { stdout, stderr, peakKibibytes: Math.max(...peaks) };
}

/** The part of exceljs that the child processes use. */
interface ExcelJs {
  readonly stream: {
    readonly xlsx: {
      readonly WorkbookWriter: new (options: object) => StreamWriter;
      readonly WorkbookReader: new (
        path: string,
        options: object,
      ) => AsyncIterable<AsyncIterable<{ values: unknown[] }>>;
    };
  };
}

interface StreamWriter {
  addWorksheet(name: string): { addRow(row: readonly unknown[]): { commit(): void }; commit(): Promise<void> };
  commit(): Promise<void>;
}

const { stream } = createRequire(import.meta.url)('exceljs') as ExcelJs;
const NUMBERS: ReadonlySet<string> = new Set(['id', 'amount', 'quantity', 'rank']);

async function make(path: string, count: number, kind: string): Promise<void> {
  const useSharedStrings = kind === 'shared texts';
  const workbook = new stream.xlsx.WorkbookWriter({ filename: path, useSharedStrings });
  const sheet = workbook.addWorksheet('Data');
  sheet.addRow(WORKBOOK_COLUMNS).commit();
  for (const row of workbookRows(count)) {
    sheet.addRow(row.map((text, column) => (NUMBERS.has(WORKBOOK_COLUMNS[column]!) ? Number(text) : text))).commit();
  }
  await sheet.commit();
  await workbook.commit();
}

async function read(path: string): Promise<void> {
  const began = performance.now();
  let cells = 0;
  const options = { sharedStrings: 'cache', styles: 'cache', worksheets: 'emit', hyperlinks: 'ignore' };
  for await (const sheet of new stream.xlsx.WorkbookReader(path, options)) {
    for await (const { values } of sheet) for (const value of values) if (value !== undefined) cells += 1;
  }
  console.log(`${performance.now() - began} ${cells}`);
}

const [what, path, count, kind] = process.argv.slice(2);
if (process.argv[1] === SELF) {
  if (what === 'make') await make(path!, Number(count), kind!);
  else if (what === 'read') await read(path!);
  else printSection(workbookReadingSection(measureWorkbookReading()));
}
