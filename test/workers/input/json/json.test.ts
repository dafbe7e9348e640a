// JSON files as they come: where their records stand, which columns they have, what their cells are, and how they are refused.
import t from 'tap';
import { ExpectedHeaders } from '../../../../workers/input/expected-headers.ts';
import {
  KIND_BOOLEAN as BOOLEAN,
  KIND_JSON as JSON_KIND,
  KIND_NUMBER as NUMBER,
  KIND_TEXT as TEXT,
} from '../../../../workers/kernel/layout/native-kinds.ts';
import { ColumnPatterns } from '../../../../workers/template/column-pattern.ts';
import { inputOf } from '../../../../workers/template/sections.ts';
import { type Cell, type JsonReading, readJsonFile, refusalOf } from './read-json-file.ts';

const records = (pointer: string): JsonReading => ({ input: { json: { records: pointer } } });
const flatten: JsonReading = { input: { json: { flatten: '.' } } };

async function texts(file: string, reading: JsonReading = {}): Promise<unknown> {
  const { headers, rows } = await readJsonFile(file, reading);
  return [headers, ...rows.map((row) => row.map((cell) => cell?.[1] ?? null))];
}

t.test('cells with their kinds, as they are written', async (t) => {
  const file = '{"a":"x","b":1.50,"c":true,"d":{"e" : [1, "f g"]},"f":null}\n{"a":1e5,"b":"","c":[ ],"d":false}';
  const { type, headers, rows } = await readJsonFile(file);
  t.equal(type, 'ndjson');
  t.strictSame(headers, ['a', 'b', 'c', 'd', 'f']);
  const expected: Cell[][] = [
    [[TEXT, 'x'], [NUMBER, '1.50'], [BOOLEAN, 'true'], [JSON_KIND, '{"e":[1,"f g"]}'], null],
    [[NUMBER, '1e5'], null, [JSON_KIND, '[]'], [BOOLEAN, 'false'], null],
  ];
  t.strictSame(rows, expected);
});

t.test('escapes are undone, also beside others in the same window', async (t) => {
  const text = 'é語😀"\\/\b\f\n\r\t\u0000';
  const escaped = [...JSON.stringify(text)].map((sign) =>
    sign.charCodeAt(0) < 0x80
      ? sign
      : Array.from({ length: sign.length }, (_, at) => `\\u${sign.charCodeAt(at).toString(16).padStart(4, '0')}`).join(
          '',
        ),
  );
  const line = `{"a":${escaped.join('')},"b":"\\ud83d\\u0041\\ude00"}\n`;
  const { rows } = await readJsonFile(line.repeat(3));
  t.strictSame(
    rows,
    Array.from({ length: 3 }, () => [
      [TEXT, text],
      [TEXT, '\ufffdA\ufffd'],
    ]),
  );
});

t.test('null values are null in any kind, and the empty text only where it is one', async (t) => {
  const file = '{"a":"-","b":0,"c":"\\u002d"}{"a":"","b":"x","c":"--"}';
  t.strictSame(await texts(file, { input: { null_values: ['-', '0'] } }), [
    ['a', 'b', 'c'],
    [null, null, null],
    ['', 'x', '--'],
  ]);
});

