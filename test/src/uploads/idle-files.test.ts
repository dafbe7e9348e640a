// Spool files between two uploads, on a real disk.
import { closeSync, existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { andThen } from '../../../src/collections/maybe-promise.ts';
import { IdleFiles } from '../../../src/uploads/idle-files.ts';
import { until } from '../../blackbox/client.ts';

const ROOMY = 1e12;

interface SpoolFolder {
  readonly folder: string;
  readonly files: IdleFiles;
  /** Writes a file as an upload does; its path. */
  readonly write: (name: string, text: string) => { readonly path: string; readonly oldBytes: number };
}

function spoolFolder(t: Test, freeBytes: () => number | Promise<number>): SpoolFolder {
  const folder = mkdtempSync(join(tmpdir(), 'template-run-idle-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  const files = new IdleFiles({ space: () => andThen(freeBytes(), (bytes) => ({ freeBytes: bytes })) }, (fault) =>
    t.fail(String(fault)),
  );
  const write: SpoolFolder['write'] = (name, text) => {
    const path = join(folder, name);
    const { descriptor, oldBytes } = files.open(path);
    writeSync(descriptor, text, 0);
    closeSync(descriptor);
    return { path, oldBytes };
  };
  return { folder, files, write };
}

t.test('an upload writes over the file of the one before, and leaves nothing of it', async (t) => {
  const { files, write } = spoolFolder(t, () => ROOMY);
  const first = write('first', 'a long upload');
  const { ino, mode } = statSync(first.path);
  t.strictSame([first.oldBytes, mode & 0o777], [0, 0o600]);
  await files.give(first.path, 13, 0);
  t.ok(existsSync(first.path), 'it waits');
  const second = write('second', 'short');
  t.strictSame([statSync(second.path).ino, second.oldBytes, existsSync(first.path)], [ino, 13, false]);
  await files.give(second.path, 5, 13);
  t.equal(readFileSync(second.path, 'utf8'), 'short', 'the end of the first one is cut off');
  const [third, fourth] = [write('third', 'x'), write('fourth', 'y')];
  t.strictSame([third.oldBytes, fourth.oldBytes], [5, 0], 'one upload, one file');
  t.not(statSync(third.path).ino, statSync(fourth.path).ino);
});

t.test('what nobody takes goes by itself', async (t) => {
  const { files, write } = spoolFolder(t, () => ROOMY);
  const { path } = write('one', 'text');
  await files.give(path, 4, 0);
  t.ok(existsSync(path));
  t.notOk(
    await until(
      async () => existsSync(path),
      (exists) => !exists,
    ),
  );
  t.equal(write('two', 'text').oldBytes, 0, 'and is not given again');
});

t.test('a full disk, or one that cannot be asked, keeps nothing', async (t) => {
  const answers: (() => number | Promise<number>)[] = [
    () => 16 * 4 - 1,
    () => {
      throw new Error('no disk');
    },
    () => Promise.reject(new Error('no disk')),
  ];
  for (const freeBytes of answers) {
    const { files, write } = spoolFolder(t, freeBytes);
    const { path } = write('one', 'text');
    await files.give(path, 4, 0);
    t.notOk(existsSync(path));
  }
  const { files, write } = spoolFolder(t, () => 16 * 4);
  const [one, two] = [write('one', 'text'), write('two', 'text')];
  await files.give(one.path, 4, 0);
  await files.give(two.path, 4, 0);
  t.strictSame([existsSync(one.path), existsSync(two.path)], [true, false], 'a sixteenth, all together');
});

t.test('a folder that somebody empties costs nobody an upload; closing empties it', async (t) => {
  const { folder, files, write } = spoolFolder(t, () => ROOMY);
  const { path } = write('one', 'text');
  await files.give(path, 4, 0);
  rmSync(path);
  const two = write('two', 'text');
  t.equal(two.oldBytes, 0);
  rmSync(two.path);
  await files.give(two.path, 3, 4);
  await files.give(write('again', 'text').path, 4, 0);
  await files.close();
  t.notOk(existsSync(join(folder, 'again')));
  const three = write('three', 'text');
  await files.give(three.path, 4, 0);
  t.notOk(existsSync(three.path), 'nothing is kept any more');
});
