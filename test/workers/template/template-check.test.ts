// The check of a Template: problems with their places and suggestions, in both formats.
import { test } from 'tap';
import { checkTemplate } from '../../../workers/plan/template-cache.ts';
import { parseTemplate } from '../../../workers/template/template-text.ts';
import { places, problemsOf, sound } from './check-problems.ts';

test('a Template is normalised with every default filled in', async (t) => {
  const { input, output, defaults, operations, fileColumns, flagColumn } = sound('{}', 'json');
  t.strictSame(input, {
    format: 'auto',
    headerMatch: 'normal',
    duplicateHeaders: 'suffix',
    otherColumns: 'keep',
    nullValues: [''],
    csv: {
      delimiter: null,
      headerRow: null,
      headerRows: null,
      encoding: null,
      quote: null,
      ragged: 'pad',
      escape: null,
      recordSeparator: null,
      strayQuotes: 'keep',
      nulBytes: 'fail',
      comment: null,
      columns: null,
    },
    fixed: null,
    json: { records: null, flatten: null, nan: 'fail' },
    parquetBytes: 'text',
    archiveFile: null,
    archiveFiles: null,
    sheet: null,
    sheetInto: null,
    table: null,
    merged: 'first',
    hidden: 'keep',
    preamble: [],
    footer: [],
    columns: [],
  });
  t.strictSame(defaults, { onError: 'fail', flagColumn: '_issues', maxErrors: null, maxErrorRatio: null });
  t.match(output.settings, { delimiter: ',' });
  t.match(sound('output: {format: tsv}').output.settings, { delimiter: '\t' });
  t.match(sound('output: {format: ndjson}').output.settings, { layout: 'ndjson' });
  t.match(sound('output: {format: json}').output.settings, { layout: 'array' });
  t.strictSame([operations, fileColumns, flagColumn], [[], [], null]);
});

test('operations are read in all forms; comments and disabled operations are left out', async (t) => {
  const { operations } = sound(`
operations:
  - {op: drop, columns: a, id: first, note: why}
  - drop: {columns: [b], if_missing: skip}
  - {operation: rename, style: snake, on_error: flag}
  - comment: anything
  - {op: comment, text: anything}
  - {op: drop, columns: c, enabled: false}
`);
  const seen = operations.map(({ pointer, name, id, ifMissing, onError }) => ({
    pointer,
    name,
    id,
    ifMissing,
    onError,
  }));
  t.strictSame(seen, [
    { pointer: '/operations/0', name: 'drop', id: 'first', ifMissing: 'fail', onError: 'fail' },
    { pointer: '/operations/1', name: 'drop', id: null, ifMissing: 'skip', onError: 'fail' },
    { pointer: '/operations/2', name: 'rename', id: null, ifMissing: 'fail', onError: 'flag' },
  ]);
  t.strictSame(Object.keys(operations[0]!.parameters), ['columns'], 'an operation sees its own parameters only');
});

test('all problems at once, in the order of the text, with suggestions', async (t) => {
  const source = `format: 1
nam: x
input:
  header_match: losse
operations:
  - {op: renam, columns: {a: b}}
  - {op: rename, colums: {a: b}}
  - {op: transpose, by: a}
  - rename: {columns: {a: 1}}
  - {op: drop, columns: {type: txt}}
  - {op: rename, pattern: a}
  - {op: drop, columns: 3}
  - drop
  - {columns: a, enabled: yes}
output: {format: cvs}
`;
  const messages = problemsOf(source).map(({ line, pointer, message }) => `${line} ${pointer} ${message}`);
  t.strictSame(messages, [
    '2 /nam Unknown key "nam". Did you mean "name"?',
    '4 /input/header_match Write "exact", "normal" or "loose". Did you mean "loose"?',
    '6 /operations/0 There is no operation "renam". Did you mean "rename"?',
    '7 /operations/1/colums Unknown parameter "colums" of rename. Did you mean "columns"?',
    '8 /operations/2/by Unknown parameter "by" of transpose. Did you mean "columns"?',
    '9 /operations/3/rename/columns/a Write a text, not 1. Put it in quotes.',
    '10 /operations/4/columns/type Write "text", "integer", "decimal", "number", "boolean", "date", "datetime" or "json". Did you mean "text"?',
    '11 /operations/5 Give exactly one of "columns", "pattern" with "replace" or "style".',
    '12 /operations/6/columns Write a column set: "a", ["a", "b"], {pattern: "^a"}, {type: text}, {except: ["a"]} or "*".',
    '13 /operations/7 Write {drop: {...}}.',
    '14 /operations/8 The name of the operation is missing. Write {op: drop, ...}.',
    '15 /output/format Write "csv", "tsv", "xlsx", "json", "ndjson" or "parquet". Did you mean "csv"?',
  ]);
  const many = `operations:\n${'  - {op: drop, colums: a}\n'.repeat(200)}`;
  t.equal(problemsOf(many).length, 50);
});

