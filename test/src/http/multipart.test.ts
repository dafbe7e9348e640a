// The form reader against busboy alone as its oracle, over random forms cut into random pieces; and the rules of the form.
import { Readable } from 'node:stream';
import busboy from 'busboy';
import t from 'tap';
import { boundaryOf, FormReader } from '../../../src/http/multipart.ts';
import { fc } from '../../random.ts';
import { sweep } from '../../sweep.ts';

interface Seen {
  file: string | null;
  parameters: [string, string | null][];
  otherBytes: number;
  end: string;
}

const BOUNDARY = 'XbX';

/** Writes the body in pieces of the given lengths, over and over; each piece is wiped after its call. */
async function read(body: Buffer, lengths: readonly number[]): Promise<Seen> {
  const seen: Seen = { file: null, parameters: [], otherBytes: 0, end: 'none' };
  let over = (): void => {};
  const finished = new Promise<void>((resolve) => {
    over = resolve;
  });
  const reader = new FormReader(BOUNDARY, {
    fileStarted: () => {
      seen.file = '';
    },
    fileBytes: (bytes) => {
      seen.file += bytes.toString('latin1');
    },
    otherBytes: (count) => {
      seen.otherBytes += count;
    },
    parameter: (name, value) => seen.parameters.push([name, value]),
    broken: (message) => {
      seen.end = seen.end === 'none' ? message : 'told twice';
      over();
    },
    whole: () => {
      seen.end = seen.end === 'none' ? 'whole' : 'told twice';
      over();
    },
  });
  for (let at = 0, index = 0; at < body.length; index += 1) {
    const length = lengths[index % lengths.length] ?? 1;
    const piece = Buffer.from(body.subarray(at, at + length));
    reader.write(piece);
    piece.fill(0);
    at += length;
  }
  reader.end();
  await finished;
  // A second report would arrive now.
  await new Promise((resolve) => setImmediate(resolve));
  return seen;
}

async function readByBusboy(body: Buffer): Promise<Seen> {
  const seen: Seen = { file: null, parameters: [], otherBytes: 0, end: 'whole' };
  const parser = busboy({ headers: { 'content-type': `multipart/form-data; boundary=${BOUNDARY}` } });
  parser.on('file', (name: string, stream: Readable) => {
    if (name === 'file') seen.file = '';
    stream.on('data', (bytes: Buffer) => {
      if (name === 'file') seen.file += bytes.toString('latin1');
      else seen.otherBytes += bytes.length;
    });
    stream.on('error', () => {});
  });
  parser.on('field', (name: string, value: string) => {
    if (name === 'delimiter' || name === 'header_row') seen.parameters.push([name, value]);
    else seen.otherBytes += Buffer.byteLength(value);
  });
  await new Promise<void>((resolve) => {
    parser.on('error', () => {
      seen.end = 'broken';
    });
    parser.on('close', resolve);
    Readable.from([body]).pipe(parser);
  });
  return seen;
}

function part(headers: string, content: string): string {
  return `--${BOUNDARY}\r\n${headers}\r\n\r\n${content}\r\n`;
}

const disposition = (name: string, fileName?: string): string =>
  `Content-Disposition: form-data; name="${name}"${fileName === undefined ? '' : `; filename="${fileName}"`}`;

/** Texts with many sequences that look like a boundary but are not. */
const tricky = fc
  .array(fc.constantFrom('\r', '\n', '-', '--', '\r\n', `\r\n--${BOUNDARY}`.slice(0, 6), 'XbX', 'a', ',', '\0'), {
    maxLength: 60,
  })
  .map((pieces) => pieces.join(''))
  .filter((text) => !`\r\n${text}\r\n`.includes(`\r\n--${BOUNDARY}`));

