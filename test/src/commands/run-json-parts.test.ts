// A local Run of NDJSON in parts by several threads: bytes, failure and report are those of the Run as a whole.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Test, test } from 'tap';
import type { LocalEngine } from '../../../src/commands/local-engine.ts';
import { type Noise, noise } from '../../random.ts';
import { sweep } from '../../sweep.ts';
import { engineOf, textOf } from './engine-of-parts.ts';

interface Done {
  readonly parts: number;
  /** Output, failure and report. */
  readonly result: string;
}

async function run(engine: LocalEngine, template: object, path: string): Promise<Done> {
  const { parts, outcome, outputPath } = await engine.run(path, textOf(template));
  const { output, failure, report } = outcome;
  const bytes = output === null ? null : Buffer.from(output.bytes ?? readFileSync(outputPath)).toString();
  return { parts, result: JSON.stringify({ bytes, failure, report }) };
}

function pathIn(t: Test, name: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'run-json-parts-'));
  t.teardown(() => rmSync(folder, { recursive: true }));
  return join(folder, name);
}

const KEYS = ['"a"', '"b"', '"c"', '"\\u0061b"', '"d.e"', '"é"', '"n"'];
const VALUES = [
  '1',
  '-2.50',
  '"x"',
  '""',
  'null',
  'true',
  '"a\\nb"',

  '[1, {"a": 2}]',
  '"{\\"a\\":1}"',
  '1e3',
];
/** Not in records with repeated keys: the order of two codes that occur first in one row is not defined. */
const LONE_SURROGATE = '"\\ud800"';
const NESTED = ['{"p": 1, "q": "x"}', '{"p": {"r": null}}', '{}'];

function anyRecord(next: Noise, newline: string): string {
  const pick = <T>(some: readonly T[]): T => some[next(some.length)]!;
  const hasRepeats = next(2) === 0;
  const keys = hasRepeats ? Array.from({ length: next(6) }, () => pick(KEYS)) : KEYS.filter(() => next(2) === 0);
  const anyValue = (): string => pick(next(6) === 0 ? NESTED : hasRepeats ? VALUES : [...VALUES, LONE_SURROGATE]);
  const members = keys.map((key) => `${key}: ${anyValue()}`);
  return next(20) === 0 ? `{${newline}${members.join(`,${newline}  `)}${newline}}` : `{${members.join(', ')}}`;
}

function anyFile(next: Noise): string {
  const newline = ['\n', '\n', '\r\n'][next(3)]!;
  const rows = 20 + next(400);
  const records = Array.from({ length: rows }, () => anyRecord(next, newline));
  if (next(8) === 0) records[next(rows)] = ['{"a": 1', '[1]', '{"a": 1},', '7', '{"a": "\u0001"}'][next(5)]!;
  const separator = next(6) === 0 ? newline + newline : newline;
  const start = next(10) === 0 ? '\ufeff' : next(10) === 0 ? ` ${newline}` : '';
  return start + records.join(separator) + (next(2) === 0 ? newline : '');
}

function anyTemplate(next: Noise): object {
  const pick = <T>(some: readonly T[]): T => some[next(some.length)]!;
  const operations = [
    { op: 'parse_number', columns: ['b'], on_error: pick(['drop_row', 'blank', 'flag', 'fail']) },
    { op: 'filter', where: pick(['a != "x"', 'b != null']) },
    { op: 'set', columns: { z: 'coalesce(a, "-") + "/"' } },
  ].filter(() => next(2) === 0);
  const columns = ['a', 'b'].map((name) => ({ name, required: false }));
  const input = {
    ...(next(3) === 0 ? { json: { flatten: '.' } } : {}),
    ...(next(3) === 0 ? {} : { columns, other_columns: pick(['drop', 'keep']) }),
  };
  return {
    input,
    operations: 'columns' in input ? operations : [],
    output: pick<object>([{}, { format: 'ndjson' }]),
  };
}

for (const threads of [1, 2, 4]) {
  test(`parts of any file give what the whole gives, ${threads} threads`, async (t) => {
    const path = pathIn(t, 'input.ndjson');
    const [whole, divided] = [engineOf(t, 1, null), engineOf(t, threads, 700)];
    const files = sweep({ short: 40, long: 400 });
    let inParts = 0;
    for (let number = 1; number <= files; number++) {
      const next = noise(number * 8 + threads);
      writeFileSync(path, anyFile(next));
      const template = anyTemplate(next);
      const expected = await run(whole, template, path);
      const made = await run(divided, template, path);
      if (made.parts > 1) inParts++;
      t.equal(made.result, expected.result, `file ${number}: ${JSON.stringify(template)}`);
    }
    t.ok(inParts > files / 5, `${inParts} of ${files} were done in parts`);
  });
}

test('columns that only later records have are read as a whole, unless they are not used', async (t) => {
  const path = pathIn(t, 'input.ndjson');
  const early = '{"a": 1}\n'.repeat(12_000);
  writeFileSync(path, `${early}{"a": 2, "late": 3}\n`);
  const [whole, divided] = [engineOf(t, 1, null), engineOf(t, 2, 20_000)];
  for (const [template, isDivided] of [
    [{}, false],
    [{ input: { columns: [{ name: 'a' }], other_columns: 'drop' } }, true],
  ] as const) {
    const made = await run(divided, template, path);
    t.equal(made.result, (await run(whole, template, path)).result);
    t.equal(made.parts > 1, isDivided, `${made.parts} parts`);
  }
});
