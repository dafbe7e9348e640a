// Measures how long the studio takes to show the affected rows after an edit: the demo Template on its statement, each
// time with a changed text.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { OpenedFiles } from '../src/studio/opened-files.ts';
import { StudioSession } from '../src/studio/studio-session.ts';
import { TemplateStore } from '../src/studio/template-store.ts';
import { WatchThread } from '../src/studio/watch-thread.ts';
import { makeStatement } from './inputs/statement.ts';
import { median } from './median.ts';
import type { Progress } from './progress.ts';
import type { Section } from './report/section.ts';

const TEMPLATE = 'examples/catalog/templates/demo/bank-statement.yaml';
const MEMORY_BUDGET_BYTES = 512 * 1024 * 1024;

/** Samples, and their target for an edit: the median in milliseconds. */
const SAMPLES = [
  { name: '10,000 rows', bytes: 1_150_000, goal: 150 },
  { name: '16 MiB', bytes: 16 * 1024 * 1024 - 65_536, goal: 300 },
] as const;

/** The step of the Template whose rows are shown. At this step, amounts are numbers. */
const STEP = 8;

/** Number of rows that the page requests at once. */
const PAGE_ROWS = 100;

/** Minimum number of edits: a median of a few is not meaningful. */
const EDITS_MIN = 11;

/** Number of edits before the first measured one, until the thread's code is compiled: an author edits for minutes. */
const WARM_EDITS = 12;

export interface StudioBench {
  readonly folder: string;
  readonly rounds: number;
  readonly progress: Progress;
}

export async function benchStudio({ folder, rounds, progress }: StudioBench): Promise<Section> {
  const lines: (readonly string[])[] = [];
  for (const { name, bytes, goal } of SAMPLES) {
    progress.show(`studio: ${name}`);
    const samplePath = join(folder, `studio-${bytes}.csv`);
    makeStatement(samplePath, bytes);
    const measured = await measureEdits(samplePath, Math.max(EDITS_MIN, rounds));
    const { rows, milliseconds, wholeMilliseconds, processorMilliseconds } = measured;
    const sorted = [...milliseconds].sort((a, b) => a - b);
    lines.push(
      [
        name,
        rows,
        median(sorted),
        sorted[0]!,
        sorted.at(-1)!,
        goal,
        median(wholeMilliseconds),
        processorMilliseconds,
      ].map((cell) => (typeof cell === 'number' ? String(Math.round(cell)) : cell)),
    );
  }
  return {
    name: 'studio',
    title: 'The studio: time from an edit to its rows',
    columns: ['Sample', 'rows', 'p50 ms', 'min', 'max', 'goal', 'whole p50 ms', 'processor ms'],
    rows: lines,
    notes: [
      'Time from the changed text to a page of rows after the chosen step, and (whole) until counts and profiles describe the whole sample. Without the browser, with the demo Template of a bank statement.',
    ],
    chart: null,
  };
}

interface MeasuredEdits {
  readonly rows: number;
  /** Time until the rows are available. */
  readonly milliseconds: readonly number[];
  /** Time until the whole sample has been read. */
  readonly wholeMilliseconds: readonly number[];
  /** Average per edit, in all threads. Reliable on a busy machine, too. */
  readonly processorMilliseconds: number;
}

async function measureEdits(samplePath: string, edits: number): Promise<MeasuredEdits> {
  const source = readFileSync(TEMPLATE, 'utf8');
  const thread = new WatchThread({
    memoryBudgetBytes: MEMORY_BUDGET_BYTES,
    secretsDirectory: null,
    onProgress: () => {},
  });
  try {
    const session = new StudioSession({
      templatePath: TEMPLATE,
      format: 'yaml',
      samplePath,
      files: new OpenedFiles({}),
      store: new TemplateStore(TEMPLATE, ''),
      thread,
      openThread: () => {
        throw new Error('no sample is large here');
      },
      onFault: (fault) => {
        throw fault;
      },
      runTest: () => Promise.reject(new Error('no test is made here')),
      draft: () => Promise.reject(new Error('no draft is made here')),
      newDraft: () => Promise.resolve(''),
      draftPercent: () => 0,
      runWhole: () => Promise.reject(new Error('no output is made here')),
    });
    const milliseconds: number[] = [];
    const wholeMilliseconds: number[] = [];
    let rows = 0;
    let begun = process.cpuUsage();
    for (let edit = -WARM_EDITS; edit < edits; edit++) {
      if (edit === 0) begun = process.cpuUsage();
      const start = performance.now();
      const request = { asked: null, source: `${source}# ${edit}\n`, step: STEP, whole: false, hasRows: true };
      // Sends the same requests as the page: for the head, for its rows, and immediately for the rest.
      const head = await session.evaluate({ ...request, head: true });
      const asked = session.rows({ step: STEP, filter: 'all', from: 0, count: PAGE_ROWS });
      const rest = session.evaluate({ ...request, head: false });
      const shown = await asked;
      const shownAt = performance.now();
      const { watched } = await rest;
      if (!head.isHead || shown?.rows.length !== PAGE_ROWS || watched === null) throw new Error('no rows are shown');
      rows = watched.rowsRead;
      if (edit < 0) continue;
      milliseconds.push(shownAt - start);
      wholeMilliseconds.push(performance.now() - start);
    }
    const { user, system } = process.cpuUsage(begun);
    return { rows, milliseconds, wholeMilliseconds, processorMilliseconds: (user + system) / 1000 / edits };
  } finally {
    await thread.close();
  }
}
