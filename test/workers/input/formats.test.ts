// The interface of input formats: the choice of a format for a file, and the delivery of a whole file, stored or inflated, to a
// format that needs one.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { type Test, test } from 'tap';
import { csvFormat } from '../../../workers/input/csv/csv-format.ts';
import { FileStart } from '../../../workers/input/file-start.ts';
import type { InputFormat, Sureness } from '../../../workers/input/format.ts';
import { inputFormats } from '../../../workers/input/index.ts';
import { chooseFormat, formatNamed, openRows } from '../../../workers/input/open-rows.ts';
import { BytesSource } from '../../../workers/input/source/bytes-source.ts';
import { FileSource } from '../../../workers/input/source/file-source.ts';
import type { ByteSource } from '../../../workers/input/source/source.ts';
import { KIND_NUMBER } from '../../../workers/kernel/layout/cells.ts';
import { SpillFolder } from '../../../workers/memory/spill-file.ts';
import { Cancelled, Failed } from '../../../workers/protocol/failure.ts';
import { runCoroutine } from '../../../workers/scheduling/coroutine.ts';
import { inputOf } from '../../../workers/template/sections.ts';
import { typedTable, typedTableFormat } from '../../fixtures/typed-table.ts';
import { makeMemory } from '../operations/harness.ts';

const input = inputOf({});
const formats: readonly InputFormat[] = [...inputFormats, typedTableFormat];
const TABLE = typedTable({ headers: ['n'], hasKinds: [true] }, [[[KIND_NUMBER, '1']], [null], [[KIND_NUMBER, '3']]]);

function start(text: string | Uint8Array, ending = ''): FileStart {
  return new FileStart(Buffer.from(text), ending);
}

/** A format that claims every file with the given confidence. */
function claiming(name: string, sureness: Sureness | null, ending: string): InputFormat {
  const detect = () => (sureness === null ? null : { sureness, problem: null });
  return { ...typedTableFormat, name, endings: [ending], detect };
}

test('the surest format has a file, then its ending says, then the table', async (t) => {
  const chosen = (some: readonly InputFormat[], ending: string) =>
    chooseFormat(some, start('a,b\n', ending), input).name;
  const [one, two] = [claiming('one', 'content', 'x'), claiming('two', 'content', 'y')];
  t.equal(chosen([one, two], ''), 'one');
  t.equal(chosen([one, two], 'y'), 'two');
  t.equal(chosen([claiming('none', null, 'y'), one], 'y'), 'one');
  t.equal(chosen([one, claiming('sign', 'signature', '')], 'x'), 'sign', 'an ending makes nobody surer');
  t.equal(chosen([...inputFormats, one], 'csv'), 'one');
  t.equal(chosen(formats, 'ttbl'), 'csv');
  t.equal(chooseFormat(formats, start(TABLE, 'csv'), input).name, 'typed_table');
  t.throws(() => formatNamed(formats, 'three'), { message: 'a file whose format is not in the table' });
});

test('a file that is no format’s, and one that its own cannot read, are refused in their words', async (t) => {
  const refusals: readonly (readonly [file: string, code: string, message: string])[] = [
    ['TTBL!', 'UNSUPPORTED_FILE_TYPE', 'The typed table is locked.'],
    ['%PDF-1', 'UNSUPPORTED_FILE_TYPE', 'The file is a PDF; send the table that it was made of as CSV.'],
    ['\x1f', 'none', ''],
    [
      '<table>',
      'UNSUPPORTED_FILE_TYPE',
      'The file is an HTML page; open it in a spreadsheet program, save it as .xlsx or CSV, and send that.',
    ],
    [' \n\n', 'MALFORMED_FILE', 'The file has only blank lines.'],
  ];
  for (const [text, code, message] of refusals) t.strictSame(refusalOf(text), [code, message]);
  // The format that takes over a type has a higher confidence than the refusal of the type.
  t.equal(chooseFormat(inputFormats, start('{"a":1}', 'csv'), input).name, 'json');
  t.strictSame(refusalOf('{"a":1}', [csvFormat]), [
    'UNSUPPORTED_FILE_TYPE',
    'The file is JSON; only CSV is read here.',
  ]);
});

function refusalOf(text: string, among = formats): readonly [code: string, message: string] {
  try {
    chooseFormat(among, start(text), input);
  } catch (error) {
    if (error instanceof Failed) return [error.failure.code, error.failure.message];
    throw error;
  }
  return ['none', ''];
}

async function rowsOf(source: ByteSource, folder: string): Promise<number> {
  const { kernel, arena } = makeMemory();
  const spill = new SpillFolder(join(folder, 'spill'));
  try {
    const reader = await runCoroutine(
      openRows(source, {
        formats,
        ending: '',
        input,
        overrides: { delimiter: null, headerRow: null },
        expected: null,
        inflatedBytesMax: 10_000,
        arena,
        kernel,
        largeRow: { acquire: async () => {} },
        spill,
      }),
    );
    while (reader.next(10) !== 'end');
    reader.close();
    return reader.rowsRead;
  } finally {
    source.close();
    spill.remove();
  }
}