t.test('where the records stand', async (t) => {
  const rows = [['id'], ['1'], ['2']];
  for (const file of [
    '[{"id":1},{"id":2}]',
    '{"id":1}\n\n{"id":2}',
    '{"id":1}{"id":2}\n',
    '\n [ {"id" : 1} , {"id" : 2} ] \n',
  ]) {
    t.strictSame(await texts(file), rows, file);
  }
  const wrapped = '{"next":null,"list":[1,[{"x":0}]],"none":[],"orders":[{"id":1},{"id":2}],"o":{"deep":[{"y":1}]}}';
  t.strictSame(await texts(wrapped), rows, 'the only list of objects at depth one');
  t.strictSame(await texts(wrapped, records('/o/deep')), [['y'], ['1']]);
  t.strictSame(await texts(wrapped, records('/list/1')), [['x'], ['0']]);
  t.strictSame(await texts(wrapped, records('/none')), [[]]);
  t.strictSame(
    await texts('{"id":1,"tags":["a"]}'),
    [
      ['id', 'tags'],
      ['1', '["a"]'],
    ],
    'an object without one is a record',
  );
  t.strictSame(await texts('{"id":1,"lines":[{"x":1}]}', records('')), [
    ['id', 'lines'],
    ['1', '[{"x":1}]'],
  ]);
  t.strictSame(await texts('{"id":1,"lines":[{"x":1}]}\n{"id":2}'), [
    ['id', 'lines'],
    ['1', '[{"x":1}]'],
    ['2', null],
  ]);
  t.strictSame(await texts('[]'), [[]]);
  const two = await refusalOf('{"a":[{"x":1}],"b":3,"c":[{"y":1}]}');
  t.equal(
    two,
    'MALFORMED_FILE: The file is an object with several lists of objects: its members 1 and 3. ' +
      'Name the one that holds the records in the Template (input.json.records).',
  );
  for (const pointer of ['/absent', '/next', '/o/deep/0', '/list/9', '/orders/x', '/next/x']) {
    t.match(await refusalOf(wrapped, records(pointer)), /no list of records at input\.json\.records/, pointer);
  }
});

t.test('lists of lists have their header first', async (t) => {
  const { headers, rows, counts, type } = await readJsonFile(
    '[["id",2,null],[1,"\\u0041"],[],[2,null,{"a": 1},"",null,"x"]]',
  );
  t.equal(type, 'json');
  t.strictSame(headers, ['id', '2', '']);
  t.strictSame(rows, [
    [[NUMBER, '1'], [TEXT, 'A'], null],
    [null, null, null],
    [[NUMBER, '2'], null, [JSON_KIND, '{"a":1}']],
  ]);
  t.strictSame(counts, { RAGGED_ROW: { count: 1, rows: [3] } });
  t.match(await refusalOf('[["id"],{"id":1}]'), /Line 1, column 9: a list is expected/);
});

t.test('nested objects become columns where the Template says so', async (t) => {
  const file =
    '{"id":1,"who":{"name":"A","at":{"city":"X"}},"who.name":"B"}{"who":null,"id":2,"e":{}}{"who":7,"n":null,"who":{"name":"C"}}';
  t.strictSame(await texts(file, flatten), [
    ['id', 'who', 'who.name', 'who.at.city', 'who.name', 'n'],
    ['1', null, 'A', 'X', 'B', null],
    ['2', null, null, null, null, null],
    [null, '7', 'C', null, null, null],
  ]);
  const deep = `${'{"a":'.repeat(10)}1${'}'.repeat(10)}`;
  t.strictSame(await texts(deep, flatten), [['a.a.a.a.a.a.a.a.a'], ['{"a":1}']]);
});

t.test('more keys than the table has room for at first', async (t) => {
  const keys = Array.from({ length: 16_384 }, (_, index) => `key ${index} ${'x'.repeat(index % 90)}`);
  const all = JSON.stringify(Object.fromEntries(keys.map((key, index) => [key, index])));
  const reversed = JSON.stringify(Object.fromEntries([...keys.keys()].reverse().map((index) => [keys[index], index])));
  const { headers, rows } = await readJsonFile(`{"${keys[0]}":5}\n${all}\n${reversed}\n`);
  t.strictSame(headers, keys);
  for (const row of rows.slice(1)) t.ok(row.every((cell, index) => cell?.[1] === String(index)));
  t.match(await refusalOf(`${all}{"one more":1}`), /more than 16384 different keys/);
  t.match(await refusalOf(`{${'"a":1,'.repeat(16_384)}"a":1}`), /a record has more than 16384 members/);
});

t.test('a Template that names its columns reads behind the upload, whatever comes later', async (t) => {
  const names = ['b', 'A'].map((name) => ({ name, match: [], ifMissing: 'fail', declared: true }) as const);
  const input = inputOf({ other_columns: 'drop' });
  const expected = ExpectedHeaders.of({
    fileColumns: names,
    input,
    patterns: new ColumnPatterns(),
    takesOthers: false,
  });
  const line = '{"a":1,"b":2}\n';
  const late = `${line.repeat(10_000)}{"late":1,"b":3}\n`;
  const reading = { expected, input: { other_columns: 'drop' } };
  const streamed = await readJsonFile(late, reading);
  t.strictSame(streamed.headers, ['a', 'b'], 'all that it looks for came in the first 64 KiB');
  t.strictSame(streamed.rows.at(-1), [null, [NUMBER, '3']]);
  const whole = await readJsonFile(late.replaceAll('"a":1', '"c":1').replace('"late"', '"a"'), reading);
  t.strictSame(whole.headers, ['c', 'b', 'a'], 'one of them comes late');
});

