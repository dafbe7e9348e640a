// A format that is not part of the product, added with one folder (markdown/) and one line. No other code refers to it.

import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Test, test } from 'tap';
import { inputFormats } from '../../../workers/input/index.ts';
import { FileSource } from '../../../workers/input/source/file-source.ts';
import { compileKernels } from '../../../workers/kernel/bindings/kernel.ts';
import { RUN_RESERVATION_BYTES, unlimitedShare } from '../../../workers/memory/budget.ts';
import { NO_COLLECTOR } from '../../../workers/memory/collector.ts';
import { KernelPool } from '../../../workers/memory/kernel-pool.ts';
import type { OutputFormat } from '../../../workers/output/format.ts';
import { templateLanguage } from '../../../workers/plan/plan.ts';
import { PreparedTemplate } from '../../../workers/plan/template-cache.ts';
import type { RunTask } from '../../../workers/protocol/messages.ts';
import { headForParts } from '../../../workers/run/split.ts';
import { runCoroutine } from '../../../workers/scheduling/coroutine.ts';
import { TemplateChecker } from '../../../workers/template/check.ts';
import type { TemplateLanguage } from '../../../workers/template/language.ts';
import { templateReference } from '../../../workers/template/reference.ts';
import { publishedSchema } from '../../../workers/template/schema.ts';
import type { Template } from '../../../workers/template/template.ts';
import { applyTemplate } from '../apply-template.ts';
import { markdown } from './markdown/markdown.ts';

const INPUT = 'name;amount;on;note\n"a ""b""";1,50;01.02.2024;NA\nc;-2;31.12.1999;"x;y"\n';
const OPERATIONS = [
  { op: 'parse_number', columns: ['amount'], decimal: ',' },
  { op: 'parse_date', columns: ['on'], formats: ['dd.MM.yyyy'] },
];
const ROWS = ['| a "b" | 1.50 | 2024-02-01 | - |\n', '| c | -2 | 1999-12-31 | x;y |\n'] as const;
const HEAD = '| name | amount | on | note |\n|---|---|---|---|\n';

function languageWith(format: OutputFormat): TemplateLanguage {
  const outputFormats = new Map([...templateLanguage.outputFormats, [format.name, format]]);
  return { ...templateLanguage, outputFormats };
}

const language = languageWith(markdown);

function check(template: object, spoken = language) {
  return new TemplateChecker(spoken).check(JSON.stringify({ format: 1, ...template }), 'json');
}

function sound(template: object, spoken = language): Template {
  const checked = check(template, spoken);
  if ('problems' in checked) throw new Error(JSON.stringify(checked.problems));
  return checked.template;
}

test('a Run writes it, for all kinds of columns and sizes of batches', async (t) => {
  const template = {
    input: { null_values: ['', 'NA'] },
    operations: OPERATIONS,
    output: { format: 'markdown' },
  };
  for (const rows of [1, 2, 4096]) {
    const { text, outcome } = await applyTemplate(template, INPUT, rows, {}, { language });
    t.equal(text, HEAD + ROWS.join(''), `batches of ${rows}`);
    t.match(outcome.output, { mimeType: 'text/markdown', ending: 'md' });
    t.match(outcome.report, { rows_written: 2, output: { formulas_guarded: 0 } });
  }
  const sorted = { ...template, operations: [...OPERATIONS, { op: 'sort', by: [{ column: 'on' }] }] };
  const { text } = await applyTemplate(sorted, INPUT, 1, {}, { language });
  t.equal(text, HEAD + ROWS.toReversed().join(''), 'a sort at the end has batches to hand on, not bytes');
  const settings = { format: 'markdown', columns: ['note'], markdown: { null: 'none' } };
  const chosen = await applyTemplate({ ...template, output: settings }, INPUT, 4096, {}, { language });
  t.equal(chosen.text, '| note |\n|---|\n| none |\n| x;y |\n');
});

test('the language has its name and its settings', async (t) => {
  const { output } = (publishedSchema(language) as { properties: Record<string, { properties: object }> }).properties;
  t.match(output!.properties, {
    format: { enum: ['csv', 'tsv', 'xlsx', 'json', 'ndjson', 'parquet', 'markdown'] },
    markdown: { properties: { null: { type: 'string' } }, additionalProperties: false },
  });
  t.match(templateReference(language), '`output.markdown.null`');
  const problems = (output: object, operations: readonly object[] = []) => check({ output, operations });
  t.match(problems({ format: 'markdown', markdown: { nul: '' } }), { problems: [{ pointer: '/output/markdown/nul' }] });
  const bar = { problems: [{ pointer: '/output/markdown/null', code: 'BAD_VALUE' }] };
  t.match(problems({ format: 'markdown', markdown: { null: '|' } }), bar);
  t.match(problems({ format: 'csv', markdown: { null: '|' } }), bar, 'a mistake also where it does not show');
  const named = [{ op: 'select', columns: ['a|b'] }];
  t.match(problems({ format: 'markdown' }, named), { problems: [{ pointer: '/output/markdown' }] });
  t.ok('template' in problems({ format: 'csv' }, named), 'the columns concern the format of the output alone');
  const unknown = check({ output: { format: 'markdown' } }, templateLanguage);
  t.match(unknown, { problems: [{ pointer: '/output/format' }] }, 'without its line nobody knows it');
});

test('a large file is done in parts where the format says that they can be joined', async (t) => {
  const whole: typeof markdown = {
    ...markdown,
    file: (settings) => ({ ...markdown.file(settings), splittable: false }),
  };
  t.equal(await isSplit(t, language), true);
  t.equal(await isSplit(t, languageWith(whole)), false);
});

/** True if a file is processed in parts. */
async function isSplit(t: Test, spoken: TemplateLanguage): Promise<boolean> {
  const folder = mkdtempSync(join(tmpdir(), 'output-format-'));
  t.teardown(() => rmSync(folder, { recursive: true }));
  const path = join(folder, 'rows.csv');
  writeFileSync(path, `a,b\n${'1,2\n'.repeat(500)}`);
  const prepared = new PreparedTemplate(sound({ output: { format: 'markdown' } }, spoken), spoken);
  const task: RunTask = {
    task: 1,
    template: { source: '', format: 'json', sha256: '' },
    source: { kind: 'file', path },
    ending: 'csv',
    overrides: { delimiter: null, headerRow: null },
    limits: { rowsMax: null, outputRowsMax: null, outputBytesMax: null, inflatedBytesMax: null },
    output: { path: join(folder, 'out'), memoryBytesMax: 0 },
    spillDirectory: join(folder, 'spill'),
    tables: {},
    secretsDirectory: null,
    startedAt: '2026-01-31T12:00:00Z',
    reservationBytes: RUN_RESERVATION_BYTES,
  };
  const source = new FileSource(path);
  source.grown(statSync(path).size, true);
  t.teardown(() => source.close());
  const head = headForParts({
    task,
    prepared,
    source,
    kernels: new KernelPool(compileKernels(), unlimitedShare(), NO_COLLECTOR),
    budget: unlimitedShare(),
    largeRow: new Int32Array(new SharedArrayBuffer(4)),
    largeRowOwner: 1,
    formats: inputFormats,
    cancelled: () => false,
    beat: () => undefined,
  });
  return (await runCoroutine(head)) !== null;
}
