// The progress of a draft: it never decreases, covers each part of the work, and ends when the draft arrives.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'tap';
import { draftOf } from '../../../src/commands/template-draft.ts';
import { DraftProgress } from '../../../src/drafts/draft-progress.ts';

class Recorded extends DraftProgress {
  readonly percents: number[] = [];

  override profiled(share: number): void {
    super.profiled(share);
    this.percents.push(this.percent);
  }
}

test('a draft reports its progress', async (t) => {
  const path = join(t.testdir({}), 'sample.csv');
  writeFileSync(path, `name,amount\n${'Ada,"1.234,50"\n'.repeat(20_000)}`);
  const progress = new Recorded();
  t.equal(progress.percent, 0);
  t.match(await draftOf({ path, progress }), 'parse_number');
  const { percents } = progress;
  t.ok(percents.length > 10, `${percents.length} reports`);
  t.strictSame(
    percents,
    [...percents].sort((one, other) => one - other),
    'it never goes back',
  );
  t.ok(percents[0]! >= 15 && percents[0]! < 25, 'the sample has been read');
  t.equal(percents.at(-1), 70, 'only the proof is left');
  t.equal(progress.percent, 99, 'everything is done');
});
