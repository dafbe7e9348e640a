// Private interfaces of dependencies and of Node: an update may change them without notice. Each test names what the product
// relies on and where, so that a failing update is understood at once.
import { createSocket } from 'node:dgram';
import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { Parser } from 'csv-parse';
import t from 'tap';

const PACKAGE_FOLDER = join(import.meta.dirname, '..', '..', '..');
const require = createRequire(import.meta.url);

type Step = (bytes: Buffer, encoding: string, done: (error?: Error | null) => void) => void;
type Flush = (done: (error?: (Error & { code?: string }) | null) => void) => void;

/** A parser whose stream functions are called one by one, as workers/input/csv/plain-reader.ts does. */
function steppedParser(): { parser: Parser; records: [string[], number][] } {
  const records: [string[], number][] = [];
  class Stepped extends Parser {
    override push(fields: string[] | null): boolean {
      if (fields !== null) records.push([fields, this.info.bytes]);
      return true;
    }
  }
  return { parser: new Stepped({ delimiter: ';', record_delimiter: ['\n'], relax_column_count: true }), records };
}

t.test('csv-parse: _transform parses at once, and calls push for each record', (t) => {
  const hint = 'csv-parse changed: see RecordParser.feed in workers/input/csv/plain-reader.ts';
  const { parser, records } = steppedParser();
  let doneCount = 0;
  const transform = Reflect.get(parser, '_transform') as Step | undefined;
  t.type(transform, 'function', hint);
  transform?.call(parser, Buffer.from('a;b\nc;"d\n'), 'utf8', () => (doneCount += 1));
  t.equal(doneCount, 1, `${hint}: done is called before _transform returns`);
  t.strictSame(records, [[['a', 'b'], 4]], `${hint}: records and info.bytes`);
  transform?.call(parser, Buffer.from('e";f\nand more than the parser looks ahead\n'), 'utf8', () => undefined);
  t.strictSame(records[1], [['c', 'd\ne', 'f'], 14], `${hint}: a record across two pieces`);
  t.end();
});

t.test('csv-parse: _flush ends the last record at once, or reports an open quote', (t) => {
  const hint = 'csv-parse changed: see RecordParser.finish in workers/input/csv/plain-reader.ts';
  const finish = (text: string): { records: string[][]; codes: (string | null)[] } => {
    const { parser, records } = steppedParser();
    const codes: (string | null)[] = [];
    const transform = Reflect.get(parser, '_transform') as Step;
    const flush = Reflect.get(parser, '_flush') as Flush | undefined;
    transform.call(parser, Buffer.from(text), 'utf8', () => undefined);
    flush?.call(parser, (error) => codes.push(error?.code ?? null));
    return { records: records.map(([fields]) => fields), codes };
  };
  t.strictSame(
    finish('a;b\nc;d'),
    {
      records: [
        ['a', 'b'],
        ['c', 'd'],
      ],
      codes: [null],
    },
    hint,
  );
  t.strictSame(finish('a;"b').codes, ['CSV_QUOTE_NOT_CLOSED'], hint);
  t.end();
});