test('the places of problems are those of the text, in both formats', async (t) => {
  const json =
    '{\r\n  "operations": [\r\n    {"op": "drop", "columns": ["a"]},\r\n    {"drop": {"columns": ["b", "a"]}}\r\n  ]\r\n}';
  t.strictSame(places(json, 'json'), ['4:32 /operations/1/drop/columns/1 UNKNOWN_COLUMN']);
  t.strictSame(places('operations:\n- op: drop\n  columns:\n    - a\n- drop:\n    columns: [b, a]\n'), [
    '6:18 /operations/1/drop/columns/1 UNKNOWN_COLUMN',
  ]);
  t.strictSame(places('{"a/b~c": 1}', 'json'), ['1:2 /a~1b~0c UNKNOWN_KEY']);
});

test('JSON is strict and YAML is the core of 1.2', async (t) => {
  const broken = [
    '',
    '{',
    '{"a":1,}',
    "{'a':1}",
    '{"a":01}',
    '{"a":1} x',
    '{"a":"\n"}',
    '{"a":nul}',
    '{"a" 1}',
    '[1 2]',
  ];
  for (const text of broken) t.match(places(text, 'json'), [/ {2}SYNTAX$/], JSON.stringify(text));
  t.strictSame(places('{"name":"a",\n "name":"b"}', 'json'), ['2:2  DUPLICATE_KEY']);
  t.strictSame(places('name: a\nname: b\n'), ['2:1  DUPLICATE_KEY']);
  t.strictSame(places('name: !!str a\n'), ['1:1  YAML_TAG']);
  t.strictSame(places('name: !x a\n'), ['1:1  YAML_TAG']);
  t.strictSame(places('%YAML 1.1\n---\nname: a\n'), ['1:1  YAML_VERSION']);
  t.strictSame(places('name: a\n---\nname: b\n'), ['2:1  SYNTAX']);
  t.strictSame(places('name: [a\nb: c'), ['1:7  SYNTAX']);
  t.strictSame(places('defaults: {max_errors: 12345678901234567890}'), ['1:12  BAD_NUMBER']);
  t.strictSame(places('defaults: {max_errors: .inf}'), ['1:12  BAD_NUMBER']);
  t.strictSame(places('? [a]\n: b\n'), ['1:3  BAD_KEY']);
  const { operations } = sound('operations:\n  - rename: {columns: {01: no, yes: on, 1.50: "null", ~: x}}\n');
  t.strictSame(Object.entries(operations[0]!.parameters['columns'] as object), [
    ['01', 'no'],
    ['yes', 'on'],
    ['1.50', 'null'],
    ['~', 'x'],
  ]);
  t.equal(sound('\uFEFF{"name":"a"}', 'json').name, 'a', 'a byte order mark is not part of the text');
});

test('columns: those that the file must have, and names that cannot exist', async (t) => {
  const template = sound(`
input:
  columns:
    - {name: amount, match: [Betrag, {pattern: "^Betrag "}, {position: 3}]}
    - {name: note, required: false}
operations:
  - {op: drop, columns: [x, y], if_missing: skip}
  - {op: drop, columns: z, if_missing: 'null'}
  - rename: {columns: {amount: total, y2: y3}}
`);
  t.strictSame(
    template.fileColumns.map(({ name, ifMissing, declared }) => [name, ifMissing, declared]),
    [
      ['amount', 'fail', true],
      ['note', 'null', true],
      ['x', 'skip', false],
      ['y', 'skip', false],
      ['z', 'null', false],
      ['y2', 'fail', false],
    ],
  );
  const messages = problemsOf(`
operations:
  - rename: {columns: {amount: total}}
  - {op: drop, columns: fax}
  - {op: drop, columns: [amount]}
  - rename: {columns: {fax: x}}
  - {op: select, columns: [total, date]}
  - {op: drop, columns: dat}
  - {op: drop, columns: nothing}
  - rename: {columns: {date: total}}
output: {columns: [total, when]}
`).map(({ pointer, message }) => `${pointer} ${message}`);
  t.strictSame(messages, [
    '/operations/2/columns/0 The column "amount" does not exist at this step. It is called "total" since operation 1 rename (line 3, /operations/0).',
    '/operations/3/rename/columns/fax The column "fax" does not exist at this step. It was removed by operation 2 drop (line 4, /operations/1).',
    '/operations/5/columns The column "dat" does not exist at this step. Did you mean "date"?',
    '/operations/6/columns The column "nothing" does not exist at this step.',
    '/operations/7/rename/columns Two columns would be called "total". Give each its own name.',
    '/output/columns/1 The column "when" does not exist at this step.',
  ]);
});

