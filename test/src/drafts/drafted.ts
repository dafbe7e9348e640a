// The lines of a draft for a given sample, without indentation. Checks that a second draft is the same.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Test } from 'tap';
import { checkTemplate } from '../../../workers/plan/template-cache.ts';
import { cli } from '../commands/command-line.ts';

export async function drafted(t: Test, sample: string, name = 'sample.csv'): Promise<string[]> {
  const path = join(t.testdir({}), name);
  writeFileSync(path, sample);
  const { status, stdout, stderr } = await cli('template', 'draft', path);
  t.equal(status, 0, stderr);
  const again = await cli('template', 'draft', path);
  t.equal(again.stdout, stdout, 'the same file gives the same draft');
  t.notOk('problems' in checkTemplate(stdout, 'yaml'), 'it checks');
  return stdout.split('\n').map((line) => line.trim());
}
