// Fragments of Templates, and Templates written to cause harm.
// With all tests only: attacks and faults of the machine.

import { test } from 'tap';
import { operationTable } from '../../../workers/operations/index.ts';
import { checkTemplate } from '../../../workers/plan/template-cache.ts';
import { Failed } from '../../../workers/protocol/failure.ts';
import type { TemplateFormat } from '../../../workers/template/template-text.ts';
import { fc } from '../../random.ts';
import { sweep } from '../../sweep.ts';
import { planRun } from '../plan/plan-run.ts';
import { places, problemsOf, sound } from './check-problems.ts';

test('fragments replace their use, with their values', async (t) => {
  const template = sound(`
fragments:
  tidy:
    - {op: drop, columns: "\${gone}"}
    - use: {fragment: inner, with: {to: "\${prefix}_x"}}
  inner: [{rename: {columns: {x: "\${to}"}}}]
operations:
  - {op: use, fragment: tidy, with: {gone: [a, b], prefix: p}}
  - {op: use, fragment: nowhere, enabled: false}
`);
  t.strictSame(
    template.operations.map(({ pointer, name }) => [pointer, name]),
    [
      ['/fragments/tidy/0', 'drop'],
      ['/fragments/inner/0', 'rename'],
    ],
  );
  t.strictSame(template.operations[0]!.parameters['columns'], ['a', 'b'], 'a placeholder alone is the value itself');
  t.match(template.operations[1]!.parameters, { columns: { x: 'p_x' } });
  const messages = problemsOf(`
fragments:
  tidy: [{op: drop, columns: "\${gone}"}]
  circle: [{use: {fragment: circle}}]
  unused: [{op: drop, colums: x}]
operations:
  - use: tidi
  - use: {fragment: tidy, with: {gon: [a]}}
  - use: circle
  - use: {fragment: tidy, wiht: {gone: a}}
`).map(({ pointer, code }) => `${pointer} ${code}`);
  t.strictSame(messages, [
    '/fragments/circle/0 FRAGMENT_CYCLE',
    '/fragments/unused/0/colums UNKNOWN_PARAMETER',
    '/operations/0/fragment UNKNOWN_FRAGMENT',
    '/operations/1/use FRAGMENT_VALUE',
    '/operations/1/use/with/gon FRAGMENT_VALUE',
    '/operations/3/use FRAGMENT_VALUE',
    '/operations/3/use/wiht UNKNOWN_PARAMETER',
  ]);
});

test('names of JavaScript properties are ordinary names', async (t) => {
  const names = ['__proto__', 'constructor', 'toString', 'hasOwnProperty'];
  const json = `{"operations": [{"op": "drop", "columns": ${JSON.stringify(names)}}]}`;
  t.strictSame(
    sound(json, 'json').fileColumns.map(({ name }) => name),
    names,
  );
  const renamed = sound(`operations: [{rename: {columns: {__proto__: a, constructor: __proto__}}}]`);
  t.strictSame(
    renamed.fileColumns.map(({ name }) => name),
    ['__proto__', 'constructor'],
  );
  t.strictSame(places('{"__proto__": {"operations": 1}}', 'json'), ['1:2 /__proto__ UNKNOWN_KEY']);
  t.strictSame(places('operations: [{op: drop, columns: a, __proto__: {columns: b}}]'), [
    '1:37 /operations/0/__proto__ UNKNOWN_PARAMETER',
  ]);
  t.strictSame(places('operations: [{op: constructor}]'), ['1:14 /operations/0 UNKNOWN_OPERATION']);
  t.equal(({} as Record<string, unknown>)['operations'], undefined);
});

test('an operation whose name is no text', async (t) => {
  const odd = ['{}', '[{}]', 'null', '[[]]', '{"toString": 1}'].map(
    (op) => `{"operations":[{"op":${op},"colums":"a"}]}`,
  );
  for (const text of odd) t.ok(problemsOf(text, 'json').length > 0, text);
  const section = '{"output":{"op":{},"format":"csv"}}';
  t.strictSame(places(section, 'json'), ['1:12 /output/op UNKNOWN_KEY']);
  t.ok(problemsOf('{"operations":[{"use":{"op":{"op":"drop"}, "a": 1}}]}', 'json').length > 0);
});

