// `--like`: which column of a sample is which column of a target.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'tap';
import { likeScore } from '../../../bench/like-scores.ts';
import { ColumnProfile } from '../../../src/drafts/column-profile.ts';
import {
  assign,
  matchColumns,
  NameScore,
  type SampleColumn,
  SYNONYMS,
  type TargetColumn,
} from '../../../src/drafts/like/match-columns.ts';
import { checkTemplate } from '../../../workers/plan/template-cache.ts';
import { processorClock } from '../../processor-clock.ts';
import { fc } from '../../random.ts';
import { skipUnlessLong } from '../../sweep.ts';
import { cli } from '../commands/command-line.ts';

test('the assignment is worth as much as the best of all', async (t) => {
  const worths = fc.integer({ min: 1, max: 5 }).chain((columns) =>
    fc.array(fc.array(fc.integer({ min: 0, max: 9 }), { minLength: columns, maxLength: columns }), {
      minLength: 1,
      maxLength: 5,
    }),
  );
  fc.assert(
    fc.property(worths, (worth) => {
      const chosen = assign(worth);
      const taken = chosen.filter((column) => column !== null);
      t.equal(new Set(taken).size, taken.length, 'no column twice');
      t.equal(taken.length, Math.min(worth.length, worth[0]!.length));
      const sum = chosen.reduce<number>((left, column, row) => left + (column === null ? 0 : worth[row]![column]!), 0);
      t.equal(sum, best(worth, new Set()));
    }),
    { numRuns: 100 },
  );
});

/** Tries all assignments. */
function best(worth: readonly (readonly number[])[], taken: ReadonlySet<number>, row = 0): number {
  if (row === worth.length) return 0;
  const without = worth.length - row > worth[0]!.length - taken.size ? best(worth, taken, row + 1) : -1;
  const withOne = worth[row]!.map((value, column) =>
    taken.has(column) ? -1 : value + best(worth, new Set([...taken, column]), row + 1),
  );
  return Math.max(without, ...withOne);
}

test('names', async (t) => {
  const names = new NameScore();
  t.equal(names.of('Amount', 'Amount'), 1);
  t.ok(names.of('E-Mail', 'email') >= 0.97, 'spelling');
  t.ok(names.of('Buchungstag', 'booked_on') >= 0.9, 'a synonym');
  t.ok(names.of('Delivery City', 'city') >= 0.75, 'with a qualifier');
  t.ok(names.of('Saldo', 'salto') < 0.75, 'letters alone are not enough');
  t.ok(names.of('Amount', 'Currency') < 0.3);
  for (const line of SYNONYMS) {
    const phrases = line.split(' ');
    t.ok(
      phrases.every((phrase) => /^[\p{Ll}\p{N}_]+$/u.test(phrase)),
      line,
    );
    t.equal(new Set(phrases).size, phrases.length, `no phrase twice: ${line}`);
  }
});

test('pairs that are held back from tuning', { skip: skipUnlessLong }, async (t) => {
  const { pairs, active, right } = likeScore('held-back');
  t.ok(pairs >= 200, `${pairs} pairs`);
  t.ok(right / active >= 0.98, `precision ${right / active}`);
  t.ok(right / pairs >= 0.7, `recall ${right / pairs}`);
});

const SAMPLE = 'Buchungstag;Betrag;Kunde Nr;Zustand\n31.10.2026;1.234,50;K-1;offen\n01.11.2026;7,00;K-2;bezahlt\n';