t.test('random forms in random pieces are read as busboy reads them', async (t) => {
  const forms = fc.record({
    file: tricky,
    delimiter: fc.option(fc.constantFrom(';', '', '¦', 'ab'), { nil: undefined }),
    other: fc.option(tricky, { nil: undefined }),
    parameterFirst: fc.boolean(),
    // A long file passes by busboy for the most part; 'a' keeps two texts from making a boundary.
    repeats: fc.constantFrom(1, 1, 1, 2_000),
    lengths: fc.array(fc.oneof(fc.integer({ min: 1, max: 40 }), fc.integer({ min: 1, max: 30_000 })), {
      minLength: 1,
      maxLength: 5,
    }),
  });
  await fc.assert(
    fc.asyncProperty(forms, async ({ file, delimiter, other, parameterFirst, repeats, lengths }) => {
      const parts = [
        part(
          `${disposition('file', 'a.CSV')}\r\nContent-Type: text/csv`,
          repeats === 1 ? file : `${file}a`.repeat(repeats),
        ),
      ];
      if (delimiter !== undefined) {
        const parameter = part(disposition('delimiter'), delimiter);
        if (parameterFirst) parts.unshift(parameter);
        else parts.push(parameter);
      }
      if (other !== undefined) parts.push(part(disposition('other', 'x'), other));
      const body = Buffer.from(`${parts.join('')}--${BOUNDARY}--\r\n`);
      const [seen, expected] = [await read(body, lengths), await readByBusboy(body)];
      t.ok(seen.file === expected.file, 'the same file');
      t.strictSame({ ...seen, file: '' }, { ...expected, file: '' });
    }),
    { numRuns: sweep({ short: 19, long: 300 }) },
  );
});

t.test('a form in one piece is read as in many, whatever is odd about it', async (t) => {
  const named = disposition('file', 'a.b.CSV');
  const content = 'x,y\r\n1,2';
  const last = `--${BOUNDARY}--`;
  const forms = {
    plain: part(named, content) + last,
    'with a type': `${part(`${named}\r\nContent-Type: text/csv`, content)}${last}\r\n`,
    'with an epilogue': `${part(named, content)}${last}\r\n${part(named, content)}`,
    'with a preamble': `\r\n${part(named, content)}${last}`,
    empty: part(named, '') + last,
    'without an empty line': `--${BOUNDARY}\r\n${named}\r\n\r\n${last}`,
    'of two boundaries': `--${BOUNDARY}\r\n${part(named, content)}${last}`,
    'with an odd boundary inside': part(named, `a\r\n--${BOUNDARY}-b`) + last,
    'with another case': part(named.toUpperCase(), content) + last,
    'with another part': part(named, content) + part(disposition('delimiter'), ';') + last,
    'with two headers of a kind': part(`${named}\r\n${disposition('other', 'x')}`, content) + last,
  };
  for (const [what, form] of Object.entries(forms)) {
    const [seen, pieces] = [await read(Buffer.from(form), [10_000]), await read(Buffer.from(form), [1])];
    t.strictSame(seen, pieces, what);
  }
  const { file, end } = await read(Buffer.from(forms.plain), [10_000]);
  t.strictSame([file, end], [content, 'whole']);
});

t.test('white space after boundaries is no content', async (t) => {
  const padded = (padding: string): string =>
    (
      part(disposition('delimiter'), ';') +
      part(disposition('file', 'a'), `x y \r\n${'1 2\t\r\n'.repeat(9_000)} `) +
      `--${BOUNDARY}--`
    )
      .replaceAll(`--${BOUNDARY}\r\n`, `--${BOUNDARY}${padding}\r\n`)
      .concat(padding, '\r\n');
  const expected = await read(Buffer.from(padded('')), [16_384]);
  t.equal(expected.end, 'whole');
  for (const padding of [' ', '\t', '  \t ', ' '.repeat(1_000)]) {
    for (const lengths of [[1], [7], [1_000, 3], [1_000_000]]) {
      const { file, parameters, end } = await read(Buffer.from(padded(padding)), lengths);
      t.ok(file === expected.file && end === 'whole', `${JSON.stringify(padding.slice(0, 4))} in pieces of ${lengths}`);
      t.strictSame(parameters, expected.parameters);
    }
  }
  // No line end follows the white space, so everything is content, as it is without white space.
  for (const inside of [`a\r\n--${BOUNDARY} b`, `a\r\n--${BOUNDARY}${' '.repeat(2_000)}\r\nb`]) {
    const body = Buffer.from(`${part(disposition('file', 'a'), inside)}--${BOUNDARY}--`);
    for (const lengths of [[1], [1_000_000]]) {
      const [seen, alone] = [await read(body, lengths), await readByBusboy(body)];
      t.strictSame([seen.file, seen.end], [alone.file, alone.end]);
    }
  }
});