test('hostile texts are refused, and soon', async (t) => {
  const bomb = ['a0: &a0 [x, x]', ...Array.from({ length: 40 }, (_, i) => `a${i + 1}: &a${i + 1} [*a${i}, *a${i}]`)];
  const doubling = Array.from(
    { length: 60 },
    (_, i) => `  f${i}: [{use: {fragment: f${i + 1}, with: {a: "\${a}\${a}", b: ["\${b}", "\${b}"]}}}]`,
  );
  const branching = Array.from({ length: 60 }, (_, i) => `  f${i}: [{use: f${i + 1}}, {use: f${i + 1}}]`);
  const names = Array.from({ length: 6_000 }, (_, i) => `c${i}`);
  const misspelt = [
    { op: 'select', columns: names },
    { op: 'drop', columns: names.map((name) => `${name}x`) },
    { op: 'set', columns: Object.fromEntries(names.map((name) => [name, `${name}x + 5`])) },
    { op: 'nope', columns: names },
    { op: 'round', columns: names },
  ];
  const hostile: [string, string, TemplateFormat][] = [
    ['aliases', bomb.join('\n'), 'yaml'],
    ['aliases in themselves', 'a: &a [*a]', 'yaml'],
    ['flow nesting', '['.repeat(100_000), 'yaml'],
    ['block nesting', '- '.repeat(100_000), 'yaml'],
    ['JSON nesting', '['.repeat(500_000), 'json'],
    ['nested mappings', '{"a":'.repeat(100_000), 'json'],
    ['size', ' '.repeat(2_000_000), 'json'],
    ['tokens', ']'.repeat(1_000_000), 'yaml'],
    ['brackets that are closed', '['.repeat(140_000) + ']'.repeat(140_000), 'yaml'],
    ['closings', '}'.repeat(290_000), 'yaml'],
    ['directives', `${'%FOO a\n'.repeat(100_000)}---\na: 1`, 'yaml'],
    ['documents', '---\n'.repeat(140_000), 'yaml'],
    ['mistakes', `{"operations":[{"op":"drop","columns":[${'1,'.repeat(90_000)}1]}]}`, 'json'],
    [
      'values in a wrong form',
      `{"operations":[{"op":"text","columns":"a","steps":[${'"trimm",'.repeat(100_000)}"trim"]}]}`,
      'json',
    ],
    [
      'unknown keys',
      `{"operations":[{"op":"drop",${Array.from({ length: 50_000 }, (_, i) => `"c${i}":1`).join()}}]}`,
      'json',
    ],
    ['values', `[${'0,'.repeat(300_000)}0]`, 'json'],
    [
      'fragments that double values',
      `fragments:\n${doubling.join('\n')}\n  f60: [{drop: {columns: "\${b}", note: "\${a}"}}]\noperations: [{use: {fragment: f0, with: {a: xx, b: [x]}}}]`,
      'yaml',
    ],
    [
      'fragments that double operations',
      `fragments:\n${branching.join('\n')}\n  f60: []\noperations: [{use: f0}]`,
      'yaml',
    ],
    [
      'operations',
      `{"operations":[${'{"op":"drop","columns":"a","if_missing":"skip"},'.repeat(2000)}{"op":"drop","columns":"b"}]}`,
      'json',
    ],
    ['misspelt names, each compared with all', JSON.stringify({ operations: misspelt }), 'json'],
    ['a pattern without end', `{"operations":[{"op":"drop","columns":{"pattern":"${'(a*)*'.repeat(2000)}"}}]}`, 'json'],
  ];
  for (const [name, source, format] of hostile) {
    const problems = problemsOf(source, format);
    t.ok(problems.length > 0 && problems.length <= 50, name);
    t.ok(
      problems.every(({ message }) => message.length < 2_000),
      `${name}: short messages`,
    );
  }
  const literal = `{"operations":[{"op":"rename","columns":{"a":"${'x'.repeat(900_000)}"}}]}`;
  t.equal(sound(literal, 'json').operations.length, 1, 'a huge literal is a literal');
});

