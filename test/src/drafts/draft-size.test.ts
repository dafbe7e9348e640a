// What a draft of a large sample takes of the disk and of the heap.
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'tap';
import { runsOf } from '../../../src/commands/template-draft.ts';
import { templateText } from '../../../src/drafts/sample-run.ts';
import { withEngine } from './draft-proof.ts';

test('one output of a sample stands on the disk at a time', async (t) => {
  const folder = t.testdir({});
  const sample = join(folder, 'sample.csv');
  // Larger than an output that stays in memory.
  writeFileSync(sample, `name,amount\n${'a text of some length,1.50\n'.repeat(100_000)}`);
  const temporary = join(folder, 'temporary');
  mkdirSync(temporary);
  const before = process.env['TMPDIR'];
  process.env['TMPDIR'] = temporary;
  t.teardown(() => {
    if (before === undefined) delete process.env['TMPDIR'];
    else process.env['TMPDIR'] = before;
  });
  await withEngine(async (engine) => {
    const run = runsOf(engine, sample);
    for (let round = 1; round <= 3; round++) {
      await run(templateText('operations: []\noutput: {format: csv}\n', 'yaml'));
      const files = readdirSync(temporary, { recursive: true, encoding: 'utf8' });
      t.equal(files.filter((name) => name.endsWith('.output')).length, 1, `round ${round}`);
    }
  });
});