t.test('what follows the final boundary is ignored, wherever the body is cut', async (t) => {
  const file = part(disposition('file', 'a'), 'a,b\r\n1,2');
  const delimiter = part(disposition('delimiter'), ';');
  const last = `--${BOUNDARY}--`;
  const other = part(disposition('zz', 'q'), 'zzzz');
  const none = 'The form has no part named "file".';
  const endings = ['', '\r\n', ' \r\n', `\r\n${last}`, `\r\n${other}${other}`, `\r\n${delimiter}${file}${last}\r\n`];
  for (const [form, end] of [
    [`${delimiter}${file}${last}`, 'whole'],
    [`${file}${delimiter}${last}`, 'whole'],
    [last, none],
    [`${delimiter}${last}`, none],
  ] as const) {
    const alone = await read(Buffer.from(form), [1_000]);
    t.equal(alone.end, end);
    for (const ending of endings) {
      const body = Buffer.from(form + ending);
      for (let cut = 1; cut <= body.length; cut++) {
        const { otherBytes: _, ...seen } = await read(body, [cut, body.length]);
        const { otherBytes: __, ...expected } = alone;
        if (JSON.stringify(seen) !== JSON.stringify(expected))
          t.strictSame(seen, expected, `${form}${ending} at ${cut}`);
      }
      t.pass(`${JSON.stringify(ending.slice(0, 20))} after ${form.length} bytes, at every cut`);
    }
  }
});

t.test('a boundary that is not followed by two dashes is not the final one', async (t) => {
  const inside = ['-', '-x-', ' --', '- -', `\r\n--${BOUNDARY}--\r\nb`].map((rest) => `a\r\n--${BOUNDARY}${rest}`);
  for (const text of inside) {
    const body = Buffer.from(`${part(disposition('file', 'a'), text)}--${BOUNDARY}--`);
    const alone = await readByBusboy(body);
    for (let cut = 1; cut <= body.length; cut++) {
      const seen = await read(body, [cut, body.length]);
      t.strictSame([seen.file, seen.end === 'whole'], [alone.file, alone.end === 'whole'], `${text} at ${cut}`);
    }
  }
});

t.test('every cut of a form is broken, and told once', async (t) => {
  const body = Buffer.from(`${part(disposition('file', 'a'), 'x,y\r\n1,2')}--${BOUNDARY}--`);
  for (let length = 0; length < body.length; length += 1) {
    t.match((await read(body.subarray(0, length), [7])).end, /malformed|ends before/);
  }
  t.equal((await read(body, [7])).end, 'whole');
});

t.test('the rules of the form', async (t) => {
  const file = part(disposition('file', 'a.csv'), 'a');
  const last = `--${BOUNDARY}--`;
  const end = async (text: string): Promise<string> => (await read(Buffer.from(text), [1000])).end;
  t.match(await end(file + file + last), /more than one part/);
  t.match(await end(part(disposition('file'), 'a') + last), /must be sent as a file/);
  t.match(await end(part(disposition('x'), 'a') + last), /no part named/);
  t.match(await end(last), /no part named/);
  t.equal(await end(part(disposition('x'), 'a').repeat(63) + file + last), 'whole');
  t.match(await end(part(disposition('x'), 'a').repeat(64) + file + last), /more than 64 parts/);
  t.match(await end(`--${BOUNDARY}\r\nno header\r\n\r\n`), /malformed headers/);
  t.match(await end(`--${BOUNDARY}\r\nA: ${'x'.repeat(20_000)}`), /malformed headers/);
  t.equal(await end(`preamble\r\n${file}${last}\r\nepilogue`), 'whole');
  const parameters = async (text: string): Promise<unknown> =>
    (await read(Buffer.from(text, 'latin1'), [3])).parameters;
  t.strictSame(await parameters(part(disposition('delimiter'), 'x'.repeat(64)) + last), [
    ['delimiter', 'x'.repeat(64)],
  ]);
  t.strictSame(await parameters(part(disposition('delimiter'), 'x'.repeat(65)) + last), [['delimiter', null]]);
  t.strictSame(await parameters(part(disposition('delimiter'), '\xFF') + last), [['delimiter', '\uFFFD']]);
  const latin = part(`${disposition('delimiter')}\r\nContent-Type: text/plain; charset=iso-8859-1`, '\xA6');
  t.strictSame(await parameters(latin + last), [['delimiter', '¦']]);
});

t.test('boundaries of Content-Types', async (t) => {
  t.equal(boundaryOf('multipart/form-data; boundary=abc'), 'abc');
  t.equal(boundaryOf("multipart/form-data; boundary='()+_,-./:=?"), "'()+_,-./:=?");
  t.equal(boundaryOf('Multipart/Form-Data ; charset=utf-8; boundary="a b"'), 'a b');
  for (const wrong of [
    '',
    'text/csv',
    'multipart/form-data',
    'multipart/form-data; boundary=',
    'multipart/mixed; boundary=a',
    'multipart/form-data; boundary="\x7f"',
    'multipart/form-data; boundary=\xe9',
  ]) {
    t.equal(boundaryOf(wrong), null, wrong);
  }
});