async function codeOf(rows: Promise<number>): Promise<string> {
  try {
    await rows;
  } catch (error) {
    if (error instanceof Failed) return error.failure.code;
    throw error;
  }
  return 'none';
}

function withFolder(t: Test): string {
  const folder = mkdtempSync(join(tmpdir(), 'formats-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

test('a whole file is read from memory, from the spool, and inflated through a copy', async (t) => {
  const folder = withFolder(t);
  const path = join(folder, 'upload');
  t.equal(await rowsOf(new BytesSource(TABLE), folder), 3);
  t.equal(await rowsOf(new BytesSource(gzipSync(TABLE)), folder), 3);
  for (const bytes of [TABLE, gzipSync(TABLE)]) {
    writeFileSync(path, bytes);
    const source = new FileSource(path);
    source.grown(bytes.length, true);
    t.equal(await rowsOf(source, folder), 3);
  }
  const cut = new BytesSource(TABLE.subarray(0, -2));
  t.equal(await codeOf(rowsOf(cut, folder)), 'MALFORMED_FILE');
  const large = new BytesSource(gzipSync(Buffer.concat([Buffer.from('TTBL'), Buffer.alloc(100_000)])));
  t.equal(await codeOf(rowsOf(large, folder)), 'FILE_TOO_LARGE');
});

test('a source gives bytes at any place, of its own part of the file', async (t) => {
  const path = join(withFolder(t), 'upload');
  writeFileSync(path, '0123456789');
  const source = new FileSource(path, 2);
  source.grown(9, true);
  for (const some of [source, new BytesSource(Buffer.from('2345678'))]) {
    const target = new Uint8Array(4);
    t.equal(some.sizeBytes, 7);
    t.equal(some.readAt(target, 1), 4);
    t.equal(Buffer.from(target).toString(), '3456');
    t.equal(some.readAt(target, 5), 2);
    t.equal(Buffer.from(target).toString(), '7856');
    t.equal(some.readAt(target, 7), 0);
    t.equal(some.read(target), 4);
    t.equal(Buffer.from(target).toString(), '2345', 'reading at a place moves nothing');
    some.close();
  }
});

test('a format that needs the whole file waits while it grows, until the Run is cancelled', async (t) => {
  const path = join(withFolder(t), 'upload');
  writeFileSync(path, TABLE);
  const waiting = (): { source: FileSource; rows: Promise<number>; isOver: () => boolean } => {
    const source = new FileSource(path);
    let over = false;
    const rows = rowsOf(source, path).finally(() => {
      over = true;
    });
    rows.catch(() => undefined);
    return { source, rows, isOver: () => over };
  };
  const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
  const whole = waiting();
  for (const bytes of [4, 20, TABLE.length]) {
    whole.source.grown(bytes, false);
    await turn();
    t.notOk(whole.isOver(), `${bytes} bytes, and more may come`);
  }
  whole.source.grown(TABLE.length, true);
  t.equal(await whole.rows, 3);
  for (const end of ['cancel', 'suspend'] as const) {
    const given = waiting();
    given.source.grown(20, false);
    await turn();
    given.source[end]();
    await t.rejects(given.rows, Cancelled);
  }
});

test('text before JSON is refused with the name of its format', async (t) => {
  const refusalOf = (text: string, settings = input): string => {
    try {
      return chooseFormat(formats, start(text, 'js'), settings).name;
    } catch (error) {
      return (error as Failed).failure.message;
    }
  };
  for (const [text, name] of [
    [
      'window.YTD.tweets.part0 = [\n  {"id": 1}]',
      /^The file is JavaScript that assigns the JSON to a variable\. Send the JSON alone/,
    ],
    ['var x = {a: 1};', /JavaScript/],
    ['export default [{"id": 1}]', /JavaScript/],
    ['callback([{"id": 1}]);', /JSONP/],
    ['/**/ jQuery.cb_1({"id": 1})', /JSONP/],
    ['cb && cb({"id": 1})', /JSONP/],
    ['/*O_o*/\ntypeof a.b === "function" && a.b([{"id": 1}]);', /JSONP/],
    [')]}\',\n[{"id": 1}]', /a prefix that prevents browsers from running it/],
    ['for(;;);{"id": 1}', /a prefix/],
    ['// exported\n[{"id": 1}]', /a comment/],
  ] as const) {
    t.match(refusalOf(text), name, text);
  }
  for (const text of [
    'a,b[m]\n1,2\n',
    'f(x),g(x)\n1,2\n',
    'x = y,[z]\n1,2\n',
    'a(b)[{c},d\n',
    '// note\na,b\n[1,2\n',
  ]) {
    t.equal(refusalOf(text), 'csv', text);
  }
  t.equal(refusalOf('// note\n[{"a"\n', inputOf({ csv: { comment: '//' } })), 'csv', 'comments are declared');
  t.equal(refusalOf('x = [1]\n', inputOf({ format: 'lines' })), 'csv');
  t.equal(refusalOf('["id","name"]\n[1,"a"]\n'), 'json', 'a list on each line');
  t.equal(refusalOf('["id","name"\n'), 'csv');
});
