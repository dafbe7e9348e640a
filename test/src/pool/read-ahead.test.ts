// Large local files with a second thread that reads ahead, beside one thread alone: the same bytes, report and failure.
// With all tests only: work and memory of large inputs.
import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'tap';
import { LocalEngine } from '../../../src/commands/local-engine.ts';
import { skipUnlessLong } from '../../sweep.ts';

const FILE_BYTES = 80_000_000;

/** Rows with quotes, line breaks within them, letters of several bytes and rows that are too short. */
function largeText(): string {
  const rows = Array.from({ length: 2_000 }, (_, row) => {
    const name = row % 7 === 0 ? `"Ünal, ""${row}""\nBerlin"` : `name ${row}`;
    return row % 31 === 0 ? `${row},${name}\n` : `${row},${name},${(row * 7919) % 1000}.50,x${row % 13}\n`;
  }).join('');
  return `id,name,amount,group\n${rows.repeat(Math.ceil(FILE_BYTES / rows.length))}`;
}

const TEMPLATES: readonly object[] = [
  {
    operations: [
      { op: 'text', columns: ['name'], steps: ['trim', 'upper'] },
      { op: 'parse_number', columns: ['amount'] },
      { op: 'filter', where: 'amount > 100.0' },
    ],
  },
  {
    operations: [
      { op: 'parse_number', columns: ['amount'] },
      {
        op: 'aggregate',
        group_by: ['group'],
        metrics: [
          { fn: 'count', as: 'rows' },
          { fn: 'sum', column: 'amount', as: 'total' },
        ],
      },
    ],
  },
];

interface Done {
  readonly failure: { readonly code: string } | null;
  readonly report: object;
  readonly output: string | null;
}

async function run(template: object, path: string, cores: number): Promise<Done> {
  const source = JSON.stringify({ format: 1, ...template });
  const engine = new LocalEngine({
    threads: 1,
    cores,
    inputs: 1,
    memoryBudgetBytes: 256 * 1024 * 1024,
    template: { source, format: 'json', sha256: createHash('sha256').update(source).digest('hex') },
    tables: {},
    secretsDirectory: null,
    overrides: { delimiter: null, headerRow: null },
  });
  try {
    const { outcome, outputPath } = await engine.run(path);
    const { failure, report, output } = outcome;
    if (failure === null && output === null) throw new Error('neither an output nor a failure');
    if (failure === null && engine.progress.bytes !== statSync(path).size)
      throw new Error('not all bytes were counted');
    const bytes = output && (output.bytes ?? readFileSync(outputPath));
    return { failure, report, output: bytes && createHash('sha256').update(bytes).digest('hex') };
  } finally {
    await engine.close();
  }
}

test('a large file, read ahead and alone', { skip: skipUnlessLong }, async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'read-ahead-'));
  t.teardown(() => rmSync(folder, { recursive: true }));
  const path = join(folder, 'large.csv');
  const text = largeText();
  for (const [what, file, failure] of [
    ['a sound file', text, undefined],
    ['a file with an open quote at its end', `${text}1,"open`, 'MALFORMED_FILE'],
  ] as const) {
    writeFileSync(path, file);
    for (const template of TEMPLATES) {
      const alone = await run(template, path, 1);
      t.strictSame(alone.failure?.code, failure, what);
      t.strictSame(await run(template, path, 2), alone, what);
    }
  }
});
