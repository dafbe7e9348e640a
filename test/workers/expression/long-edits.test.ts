// Edits of long texts: how often the evaluation of a row is repeated for them.
import { test } from 'tap';
import { LongEdits } from '../../../workers/expression/compile/long-edits.ts';

/** Repetitions of an evaluation with so many searches in a text of this length. */
function repetitionsOf(searches: number, units: number): number {
  const edits = new LongEdits();
  edits.mayAbort = true;
  for (let repetitions = 0; ; repetitions++) {
    try {
      for (let search = 0; search < searches; search++) {
        edits.made(units, function* () {
          yield;
          return true;
        });
      }
      return repetitions;
    } catch (error) {
      if (!edits.hasAborted(error)) throw error;
      for (const _pause of edits.work());
    }
  }
}

test('many searches in a text of 64 KiB do not repeat the evaluation for each of them', async (t) => {
  t.ok(repetitionsOf(300, 65_537) <= 10, 'a few repetitions');
  t.equal(repetitionsOf(5, 65_537), 5, 'each of a few searches pauses');
});

test('each search in a text of 4 MiB pauses', async (t) => {
  t.equal(repetitionsOf(40, 4 * 1024 * 1024), 40);
});