t.test('what is no JSON is refused with its place', async (t) => {
  const refusals: readonly (readonly [file: string | Buffer, message: string])[] = [
    ['[{"a":1},]', 'Line 1, column 10: an object is expected, as all records are objects.'],
    ['[\n{"a":1,}]', 'Line 2, column 8: a key in double quotes is expected.'],
    ['{"a":1}\n// CanaryComment\n{"a":2}', 'Line 2, column 1: an object is expected, as all records are objects.'],
    ['{"a":1 /* Canary */}', 'Line 1, column 8: "," or "}" is expected.'],
    ["{'a':1}", 'Line 1, column 2: a key in double quotes or "}" is expected.'],
    ['{"a" 1}', 'Line 1, column 6: ":" is expected.'],
    ['{"a":01}', 'Line 1, column 7: "," or "}" is expected.'],
    ['{"a":1.}', 'Line 1, column 8: a digit is expected.'],
    ['{"a":NaN}', 'Line 1, column 6: a value is expected.'],
    ['{"a":[1,]}', 'Line 1, column 9: a value is expected.'],
    ['{"a":[1}}', 'Line 1, column 8: "," or "]" is expected.'],
    ['{"a":"\\x"}', 'Line 1, column 7: a backslash begins no escape of JSON.'],
    [
      '{"a":"x\ty"}',
      'Line 1, column 8: a string holds a control character that is not escaped, or its closing quote is missing.',
    ],
    ['[{"a":1},\n {"a"', 'Line 2, column 6: the file ends in the middle of its JSON.'],
    ['[{"a":1}', 'Line 1, column 9: the file ends in the middle of its JSON.'],
    ['{"x":[{"a":1}]', 'Line 1, column 15: the file ends in the middle of its JSON.'],
    ['[{"a":1}] {', 'Line 1, column 11: the end of the file is expected behind its JSON.'],
    ['[{"a":1},7]', 'Line 1, column 10: an object is expected, as all records are objects.'],
    [`{"a":${'['.repeat(1_000_000)}`, 'Line 1, column 261: a value is nested more than 200 deep.'],
    ['['.repeat(1_000_000), 'Line 1, column 203: a value is nested more than 200 deep.'],
    [Buffer.from('7b2261223a22c328227d', 'hex'), 'Line 1, column 7: this is not valid UTF-8, as JSON has to be.'],
    [
      Buffer.from('7b2261223a317d0a7b2261223a22e28222', 'hex'),
      'Line 2, column 7: this is not valid UTF-8, as JSON has to be.',
    ],
  ];
  for (const [file, message] of refusals)
    t.equal(await refusalOf(file), `MALFORMED_FILE: ${message}`, String(file).slice(0, 40));
});

t.test('cells, keys and records above the ceilings', async (t) => {
  const mib = 1024 * 1024;
  const long = 'x'.repeat(4 * mib);
  t.strictSame((await readJsonFile(`{"a":"${long}"}\n{"a":1}`)).rows.length, 2);
  t.match(await refusalOf(`{"a":"${long}x"}`), /Line 1, column 6: a value of more than 4 MiB begins/);
  t.match(await refusalOf(`{"a":[${'1,'.repeat(2 * mib)}1]}`), /a value of more than 4 MiB begins/);
  t.match(await refusalOf(`{"${'k'.repeat(65_537)}":1}`), /a key of more than 64 KiB begins/);
  const wide = Array.from({ length: 5 }, (_, index) => `"${index}":"${long}"`).join();
  t.match(await refusalOf(`{"b":1}\n{${wide}}`), /Line 2, column 1: a record of more than 16 MiB begins/);
});