test('wide Templates are checked in time that is linear in their columns', async (t) => {
  const names = Array.from({ length: 12_000 }, (_, column) => `c${column}`);
  const over = (operation: object): string =>
    JSON.stringify({ input: { columns: names.map((name) => ({ name })) }, operations: [operation] });
  const turns = Object.fromEntries(names.slice(0, 8_000).map((name, at) => [at % 2 === 0 ? name : `n${at}`, "'1'"]));
  t.equal(sound(over({ set: { columns: turns } }), 'json').operations.length, 1, 'known and new columns in turns');
  const alike = { unpivot: { columns: '*', names_to: ['name'], pattern: '(c)\\d+' } };
  t.equal(sound(over(alike), 'json').operations.length, 1, 'names that are alike when they are taken apart');
  const pieces = `${names.map((name) => `{${name}}`).join('')}${'{c11999}'.repeat(12_000)}`;
  const merged = { merge_columns: { template: pieces, into: 'all' } };
  t.equal(sound(over(merged), 'json').operations.length, 1, 'a text of many pieces');
});

test('many columns that many headers fit give one short error', async (t) => {
  const columns = Array.from({ length: 1_000 }, (_, column) => ({ name: `x${column}`, match: [{ pattern: 'c' }] }));
  const template = sound(JSON.stringify({ input: { columns }, operations: [] }), 'json');
  const headers = Array.from({ length: 16_000 }, (_, column) => `c${column}`);
  try {
    planRun(template, headers);
    t.fail('it cannot be planned');
  } catch (error) {
    t.ok(error instanceof Failed);
    t.equal((error as Failed).failure.code, 'TEMPLATE_COLUMNS_MISSING');
    t.ok((error as Failed).failure.message.length < 10_000, 'a short message');
  }
});

test('a Template with random values in random places is checked, and a valid one can be planned', async (t) => {
  const operations = [...operationTable.values()].flatMap(({ examples }) => examples.map(({ operation }) => operation));
  const whole = {
    input: {
      columns: [{ name: 'a', match: ['x', { pattern: '^y' }, { position: 2 }], required: false }],
      csv: { quote: '"' },
    },
    fragments: { f: [{ op: 'drop', columns: '$' + '{c}' }] },
    operations: [...operations, { use: { fragment: 'f', with: { c: 'q' } } }],
    defaults: { on_error: 'flag' },
    output: { format: 'csv', columns: ['a'], csv: { boolean: ['1', '0'] } },
    tests: [{ input: { text: 'a' }, expect: { rows: [{}] } }],
  };
  const junk = fc.oneof(
    fc.constantFrom<unknown>(null, true, 0, -1, 1.5, '', '*', 'a', 'nope', [], {}, ['a', 'a'], { a: 'a' }, [null], '('),
    fc.constantFrom<unknown>({ pattern: '(' }, { type: 'text' }, { except: ['a'] }, { __proto__: null }, [[]], {
      op: 'drop',
    }),
  );
  let passed = 0;
  fc.assert(
    // Some Templates get no junk, so that valid ones reach the planner too.
    fc.property(fc.infiniteStream(fc.nat()), fc.array(junk, { maxLength: 3 }), (stream, values) => {
      const picks = stream[Symbol.iterator]();
      const pick = (count: number): number => (picks.next().value as number) % count;
      const mutant = structuredClone({ ...whole, operations: [] as unknown[] });
      for (let left = 3; left > 0; left--)
        mutant.operations.push(structuredClone(whole.operations[pick(whole.operations.length)]));
      for (const value of values) mutate(mutant, value, pick);
      const result = checkTemplate(JSON.stringify(mutant), 'json');
      if (!('template' in result))
        return result.problems.every(({ message, line }) => message.length > 0 && line === 1);
      passed++;
      try {
        planRun(result.template, ['x', 'b', 'name', 'amount', 'q']);
      } catch (error) {
        if (!(error instanceof Failed)) throw error;
      }
      return true;
    }),
    { numRuns: sweep({ short: 100, long: 500 }) },
  );
  t.ok(passed > 0, 'some Templates are valid');
});

/** Puts a value at a random position, usually nested. */
function mutate(target: object, value: unknown, pick: (count: number) => number): void {
  let node = target as Record<string, unknown>;
  for (;;) {
    const keys = Object.keys(node);
    if (keys.length === 0) return;
    const key = keys[pick(keys.length)]!;
    const child = node[key];
    if (typeof child === 'object' && child !== null && pick(5) > 0) node = child as Record<string, unknown>;
    else {
      node[key] = structuredClone(value);
      return;
    }
  }
}
