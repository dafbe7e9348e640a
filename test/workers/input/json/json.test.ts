// JSON files: the positions of their records, their columns, the contents of their cells, and their refusals.
import t from 'tap';
import {
  KIND_BOOLEAN as BOOLEAN,
  KIND_JSON as JSON_KIND,
  KIND_NUMBER as NUMBER,
  KIND_TEXT as TEXT,
} from '../../../../workers/kernel/layout/cells.ts';
import { applyTemplate } from '../../apply-template.ts';
import { type Cell, expecting, type JsonReading, readJsonFile, refusalOf } from './read-json-file.ts';

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

t.test('positions of the records', async (t) => {
  const rows = [['id'], ['1'], ['2']];
  for (const file of [
    '[{"id":1},{"id":2}]',
    '{"id":1}\n\n{"id":2}',
    '{"id":1}{"id":2}\n',
    '\n [ {"id" : 1} , {"id" : 2} ] \n',
  ]) {
    t.strictSame(await texts(file), rows, file);
  }
  const wrapped = '{"next":null,"list":[1,[{"x":0}]],"orders":[{"id":1},{"id":2}],"o":{"deep":[{"y":1}]}}';
  t.strictSame(await texts(wrapped), rows, 'the only list of objects at depth one');
  t.strictSame(await texts(wrapped, records('/o/deep')), [['y'], ['1']]);
  t.strictSame(await texts(wrapped, records('/list/1')), [['x'], ['0']]);
  t.strictSame(await texts('{"none":[],"orders":[{"id":1}]}', records('/none')), [[]]);
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
  for (const pointer of ['/absent', '/next', '/o/deep/0', '/list/9', '/orders/x', '/next/x']) {
    t.match(await refusalOf(wrapped, records(pointer)), /no list of records at input\.json\.records/, pointer);
  }
});

t.test('lists that may hold the records are refused where nothing decides between them', async (t) => {
  const kinds = '{"a":[{"x":1}],"b":3,"c":[],"d":[[1]],"e":["plain"]}';
  t.equal(
    await refusalOf(kinds),
    'MALFORMED_FILE: The file is an object with several lists that may hold the records: member 1 (list of objects), ' +
      'member 3 (empty list), member 4 (list of lists). Name the list in the Template as a JSON pointer ' +
      '(input.json.records: /KEY), or write records: "" to take the object as one record.',
  );
  t.match(await refusalOf('{"links":[{"href":"x"}],"items":[]}'), /member 1 .* member 2 \(empty list\)/);
  t.match(await refusalOf('{"count":0,"orders":[]}'), /a list that may hold the records: member 2 \(empty list\)/);
  const many = `{${Array.from({ length: 300_000 }, (_, index) => `"k${index}":[{}]`).join()}}`;
  const refusal = await refusalOf(many);
  t.match(refusal, /member 10 \(list of objects\) and 299990 more\. /);
  t.notMatch(refusal, /member 11\b/);
});

t.test('the columns of the Template find a list inside an object', async (t) => {
  const reading: JsonReading = { expected: expecting(['id', 'amount']) };
  const rows = [['id'], ['1'], ['2']];
  const list = '[{"id":1},{"id":2}]';
  for (const file of [
    `{"data":{"orders":${list}}}`,
    `{"errors":[],"result":{"rows":${list}}}`,
    `{"a":{"b":{"x":[1,[{"id":9}]],"y":[],"z":[[{"id":9}]]}},"c":{"d":[{"name":1},{"id":9}],"e":{"f":{}},"rows":${list}},"g":[1]}`,
    `{"a":{"k":1},"a":{"rows":${list}}}`,
    `{"a":{"b":{"c":{"d":{"e":{"f":{"rows":${list}}}}}}}}`,
  ]) {
    t.strictSame(await texts(file, reading), rows, file);
  }
  for (const [file, lists] of [
    [`{"a":{"x":${list}},"b":{"y":${list}}}`, 'member 1 (list inside this object), member 2 (list inside this object)'],
    [`{"a":{"x":${list},"y":${list}}}`, 'member 1 (list inside this object), member 1 (list inside this object)'],
    [`{"errors":[{"code":1}],"a":{"x":${list}}}`, 'member 1 (list of objects), member 2 (list inside this object)'],
  ] as const) {
    t.match(await refusalOf(file, reading), `${lists}. Name the list`, file);
  }
  t.strictSame(await texts(`{"id":7,"data":{"orders":[{"id":1}]}}`, reading), [
    ['id', 'data'],
    ['7', '{"orders":[{"id":1}]}'],
  ]);
  t.strictSame(await texts(`{"orders":${list},"customer":{"tags":[{"id":3}]}}`, reading), rows, 'a member comes first');
  t.strictSame(await texts('{"items":[],"meta":{"filters":[{"name":"x"}]}}', reading), [['id', 'amount']]);
  t.strictSame(
    await texts(`{"count":1,"data":{"rows":[{"customer":{"name":"Ada"}}]}}`, {
      ...flatten,
      expected: expecting(['customer.name']),
    }),
    [['customer.name'], ['Ada']],
  );
});