test('a Template, a JSON Schema and a file of rows as the target', async (t) => {
  const folder = t.testdir({
    'sample.csv': SAMPLE,
    'like.yaml':
      'input: {columns: [{name: booked_on}, {name: amount}, {name: weight}]}\noperations: [{parse_number: {columns: amount}}]\n',
    'like.json':
      '{"properties": {"booked_on": {"type": "string", "format": "date"}, "total_amount": {"type": "number", "title": "Betrag"}}}',
    'like.csv': 'amount,state\n5.00,offen\n6.00,bezahlt\n',
  });
  const draft = async (target: string): Promise<string> => {
    const { status, stdout, stderr } = await cli(
      'template',
      'draft',
      join(folder, 'sample.csv'),
      '--like',
      join(folder, target),
    );
    t.equal(status, 0, stderr);
    return stdout;
  };
  const template = await draft('like.yaml');
  t.match(template, / {4}- \{name: booked_on, match: \[Buchungstag\]\} {2}# similarity 0\.\d\d/);
  t.match(template, / {4}- \{name: amount, match: \[Betrag\]\}/);
  t.match(template, / {4}# - \{name: weight, required: false\} {2}# no column of the sample is similar/);
  t.match(template, /\{parse_number: \{columns: amount, decimal/, 'lines use the names of the target');
  const schema = await draft('like.json');
  t.match(schema, /- \{name: total_amount, match: \[Betrag\]\} {2}# similarity/);
  const rows = await draft('like.csv');
  t.match(rows, /- \{name: amount, match: \[Betrag\]\}/);
  t.notMatch(rows, / {4}- \{name: state, match: \[Buchungstag\]\}/);
});

test('a name of a target is written so that it reads as it is', async (t) => {
  for (const [name, amount, checks] of [
    ["Buyer's name", 'Amount', true],
    ['The "name"', 'Amount "net"', true],
    ['Na\\me', 'Am\\ount', true],
    ['Name\nof buyer', 'Amount\nnet', true],
    ['The `name`', 'The `amount`', false],
    ['in', 'amount (EUR)', true],
  ] as const) {
    const sample = join(t.testdir({}), 'sample.csv');
    const names = [name, amount, `${name} paid`, `${name} due`];
    const header = names.map((text) => `"${text.replaceAll('"', '""')}"`).join(',');
    writeFileSync(sample, `${header}\nx,1.50,01/02/2026,25/02/2026\ny,2.50,03/04/2026,04/04/2026\nTotal,4.00,,\n`);
    const { status, stdout, stderr } = await cli('template', 'draft', sample, '--like', sample);
    t.equal(status, 0, stderr);
    t.match(stdout, /^ {2}- \{stop_when/m, `${name}: the end of the table is known`);
    t.equal(/^ {2}- \{check_totals/m.test(stdout), checks, `${amount}: its sum is checked`);
    const checked = checkTemplate(stdout, 'yaml');
    t.strictSame(
      'problems' in checked ? checked.problems : checked.template.fileColumns.map((column) => column.name),
      names,
      stdout,
    );
  }
});

test('what is no target is said', async (t) => {
  const folder = t.testdir({ 'sample.csv': SAMPLE, 'bad.yaml': 'nam: x\n' });
  writeFileSync(join(folder, 'broken.json'), '{');
  const like = (name: string): ReturnType<typeof cli> =>
    cli('template', 'draft', join(folder, 'sample.csv'), '--like', join(folder, name));
  t.match(await like('bad.yaml'), { status: 1, stdout: '', stderr: /target has problems/ });
  t.match(await like('broken.json'), { status: 1, stdout: '', stderr: /target cannot be read/ });
  t.match(await like('none.csv'), { status: 1, stdout: '', stderr: /none\.csv does not exist\./ });
});

test('a JSON Schema of lists of rows, and one that is broken', async (t) => {
  const folder = t.testdir({ 'sample.csv': SAMPLE });
  const like = (target: unknown): ReturnType<typeof cli> => {
    writeFileSync(join(folder, 'like.json'), JSON.stringify(target));
    return cli('template', 'draft', join(folder, 'sample.csv'), '--like', join(folder, 'like.json'));
  };
  const amount = { properties: { amount: { title: 'Betrag' } } };
  for (const target of [amount, { items: amount }, { items: { items: amount } }, { ...amount, items: {} }]) {
    t.match(await like(target), { status: 0, stdout: /- \{name: amount, match: \[Betrag\]\}/ }, JSON.stringify(target));
  }
  t.match(await like({ properties: { Betrag: true } }), { status: 0, stdout: /- \{name: Betrag\}/ });
  for (const property of [null, false, 5, 'a', { enum: 5 }, { examples: 'a' }, { title: 5 }, { minimum: 'a' }]) {
    const refused = await like({ properties: { amount: property } });
    t.match(refused, { status: 1, stdout: '', stderr: /target has problems: the property "amount"/ }, `${property}`);
  }
});

/** Creates this number of columns, with cells of a few distinct texts. */
function wideSample(columns: number, twice = ''): SampleColumn[] {
  return Array.from({ length: columns }, (_, at) => {
    const profile = new ColumnProfile([]);
    for (let row = 0; row < 20; row++) profile.add(`text ${row} of ${at}`);
    return { header: at === 1 && twice !== '' ? twice : `Measured value ${at} of station ${at % 17}`, profile };
  });
}

test('many columns are compared in time, and too many by equal names alone', async (t) => {
  const targetsOf = (sample: readonly SampleColumn[]): TargetColumn[] =>
    sample.map(({ header, profile }) => ({
      name: header.toUpperCase(),
      aliases: [],
      kind: 'text',
      values: new Set(profile.values!.keys()),
      range: null,
    }));
  const many = wideSample(300);
  const clock = processorClock(process);
  const from = clock();
  t.equal(matchColumns(many, targetsOf(many)).filter(({ sample, target }) => sample === target).length, 300);
  const spent = clock() - from;
  // It was 3,300 ms when each pair was made ready anew.
  t.ok(spent < 2_000, `${spent} ms`);
  const more = wideSample(600, 'Measured value 0 of station 0');
  t.strictSame(matchColumns(more, targetsOf(more)), [], 'spelt otherwise');
  const equal = matchColumns(
    more,
    targetsOf(more).map((target, at) => ({ ...target, name: more[at]!.header })),
  );
  t.equal(equal.length, 598, 'a name that stands twice is no match');
  t.ok(equal.every(({ sample, target, isAccepted }) => sample === target && isAccepted));
});
