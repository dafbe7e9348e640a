// The engine as a library: paths, bytes and streams in and out, and what is refused.
import { execFileSync, spawn } from 'node:child_process';
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable, Writable } from 'node:stream';
import { text as textOf } from 'node:stream/consumers';
import t from 'tap';
import { RunRefusedError, runTemplate, TemplateRefusedError } from '../../../src/library/run-template.ts';
import { PICK } from '../../blackbox/catalog-folder.ts';
import { skipUnlessLong } from '../../sweep.ts';

const folder = mkdtempSync(join(tmpdir(), 'template-run-library-'));
t.teardown(() => rmSync(folder, { recursive: true, force: true }));

const FILE = 'id;amount\n1;2\n';
const OUTPUT = 'id,total\n1,2\n';

function collected(): { readonly sink: Writable; text(): string } {
  const pieces: Buffer[] = [];
  const sink = new Writable({
    write(piece: Buffer, _encoding, done) {
      pieces.push(piece);
      done();
    },
  });
  return { sink, text: () => Buffer.concat(pieces).toString() };
}

t.test(
  'a path, bytes and a stream give the same output, to a path and to a stream',
  { skip: skipUnlessLong },
  async (t) => {
    const path = join(folder, 'orders.csv');
    writeFileSync(path, FILE);
    for (const source of [path, Buffer.from(FILE), Readable.from([Buffer.from(FILE)])]) {
      const { sink, text } = collected();
      const { rowsWritten, truncated, report } = await runTemplate(PICK, source, sink);
      t.equal(text(), OUTPUT);
      t.match({ rowsWritten, truncated }, { rowsWritten: 1, truncated: false });
      t.equal(report.input.delimiter, ';');
    }
    const output = join(folder, 'output.csv');
    await runTemplate(JSON.stringify(PICK), path, output);
    t.equal(readFileSync(output, 'utf8'), OUTPUT);
    t.strictSame(readdirSync(folder).sort(), ['orders.csv', 'output.csv'], 'nothing else is left');
  },
);

t.test('a Template in YAML, a delimiter, and the ending of a source without a name', async (t) => {
  const { sink, text } = collected();
  const yaml = 'format: 1\nname: All\noperations: []\noutput: {format: csv}\n';
  await runTemplate(yaml, Buffer.from('a,b;c\n1,2;3\n'), sink, { delimiter: ';', ending: 'csv', headerRow: 0 });
  t.equal(text(), '"a,b",c\n"1,2",3\n');
});

t.test('rejected rows go where they are wanted', { skip: skipUnlessLong }, async (t) => {
  const strict = {
    format: 1,
    name: 'Strict',
    operations: [{ op: 'parse_number', columns: ['amount'], on_error: 'reject' }],
  };
  const source = Buffer.from('id,amount\n1,2\n3,no number\n');
  const [output, rejects] = [collected(), collected()];
  const { rowsWritten } = await runTemplate(strict, source, output.sink, { rejects: rejects.sink });
  t.equal(rowsWritten, 1);
  t.equal(output.text(), 'id,amount\n1,2\n');
  t.match(rejects.text(), /NOT_A_NUMBER.*3,no number/);
  const { report } = await runTemplate(strict, source, collected().sink);
  t.equal(report.rejects?.rows, 1, 'without a place they are counted');
});

t.test('what is refused says why', async (t) => {
  const { sink } = collected();
  const unsound = await runTemplate('format: 1\noperations: [{nonsense: {}}]\n', Buffer.from(FILE), sink).catch(
    (e) => e,
  );
  t.ok(unsound instanceof TemplateRefusedError && unsound.problems.length > 0, String(unsound));
  const lacking = await runTemplate(PICK, Buffer.from('id\n1\n'), sink).catch((e) => e);
  t.ok(lacking instanceof RunRefusedError && lacking.code === 'TEMPLATE_COLUMNS_MISSING', String(lacking));
  await t.rejects(runTemplate(PICK, join(folder, 'missing.csv'), sink), { code: 'ENOENT' });
  await t.rejects(runTemplate(PICK, Buffer.from(FILE), join(folder, 'no', 'folder.csv')), { code: 'ENOENT' });
});