/** Each path that workers/output/xlsx/workbook-frame.ts imports, and a check of its exports. */
const EXCELJS_PARTS: Readonly<Record<string, (part: never) => unknown>> = {
  'exceljs/lib/xlsx/rel-type.js': (types: Record<string, string>) =>
    ['OfficeDocument', 'CoreProperties', 'ExtenderProperties', 'Styles', 'Theme', 'Worksheet'].every((name) =>
      types[name]?.startsWith('http://schemas.openxmlformats.org/'),
    ),
  'exceljs/lib/xlsx/xform/book/workbook-xform.js': (Part: new () => { prepare: unknown; toXml: unknown }) =>
    typeof new Part().prepare === 'function' && typeof new Part().toXml === 'function',
  'exceljs/lib/xlsx/xform/core/app-xform.js': (Part: XmlPart) =>
    new Part()
      .toXml({ worksheets: [{ name: 'Data' }], company: '', manager: '' })
      .includes('<vt:lpstr>Data</vt:lpstr>'),
  'exceljs/lib/xlsx/xform/core/content-types-xform.js': (Part: XmlPart) =>
    new Part()
      .toXml({
        worksheets: [{ id: 1 }],
        media: [],
        drawings: [],
        commentRefs: [],
        tables: [],
        sharedStrings: { count: 0 },
      })
      .includes('/xl/worksheets/sheet1.xml'),
  'exceljs/lib/xlsx/xform/core/core-xform.js': (Part: XmlPart) =>
    new Part()
      .toXml({ creator: 'a', lastModifiedBy: 'b', created: new Date(0) })
      .includes('<dc:creator>a</dc:creator>'),
  'exceljs/lib/xlsx/xform/core/relationships-xform.js': (Part: XmlPart) =>
    new Part()
      .toXml([{ Id: 'rId1', Type: 'x', Target: 'y' }])
      .includes('<Relationship Id="rId1" Type="x" Target="y"/>'),
  // The product splits the sheet at this part, and writes the rows itself.
  'exceljs/lib/xlsx/xform/sheet/worksheet-xform.js': (Part: new () => { prepare: unknown; toXml: unknown }) =>
    typeof new Part().prepare === 'function' && typeof new Part().toXml === 'function',
  'exceljs/lib/xlsx/xform/style/styles-xform.js': (
    Part: new (isNew: boolean) => { addStyleModel(model: object): number; readonly xml: string },
  ) => {
    const styles = new Part(true);
    const [plain, day] = [styles.addStyleModel({}), styles.addStyleModel({ numFmt: 'yyyy' })];
    return plain === 0 && day > 0 && styles.xml.includes('formatCode="yyyy"');
  },
  'exceljs/lib/xlsx/xml/theme1.js': (theme: string) => theme.includes('<a:theme '),
};

type XmlPart = new () => { toXml(model: unknown): string };

t.test('exceljs: the parts of a workbook are where workbook-frame.ts imports them', (t) => {
  for (const [path, works] of Object.entries(EXCELJS_PARTS)) {
    const hint = `exceljs changed: ${path}, imported by workers/output/xlsx/workbook-frame.ts`;
    let part: unknown;
    try {
      part = require(path);
    } catch (error) {
      t.fail(`${hint}: it cannot be loaded: ${(error as Error).message}`);
      continue;
    }
    t.ok(works(part as never), `${hint}: it makes something else`);
  }
  t.end();
});

t.test('Node: a UDP socket has a handle that can be opened on a descriptor', (t) => {
  const socket = createSocket('udp4');
  const symbol = Object.getOwnPropertySymbols(socket).find(({ description }) => description === 'state symbol');
  const state = Reflect.get(socket, symbol ?? '') as { readonly handle?: { readonly open?: unknown } } | undefined;
  t.type(state?.handle?.open, 'function', 'Node changed: see SET_BUFFER in src/http/ports.ts');
  socket.close(() => t.end());
});

/** Imports of private files of a package, and calls of members with an underscore. */
const PRIVATE_USES = [
  /^import .* from '((?:exceljs|csv-parse|hyparquet|re2js|pino|piscina|busboy|ioredis|mnemonist|classic-level|yaml)\/lib\/[^']+)'/gm,
  /(?<!\bthis)(?<!\w)[\w#.]*\.(_[a-z]\w*)\(/g,
];

/** Uses that are tested above. */
const TESTED = new Set([...Object.keys(EXCELJS_PARTS), '_transform', '_flush']);

t.test('every private interface that src and workers use has a test here', (t) => {
  for (const folder of ['src', 'workers']) {
    const files = readdirSync(join(PACKAGE_FOLDER, folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => /\.tsx?$/.test(name) && !name.includes('assembly'))
      .map((name) => join(folder, name));
    for (const file of files) {
      const text = readFileSync(join(PACKAGE_FOLDER, file), 'utf8');
      const found = PRIVATE_USES.flatMap((pattern) => [...text.matchAll(pattern)].map(([, name]) => name!));
      for (const name of found.filter((used) => !TESTED.has(used)))
        t.fail(`${file} uses ${name}: add a test of it here`);
    }
  }
  t.pass('all sources were read');
  t.end();
});