test('patterns and styles reach columns that only later operations name', async (t) => {
  t.strictSame(places('operations:\n  - {op: drop, columns: {pattern: "^x_"}}\n  - {op: drop, columns: x_1}\n'), [
    '3:16 /operations/1/columns UNKNOWN_COLUMN',
  ]);
  t.strictSame(places('operations:\n  - {op: drop, columns: {except: [a]}}\n  - {op: drop, columns: b}\n'), [
    '3:16 /operations/1/columns UNKNOWN_COLUMN',
  ]);
  t.strictSame(places('operations:\n  - {op: select, columns: {pattern: "^x_"}}\n  - {op: drop, columns: x_1}\n'), []);
  const { fileColumns } = sound('operations:\n  - {op: rename, style: snake}\n  - {op: drop, columns: invoice_no}\n');
  t.strictSame(fileColumns, [], 'after a rename by style a name is not that of the file');
});

test('an invalid operation causes no problems of later operations', async (t) => {
  const source = `
operations:
  - {op: select, columns: [a, b]}
  - {op: rename, columns: {a: 1}}
  - {op: drop, columns: [c]}
  - {op: drop, colums: [a]}
  - {op: nothing}
  - {op: drop, columns: [e]}
`;
  t.strictSame(places(source), [
    '4:28 /operations/1/columns/a BAD_TYPE',
    '6:16 /operations/3/colums UNKNOWN_PARAMETER',
    '7:5 /operations/4 UNKNOWN_OPERATION',
  ]);
});

test('a broken input does not make its values look undeclared', async (t) => {
  const template = `input: {comment: "#", preamble: {start: {pattern: "x", wrong: 1}}, footer: {total: 1}}
operations: [{set: {columns: {a: run.meta.start, b: run.meta.total, c: run.meta.ned}}}]
`;
  const undeclared = problemsOf(template).filter(({ code }) => code === 'EXPR_UNKNOWN_COLUMN');
  t.strictSame(
    undeclared.map(({ pointer }) => pointer),
    ['/operations/0/set/columns/c'],
    'but for one that is',
  );
});

test('settings that exclude each other', async (t) => {
  const cases: [string, string][] = [
    ['input: {csv: {delimiter: "123456789"}}', '/input/csv/delimiter'],
    ['input: {csv: {delimiter: "\'", quote: "\'"}}', '/input/csv/delimiter'],
    ['input: {csv: {encoding: utf-9}}', '/input/csv/encoding'],
    ['input: {csv: {header_row: x}}', '/input/csv/header_row'],
    ['input: {columns: [{name: a}, {name: a}]}', '/input/columns/1/name'],
    ['input: {columns: [{name: a, match: [{pattern: "("}]}]}', '/input/columns/0/match/0/pattern'],
    ['input: {columns: [{name: a, match: [{position: 0}]}]}', '/input/columns/0/match/0/position'],
    ['output: {csv: {delimiter: ab}}', '/output/csv/delimiter'],
    ['output: {csv: {delimiter: "\\""}}', '/output/csv/delimiter'],
    ['output: {format: tsv, csv: {delimiter: ";"}}', '/output/csv/delimiter'],
    ['output: {csv: {encoding: windows-1252, bom: true}}', '/output/csv/bom'],
    ['output: {csv: {encoding: shift_jis}}', '/output/csv/encoding'],
    ['output: {csv: {date_format: qq}}', '/output/csv/date_format'],
    ['output: {format: ndjson, json: {layout: array}}', '/output/json/layout'],
    ['name: "a\\nb"', '/name'],
    ['tables: {x: {ref: ../x}}', '/tables/x/ref'],
    ['tests: [{input: {text: a, file: b}, expect: {rows: []}}]', '/tests/0/input'],
    ['tests: [{input: {text: a}}]', '/tests/0'],
    ['defaults: {max_error_ratio: 2}', '/defaults/max_error_ratio'],
    [
      'defaults: {on_error: flag, flag_column: a}\ninput: {columns: [{name: a}]}\noperations: [{drop: {columns: b}}]',
      '/defaults/flag_column',
    ],
    ['operations: {op: drop}', '/operations'],
    ['fragments: []', '/fragments'],
  ];
  for (const [source, pointer] of cases)
    t.strictSame(
      problemsOf(source).map((problem) => problem.pointer),
      [pointer],
      source,
    );
  const tables = new Map([['customers', 1]]);
  const result = checkTemplate('tables: {c: {ref: custmers}}', 'yaml', { tables });
  t.match(result, { problems: [{ pointer: '/tables/c/ref', message: /Did you mean "customers"\?/ }] });
});