t.test('the files of a split output go to a folder, and everywhere else in an archive', async (t) => {
  const template = { operations: [], output: { format: 'csv', split_by: ['country'] } };
  const source = Buffer.from('country,id\nDE,1\nAT,2\nDE,3\n');
  const fresh = join(folder, 'new/split/');
  const known = mkdtempSync(join(folder, 'split-'));
  for (const target of [fresh, known]) {
    await runTemplate(template, source, target);
    t.strictSame(readdirSync(target).sort(), ['AT.csv', 'DE.csv']);
    t.equal(readFileSync(join(target, 'DE.csv'), 'utf8'), 'country,id\nDE,1\nDE,3\n');
  }
  const own = join(known, 'DE.csv');
  await t.rejects(runTemplate(template, own, known), { name: 'RangeError', message: /also a source/ });
  t.equal(readFileSync(own, 'utf8'), 'country,id\nDE,1\nDE,3\n', 'a source is not overwritten');
  t.strictSame(readdirSync(known).sort(), ['AT.csv', 'DE.csv'], 'nothing else is left');
  const archive = join(folder, 'split.zip');
  await runTemplate(template, source, archive);
  t.equal(readFileSync(archive).toString('latin1', 0, 2), 'PK');
  rmSync(join(folder, 'new'), { recursive: true });
  rmSync(known, { recursive: true });
  rmSync(archive);
});

t.test('links, permissions and pipes stay what they are', { skip: skipUnlessLong }, async (t) => {
  const [file, link, pipe] = [join(folder, 'file.csv'), join(folder, 'link.csv'), join(folder, 'pipe')];
  writeFileSync(file, 'what was there');
  chmodSync(file, 0o662);
  symlinkSync('file.csv', link);
  await runTemplate(PICK, Buffer.from(FILE), link);
  t.ok(lstatSync(link).isSymbolicLink());
  t.equal(readFileSync(file, 'utf8'), OUTPUT);
  t.equal(statSync(file).mode & 0o777, 0o662);
  execFileSync('mkfifo', [pipe]);
  const reader = spawn('cat', [pipe], { stdio: ['ignore', 'pipe', 'inherit'] });
  t.teardown(() => reader.kill());
  await Promise.all([
    runTemplate(PICK, Buffer.from(FILE), pipe),
    textOf(reader.stdout).then((read) => t.equal(read, OUTPUT)),
  ]);
  t.ok(statSync(pipe).isFIFO());
});

t.test('tables that are not there are told as the system does, and leave nothing', async (t) => {
  const temporary = join(folder, 'temporary');
  mkdirSync(temporary);
  const before = process.env['TMPDIR'];
  process.env['TMPDIR'] = temporary;
  t.teardown(() => {
    if (before === undefined) delete process.env['TMPDIR'];
    else process.env['TMPDIR'] = before;
  });
  const tables = join(folder, 'no-tables');
  await t.rejects(runTemplate(PICK, Buffer.from(FILE), collected().sink, { tables }), { code: 'ENOENT' });
  mkdirSync(join(tables, 'folder.csv'), { recursive: true });
  await t.rejects(runTemplate(PICK, Buffer.from(FILE), collected().sink, { tables }), { code: 'EISDIR' });
  t.strictSame(readdirSync(temporary), []);
});

t.test('a number of threads changes nothing in the output', async (t) => {
  const { sink, text } = collected();
  await runTemplate(PICK, Buffer.from(FILE), sink, { threads: 3 });
  t.equal(text(), OUTPUT);
  for (const threads of [0, -1, 1.5, Number.NaN]) {
    await t.rejects(runTemplate(PICK, Buffer.from(FILE), collected().sink, { threads }), RangeError);
  }
});

t.test('threads share a large file', { skip: skipUnlessLong }, async (t) => {
  const path = join(folder, 'large.csv');
  writeFileSync(path, `id;amount\n${'1234567;the text of a row\n'.repeat(12_000_000)}`);
  const outputs = [1, 2].map((threads) => ({ threads, output: join(folder, `large-${threads}.csv`) }));
  for (const { threads, output } of outputs) await runTemplate(PICK, path, output, { threads });
  const [one, two] = outputs.map(({ output }) => readFileSync(output));
  t.ok(one!.equals(two!));
  for (const name of [path, ...outputs.map(({ output }) => output)]) rmSync(name);
});