t.test('the columns of the Template choose the records', async (t) => {
  const reading: JsonReading = { expected: expecting(['id', 'amount']) };
  const chosen = (file: string): Promise<unknown> => texts(file, reading);
  t.strictSame(await chosen('{"meta":[{"name":"id"}],"data":[{"id":1},{"id":2}]}'), [['id'], ['1'], ['2']]);
  t.strictSame(await chosen('{"links":[{"href":"x"}],"items":[{"id":1}],"errors":[]}'), [['id'], ['1']]);
  t.strictSame(
    await chosen('{"id":1,"lines":[{"sku":"x"}]}'),
    [
      ['id', 'lines'],
      ['1', '[{"sku":"x"}]'],
    ],
    'an object that has them is one record',
  );
  t.strictSame(await chosen('{"id":7,"orders":[{"id":1}]}'), [['id'], ['1']], 'else the only list of objects');
  t.strictSame(await chosen('{"count":0,"orders":[]}'), [['id', 'amount']], 'no records on this day');
  t.strictSame(await chosen('{"orders":[],"errors":[]}'), [['id', 'amount']]);
  t.strictSame(await chosen('[]'), [['id', 'amount']]);
  t.match(await refusalOf('{"links":[{"href":"x"}],"items":[]}', reading), /member 2 \(empty list\)/);
  const flat: JsonReading = { ...flatten, expected: expecting(['customer.name']) };
  t.strictSame(await texts('{"count":1,"rows":[{"customer":{"name":"Ada"}}]}', flat), [['customer.name'], ['Ada']]);
});

t.test('pages that were joined, and a list on each line', async (t) => {
  t.strictSame(await texts('[{"id":1},{"id":2}][]\n[{"id":3,"x":4}]\n'), [
    ['id', 'x'],
    ['1', null],
    ['2', null],
    ['3', '4'],
  ]);
  const lines = '["id","name"]\n[1,"a"]\n[2,"b"]\n';
  const rows = [
    ['id', 'name'],
    ['1', 'a'],
    ['2', 'b'],
  ];
  for (const windowBytes of [undefined, 7]) t.strictSame(await texts(lines, { windowBytes }), rows);
  t.match(await refusalOf('[1,2,3]'), /column 2: an object or a list is expected: the file is a list of plain values/);
  t.match(
    await refusalOf('[[1],[2]][[3]]'),
    /another value begins. Lists of lists are not joined, .* Send one list\.$/,
  );
});