test('mistakes of YAML are explained in plain words, at the place where they are corrected', async (t) => {
  const cases: readonly (readonly [text: string, line: number, message: RegExp])[] = [
    ['format: 1\noperations:\n  - {a: 1}\n - {b: 2}\n', 4, /list item is not indented like the others/],
    ['format: 1\noperations:\n  - {a: 1}\n   - {b: 2}\n', 4, /list item is not indented like the others/],
    ['operations:\n  - filter:\n      where: a\n     mode: drop\n', 4, /line is not indented like the lines above/],
    ['operations:\n  - {a: 1\n  - {b: 2}\noutput: {format: csv}\n', 2, /this "\{" is never closed/],
    ['operations:\n  - {a: "x}\n  - {b: 2}\n', 2, /quote is never closed/],
    ['format: 1\noperations:\n\t- {a: 1}\n', 3, /indented with a tab/],
    ['format: 1\nname: a: b\n', 2, /second ":" in this value/],
    ['operations:\n  - {a: 1}}\n', 2, /bracket closes nothing/],
    ['format: 1\nname\noperations: []\n', 2, /write "key: value"/],
    ['format:1\noperations: []\n', 1, /with a space after the ":"/],
    ['description: the customer\'s list\noperations:\n  - {a: "x}\n', 3, /quote is never closed/],
    ["operations:\n  - {a: '}', with: \"it's\"\n  - {b: 2}\noutput: {format: csv}\n", 2, /this "\{" is never closed/],
    ['operations: []\n---\noutput: {format: csv}\n', 2, /remove the line "---", or what follows it/],
    ['a: "\\d"\n', 1, /no meaning in double quotes/],
    ['operations:\n  - {a: 1}\n  b: {c: 2}\n  - {d: 3}\n', 3, /lacks its "- "/],
    ['operations:\n  - {a: 1}\n  b: {c: 2}\noutput: {format: csv}\n', 3, /lacks its "- "/],
    ['operations:\n  b: {c: 2}\n  - {d: 3}\n', 2, /lacks its "- "/],
    ['operations:\n  - a:\n      b: 1\n  # Note\n  c:\n    d: 1\n  - {e: 3}\n', 5, /lacks its "- "/],
    ['operations:\n- {a: 1}\nb: {c: 2}\n- {d: 3}\n', 3, /lacks its "- "/],
    ['operations:\r\n  - {a: 1}\r\n  -b: {c: 2}\r\n  - {d: 3}\r\n', 3, /lacks its "- "/],
    ['operations:\n- {a: 1}\noutput\n', 3, /write "key: value"/],
    ['operations:\n  - {drop: {columns: *x}}\n', 2, /no value is. If it is meant as a text.*: "\*x"\.$/],
  ];
  for (const [text, line, message] of cases) {
    const parsed = parseTemplate(text, 'yaml');
    const found = 'problems' in parsed ? parsed.problems : [];
    t.match(found, [{ line, message }], text);
    t.equal(found.length, 1, `one mistake, one problem: ${text}`);
  }
});

test('a single column to sort by may be a mapping, with problems at its own place', async (t) => {
  const problemsAt = (by: string): string[] => {
    const source = `format: 1\noperations: [{select: {columns: [a]}}, {sort: {by: ${by}}}]`;
    return problemsOf(source).map(({ pointer, code }) => `${pointer} ${code}`);
  };
  t.strictSame(problemsAt('{column: a, order: desc}'), []);
  t.strictSame(problemsAt('{column: b}'), ['/operations/1/sort/by/column UNKNOWN_COLUMN']);
  t.strictSame(problemsAt('{column: a, ordr: desc}'), ['/operations/1/sort/by/ordr UNKNOWN_KEY']);
});

test('a time pattern of minutes and seconds names the operation that reads them', async (t) => {
  const [problem] = problemsOf('format: 1\noperations: [{parse_time: {columns: a, formats: ["mm:ss"]}}]');
  t.match(problem, { code: 'BAD_PATTERN', message: /use parse_duration/ });
});
