// The versions of the text: what is typed in a line is one of them, and the editor's own undo moves between them.
import { test } from 'tap';
import { TextHistory } from '../../../../src/studio/page/text-history.ts';

const labelsOf = ({ versions }: TextHistory): readonly string[] => versions.value.map(({ label }) => label);

test('what is typed in one line is one version', async (t) => {
  const history = new TextHistory('a\nb');
  history.note('ax\nb', null);
  history.note('axy\nb', null);
  history.note('axy\nbz', null);
  t.strictSame(labelsOf(history), ['Start', 'Type in line 1', 'Type in line 2']);
  t.equal(history.versions.value[1]!.text, 'axy\nb');
  // Undo in the editor leads to the version before.
  history.note('axy\nb', null);
  t.equal(history.current.value, 1);
  t.ok(history.canRedo.value);
});

test('a version that the user goes back to is not overwritten by typing', async (t) => {
  const history = new TextHistory('a\nb');
  history.note('ax\nb', null);
  history.note('c', 'Add a step');
  history.current.value = 1;
  history.note('axy\nb', null);
  t.strictSame(
    history.versions.value.map(({ text }) => text),
    ['a\nb', 'ax\nb', 'axy\nb'],
  );
  t.equal(history.current.value, 2);
});

test('old versions are forgotten, and the newest one stays', async (t) => {
  const history = new TextHistory('0');
  for (let change = 1; change <= 500; change++) history.note(String(change), `Change ${change}`);
  t.ok(history.versions.value.length < 500);
  t.equal(history.versions.value[history.current.value]!.text, '500');
});