t.test('header_row of lists of lists', async (t) => {
  const file = '[["title"],["id","name"],[1,"a"]]';
  const headerRow = (header_row: number | 'none'): JsonReading => ({ input: { csv: { header_row } } });
  t.strictSame(await texts(file, headerRow(1)), [
    ['id', 'name'],
    ['1', 'a'],
  ]);
  t.strictSame(await texts('[[1,"a"],[2,"b"]]', headerRow('none')), [
    ['', ''],
    ['1', 'a'],
    ['2', 'b'],
  ]);
  t.match(await refusalOf(file, headerRow(3)), /The header row \(header_row\) is after the last list/);
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
  t.strictSame(counts, { RAGGED_ROW: { count: 1, rows: [3] }, SHORT_ROW: { count: 2, rows: [1, 2] } });
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

t.test('more keys than the table can hold at first', async (t) => {
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
  const expected = expecting(['b', 'A']);
  const line = '{"a":1,"b":2}\n';
  const late = `${line.repeat(10_000)}{"late":1,"b":3}\n`;
  const reading = { expected, input: { other_columns: 'drop' } };
  const streamed = await readJsonFile(late, reading);
  t.strictSame(streamed.headers, ['a', 'b'], 'all that it looks for came in the first 64 KiB');
  t.strictSame(streamed.rows.at(-1), [null, [NUMBER, '3']]);
  const whole = await readJsonFile(late.replaceAll('"a":1', '"c":1').replace('"late"', '"a"'), reading);
  t.strictSame(whole.headers, ['c', 'b', 'a'], 'one of them comes late');
});

const NO_COMMA = 'JSON has no comma after the last value of a list or object. Remove it.';
const NO_COMMENTS = 'JSON has no comments. Remove them.';
const NO_NAN = 'NaN and Infinity are not JSON. Write null instead, or read them as null (input.json.nan: blank).';

t.test('values that are read as null do not move the position of an error', async (t) => {
  const before = '{"a":NaN,"b":[-Infinity,NaN,-NaN,Infinity]}';
  for (const [file, place] of [
    [`${before}{"a":x}`, `Line 1, column ${before.length + 6}`],
    [`${before}\n${before}{"a":NaN,"b":01}`, `Line 2, column ${before.length + 15}`],
    [`${before}\n{"a":x}`, 'Line 2, column 6'],
    [before.slice(0, -1), `Line 1, column ${before.length}`],
  ] as const) {
    const { outcome } = await applyTemplate({ input: { json: { nan: 'blank' } }, operations: [] }, file);
    t.match(outcome.failure?.message, new RegExp(`^${place}:`), file);
  }
});

t.test('invalid JSON is refused with its position', async (t) => {
  const refusals: readonly (readonly [file: string | Buffer, message: string])[] = [
    ['[{"a":1},]', `Line 1, column 10: an object is expected, as all records are objects. ${NO_COMMA}`],
    ['[\n{"a":1,}]', `Line 2, column 8: a key in double quotes is expected. ${NO_COMMA}`],
    [
      '{"a":1}\n// CanaryComment\n{"a":2}',
      `Line 2, column 1: an object is expected, as all records are objects. ${NO_COMMENTS}`,
    ],
    ['{"a":1 /* Canary */}', `Line 1, column 8: "," or "}" is expected. ${NO_COMMENTS}`],
    [
      "{'a':1}",
      'Line 1, column 2: a key in double quotes or "}" is expected. JSON has double quotes around texts and keys.',
    ],
    ['{"a" 1}', 'Line 1, column 6: ":" is expected.'],
    ['{"a":01}', 'Line 1, column 7: "," or "}" is expected.'],
    ['{"a":1.}', 'Line 1, column 8: a digit is expected.'],
    ['{"a":NaN}', `Line 1, column 6: a value is expected. ${NO_NAN}`],
    ['{"a":-Infinity}', `Line 1, column 7: a digit is expected. ${NO_NAN}`],
    ['{"a":None}', 'Line 1, column 6: a value is expected. This is Python, not JSON. Write the file with json.dump.'],
    ['{"a":[1,]}', `Line 1, column 9: a value is expected. ${NO_COMMA}`],
    ['{"a":[1}}', 'Line 1, column 8: "," or "]" is expected.'],
    ['{"a":"\\x"}', 'Line 1, column 7: a backslash is not the start of a JSON escape.'],
    [
      '{"a":"x\ty"}',
      'Line 1, column 8: a string contains a control character that is not escaped, or its closing quote is missing.',
    ],
    ['[{"a":1},\n {"a"', 'Line 2, column 6: the file ends in the middle of its JSON.'],
    ['[{"a":1}', 'Line 1, column 9: the file ends in the middle of its JSON.'],
    ['{"x":[{"a":1}]', 'Line 1, column 15: the file ends in the middle of its JSON.'],
    [
      '[{"a":1}] {',
      'Line 1, column 11: the end of the file is expected after its JSON, and another value begins. Send one list of all ' +
        'records, or records one after the other.',
    ],
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

t.test('lists without records give way to other work of the thread', async (t) => {
  const lists = 10_000;
  let looks = 0;
  const clock = {
    isDue: () => {
      looks++;
      return true;
    },
  };
  const { rows } = await readJsonFile(`[{"a":1}]${'[]'.repeat(lists)}[{"a":2}]`, { clock });
  t.equal(rows.length, 2);
  t.ok(looks >= lists / 512, `${looks} looks at the clock`);
});

t.test('values beside the list of records are counted, each member once, whatever the windows', async (t) => {
  const orders = '[{"id":1},{"id":2}]';
  const nested = `{"page":{"no":1},"data":{"x":[{"y":[]}],"orders":${orders},"y":{"a":{"b":[1]},"c":2}},"z":null,"links":[[{}]]}`;
  const files: readonly (readonly [file: string, pointer: string | null, expected: number])[] = [
    [orders, null, 0],
    ['{"id":1}\n{"id":2}', null, 0],
    [`${orders}${orders}`, null, 0],
    [`{"orders":${orders}}`, null, 0],
    ['{"count":0,"orders":[]}', '/orders', 1],
    [`{"count":2,"currency":"EUR","orders":${orders},"meta":{"a":{"b":1},"c":2}}`, null, 3],
    [`{"orders":${orders},"orders":${orders}}`, '/orders', 1],
    [nested, '/data/orders', 5],
    [`[1,{"a":1,"orders":${orders}},3]`, '/1/orders', 3],
    ['{"columns":["a"],"rows":[["a","b"],[1,2]],"n":1}', '/rows', 2],
  ];
  for (const [file, pointer, expected] of files) {
    for (const windowBytes of [40, 41, 47, 524_288]) {
      const input = { json: { records: pointer } };
      const { valuesBeside } = await readJsonFile(file, { windowBytes, input, chunks: [windowBytes, 0, 7] });
      t.equal(valuesBeside, expected, `${file} at ${pointer} in windows of ${windowBytes} bytes`);
    }
  }
});

t.test('many values beside the list give way to other work of the thread', async (t) => {
  const values = 10_000;
  let looks = 0;
  const clock = {
    isDue: () => {
      looks++;
      return true;
    },
  };
  const beside = Array.from({ length: values }, (_, index) => `"${index}":0`).join();
  const file = `{"orders":[{"a":1}],${beside}}`;
  const { valuesBeside } = await readJsonFile(file, { ...records('/orders'), clock });
  t.equal(valuesBeside, values);
  t.ok(looks >= values / 128, `${looks} looks at the clock`);
});
