// Keys of mappings count in the order of the Template, including whole numbers, which JavaScript would put first.
import { test } from 'tap';
import { readJson, readYaml } from '../../workers/template/template-text.ts';
import { applyTemplate } from '../workers/apply-template.ts';

/** A placeholder in the syntax of fragments. */
const PLACEHOLDER = ['$', '{column}'].join('');

const OPERATIONS = `[
  {"op": "replace", "columns": "a", "pairs": {"10": "A", "1": "B"}},
  {"set": {"columns": {"z": "\\"z\\"", "2025": "a", "2024": "b"}}},
  {"extract": {"column": "b", "pattern": "(.)(.)", "into": {"2": "y", "1": "x"}}},
  {"flatten_json": {"column": "c", "fields": {"[1]": "second", "[0]": "first"}}},
  {"cast": {"columns": {"2025": "text", "2024": "integer"}, "into": {"2025": "t", "2024": "n"}}}
]`;

test('as written', async (t) => {
  const input = 'a,b,c\n10,17,"[3,4]"\n1,28,[5]\n';
  const output = [
    'a,b,c,z,2025,2024,y,x,second,first,t,n',
    'A,17,"[3,4]",z,A,17,7,1,4,3,A,17',
    'B,28,[5],z,B,28,8,2,,5,B,28',
    '',
  ].join('\n');
  const { text } = await applyTemplate(`{"format": 1, "operations": ${OPERATIONS}}`, input);
  t.equal(text, output);
  const fragments = `{"all": ${OPERATIONS.replaceAll('"a"', `"${PLACEHOLDER}"`)}}`;
  const use = '[{"use": {"fragment": "all", "with": {"column": "a"}}}]';
  const used = await applyTemplate(`{"format": 1, "fragments": ${fragments}, "operations": ${use}}`, input);
  t.equal(used.text, output, 'in a fragment');
});

test('in objects that the readers return', async (t) => {
  const source = '{"b": 1, "7": {"02": 2, "1": 3, "0": 4}, "a": [{"5": 5, "4": null}]}';
  for (const read of [readJson, readYaml]) {
    const made = read(source);
    if ('problems' in made) throw new Error('the source is sound');
    const value = made.root.value as Readonly<Record<string, object>>;
    t.equal(JSON.stringify(value), source.replaceAll(' ', ''));
    t.strictSame(Object.entries(value['7']!).flat(), ['02', 2, '1', 3, '0', 4]);
    t.ok(Object.hasOwn(value, '7') && !Object.hasOwn(value, '8') && 'b' in value);
  }
});
