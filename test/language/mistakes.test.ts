// Mistakes of users who know spreadsheets, SQL or Python but not this language: each message says where the mistake is, and what
// to write instead.
import { test } from 'tap';
import { undeclaredNotes } from '../../workers/template/file-columns.ts';
import { problemsOf, sound } from '../workers/template/check-problems.ts';

const INPUT = `format: 1
input:
  columns:
    - {name: booked_on, match: [Buchungstag]}
    - {name: party, match: [Name]}
    - {name: amount, match: [Betrag]}
operations:
`;

interface Mistake {
  /** The only line of `operations`, line 8 of the Template. */
  readonly operation: string;
  readonly at: string;
  readonly says: RegExp;
}

const condition = (where: string, says: RegExp): Mistake => ({
  operation: `  - {filter: {where: ${JSON.stringify(where)}}}`,
  at: '8:15 /operations/0/filter/where',
  says,
});

const value = (expression: string, says: RegExp): Mistake => ({
  operation: `  - {set: {columns: {x: ${JSON.stringify(expression)}}}}`,
  at: '8:22 /operations/0/set/columns/x',
  says,
});

const pattern = (format: string, says: RegExp): Mistake => ({
  operation: `  - {parse_date: {columns: booked_on, formats: ['${format}']}}`,
  at: '8:49 /operations/0/parse_date/formats/0',
  says,
});

const MISTAKES: readonly Mistake[] = [
  condition('party = "Müller"', /Write == to compare\. \(At character 7 of/),
  condition('party != "" and amount != ""', /Write && for and\. \(At character 13 of/),
  condition('party == "" OR amount == ""', /Write \|\| for or\./),
  condition('party == "" und amount == ""', /Write && for and\./),
  condition('not party == ""', /Write !\(\.\.\.\) for not\./),
  condition('party is null', /Write == null/),
  condition('party like "x%"', /x\.startsWith\("\.\.\."\)/),
  condition('party between "a" and "b"', /Write x >= a && x <= b\./),
  condition('party <> "x"', /Write != for not equal\./),
  condition('decimal(amount) > 1,5', /A number has a decimal point: 1\.5\./),
  condition('party == “x”', /Write plain quotes/),
  condition('Invoice No == "x"', /in backticks \(`Invoice No`\)/),
  condition('amount < 0', /Write decimal\(\.\.\.\)/),
  condition('if party == "x" then true', /if is a word of the language\. Write condition \? a : b\./),
  value('uppercase(party)', /uppercase does not exist\. Write upper\(x\)\.$/),
  value('WENN(party == "a", 1, 2)', /Write condition \? a : b\./),
  value('sum(amount)', /operations aggregate and window/),
  value('party & amount', /\+ to join texts/),
  value('left(party; 3)', /Separate arguments with commas/),
  value('starts_with(party, "x")', /Write x\.startsWith\(t\)/),
  value('today()', /run\.started_at/),
  condition('party in ("a", "b")', /Write a list in brackets: \[a, b\]/),
  condition('party && amount', /such as x != null/),
  condition('party => "x"', /Write >=/),
  condition('@party == "x"', /without @/),
  condition('[party] == "x"', /without \[ \]/),
  condition('party ~ "x"', /x\.matches\(/),
  value('party || " " || amount', /Write a \+ b to join texts/),
  value('=LEFT(A2;3)', /An expression begins without =/),
  value('df["party"] + "x"', /Write row\["party"\]/),
  value('party.str.upper()', /upper\(x\)/),
  value('party[0:3]', /Write x\.substring\(from, to\)/),
  value('decimal(amount) ** 2', /There are no powers/),
  value('now() - booked_on', /run\.started_at/),
  value('f"{party}"', /Write a \+ b/),
  value('amount - amount', /Write decimal\(\.\.\.\) around a text that is a number\./),
  value('-amount', /Write decimal\(/),
  value('ceil(amount)', /Write decimal\(/),
  value('DATEDIF(party, amount, "d")', /days_between/),
  value('party.length', /Write size\(x\)\./),
  value('party.year', /Write year\(date\)\./),
  value('party ? 1 : 2', /Write a condition, such as x != null/),
  condition('!party', /Write x == null/),
  pattern('DD.MM.YYYY', /D is the day of the year, written D or DDD: d is the day, .* as in dd\.MM\.yyyy/),
  pattern('TT.MM.JJJJ', /the letter T means nothing .* as in dd\.MM\.yyyy/),
  pattern('%d.%m.%Y', /no percent signs: write dd\.MM\.yyyy/),
  pattern('dd.mm.yyyy', /M is the month, m the minute/),
  {
    operation: `  - {replace: {columns: party, find: '(abc', replace: '', mode: regex}}`,
    at: '8:32 /operations/0/replace/find',
    says: /missing closing \): `\(abc`; .* backslash before it/,
  },
  {
    operation: '  - filter:\n    where: party == "x"',
    at: '8:5 /operations/0',
    says: /Indent the parameters of "filter" further than its name/,
  },
  {
    operation: '  - filter: {where: party == "x"}\n    sort: {by: party}',
    at: '9:5 /operations/0/sort',
    says: /"filter" and "sort" are in one entry of the list/,
  },
  {
    operation: '  - {set: {columns: {x: party < "b" ? "out" : "in"}}}',
    at: '8:25 ',
    says: /Put a text that holds ": ", .* into quotes/,
  },
  { operation: '\t- {drop_blank_rows: {}}', at: '8:1 ', says: /Indent with spaces/ },
  {
    operation: '  - {parse_number: {columns: amount, decimal: comma}}',
    at: '8:38 /operations/0/parse_number/decimal',
    says: /Write one character/,
  },
  {
    operation: '  - {parse_date: {columns: booked_on, formats: dd.MM.yyyy}}',
    at: '8:39 /operations/0/parse_date/formats',
    says: /Put it in brackets: \["dd.MM.yyyy"\]/,
  },
  {
    operation: '  - {set: {columns: {x: hash_key(party, booked_on)}}}',
    at: '8:41 /operations/0/set/columns/booked_on)',
    says: /Put the whole expression into quotes/,
  },
  {
    operation: '  - {filter: {where: `my col` == "x"}}',
    at: '8:22 ',
    says: /Put it into quotes/,
  },
  { operation: '  - {drop: {columns: *}}', at: '8:22 ', says: /as in columns: "\*"/ },
  {
    operation: '  - {filter: {where: !is_blank(party)}}',
    at: '8:15 ',
    says: /write an expression that begins with ! in quotes/,
  },
  {
    operation: '  - {replace: {columns: party, find: "\\d", replace: "", mode: regex}}',
    at: '8:39 ',
    says: /Write patterns in single quotes/,
  },
  {
    operation: '  - {parse_date: {columns: booked_on, formats: [dd. MMMM yyyy], locale: de_DE}}',
    at: '8:65 /operations/0/parse_date/locale',
    says: /Write the language as en, de,/,
  },
  {
    operation: '  - {parse_number: {columns: amount, decimal: "5"}}',
    at: '8:38 /operations/0/parse_number/decimal',
    says: /cannot be a mark/,
  },
  {
    operation: '  - {text: {columns: party, steps: [trimm]}}',
    at: '8:37 /operations/0/text/steps/0',
    says: /not "trimm"\. Did you mean "trim"\?/,
  },
  {
    operation: '  - {dedupe: {columns: [booked_on]}}',
    at: '8:15 /operations/0/dedupe/columns',
    says: /Did you mean "by"\?/,
  },
  ...(
    [
      ['{note: x, drop: {columns: party}}', '5 /operations/0', /Put "note" inside, as in \{drop: \{note: /],
      ["{filter: 'party == null'}", '6 /operations/0/filter', /as in \{filter: \{where: \.\.\.\}\}/],
      ["{where: 'party == null'}", '5 /operations/0', /Write the operation filter/],
      ['{map: {a: b}}', '5 /operations/0', /Write the operation map_values/],
      ["{if: 'party == null'}", '5 /operations/0', /Write the operation set, .*condition \? a : b/],
      ['{set: {tax: amount}}', '12 /operations/0/set/tax', /For a column of this name write columns: \{"tax": /],
      ['{aggregate: {metrics: {n: count}}}', '18 /operations/0/aggregate/metrics', /not a mapping\. .*\[\{fn: /],
      ['{fill_empty: {columns: party, with: x}}', '35 /operations/0/fill_empty/with', /Write value: /],
      ['{cast: {columns: {amount: float}}}', '23 /operations/0/cast/columns/amount', /Did you mean "number"\?/],
      ["{filter: {status: 'x'}}", '15 /operations/0/filter/status', /where: 'status == "paid"'/],
      ['{sort: {by: party, ascending: false}}', '24 /operations/0/sort/ascending', /order: desc/],
      ['{aggregate: {sum: amount}}', '18 /operations/0/aggregate/sum', /\[\{fn: sum, column: /],
      [
        "{parse_number: {columns: amount, decimal_separator: ','}}",
        '38 /operations/0/parse_number/decimal_separator',
        /Write decimal: ","/,
      ],
      [
        "{parse_number: {columns: amount, thousands: '.'}}",
        '38 /operations/0/parse_number/thousands',
        /Write grouping: "\."/,
      ],
      ['{rename: {columns: [a, b]}}', '15 /operations/0/rename/columns', /\{"a": \.\.\., "b": \.\.\.\}/],
      ['{rename: {from: a}}', '15 /operations/0/rename/from', /columns: \{old_name: new_name\}/],
      ['{set: {column: x, formula: amount}}', '23 /operations/0/set/formula', /columns: \{new_name: /],
      ['{fillna: {columns: amount, value: 0}}', '5 /operations/0', /as in \{fill_empty: \{columns: \.\.\., value: /],
      ['{astype: {amount: int}}', '5 /operations/0', /Write the operation cast/],
      ['{head: 10}', '5 /operations/0', /as in \{slice: \{limit: 10\}\}/],
      ['{slice: {limit: "10"}}', '14 /operations/0/slice/limit', /Remove the quotes/],
      ['drop_blank_rows', '5 /operations/0', /Write \{drop_blank_rows: \{\.\.\.\}\}/],
      ['{unpivot: {columns: amount, var_name: k}}', '33 /operations/0/unpivot/var_name', /Did you mean "names_to"/],
      ['{map_values: {columns: party, mapping: {a: b}}}', '35 /operations/0/map_values/mapping', /Did you mean "map"/],
      [
        "{split_column: {column: party, by: ',', into: [a]}}",
        '36 /operations/0/split_column/by',
        /Write \{separator: ","\}/,
      ],
      [
        '{validate: {rules: [{column: party, check: not_null}]}}',
        '41 /operations/0/validate/rules/0/check',
        /Did you mean "required"/,
      ],
      [
        '{split_column: {column: party, separator: x, into: [a]}}',
        '36 /operations/0/split_column/separator',
        /by: \{sep/,
      ],
      ["{rename: {pattern: '(a)', replace: '$3'}}", '31 /operations/0/rename/replace', /no group "3"/],
      [
        "{replace: {columns: party, find: '(a)', replace: '$10', mode: regex}}",
        '45 /operations/0/replace/replace',
        /\$\{1\}0/,
      ],
      [
        `{set: {columns: {party: 'replace_re(party, "(a)", "$10")'}}}`,
        '22 /operations/0/set/columns/party',
        /names no group: write .*\$\{1\} before a digit/,
      ],
    ] as const
  ).map(([operation, at, says]): Mistake => ({ operation: `  - ${operation}`, at: `8:${at}`, says })),
];

test('every mistake gets one message with the place and a suggestion', async (t) => {
  for (const { operation, at, says } of MISTAKES) {
    const problems = problemsOf(`${INPUT}${operation}\n`);
    t.equal(problems.length, 1, operation);
    const { line, column, pointer, message } = problems[0]!;
    t.equal(`${line}:${column} ${pointer}`, at, operation);
    t.match(message, says, operation);
  }
});

test('names of columns that other languages would read as more are answered so', async (t) => {
  const notes = (operation: string): readonly string[] =>
    undeclaredNotes(sound(`${INPUT}${operation}\n`)).map(({ message }) => message);
  t.match(notes('  - {filter: {where: party == None}}'), [/An empty cell is null\./]);
  t.match(notes('  - {sort: {by: party desc}}'), [/write \{column: "party", order: desc\}/]);
  t.match(notes('  - {drop: {columns: "party, amount"}}'), [/Several columns are a list/]);
  t.match(notes('  - {drop: {columns: iban*}}'), [/Write \{pattern: /]);
});

test('keys in the wrong section are sent to the right one', async (t) => {
  const said = (source: string): readonly string[] => problemsOf(source).map(({ message }) => message);
  t.strictSame(said("input: {delimiter: ';'}"), ['Unknown key "delimiter". It belongs into "csv".']);
  t.strictSame(said('input: {skip_rows: 3}'), ['Unknown key "skip_rows". Write csv: {header_row: ...}.']);
  t.strictSame(said('steps: []'), ['Unknown key "steps". Did you mean "operations"?']);
  t.match(said('output: {format: excel}'), [/Did you mean "xlsx"\?/]);
  t.strictSame(said('input: {columns: [Betrag, {name: Tag, match: [Datum]}]}'), [], 'a name alone is short for {name}');
  t.strictSame(said('input: {columns: [5]}'), ['Write a text or a mapping of keys to values, not 5.']);
});

test('a column that the Template reads and does not declare is a note of the check', async (t) => {
  const notes = (operation: string): readonly string[] =>
    undeclaredNotes(sound(`${INPUT}${operation}\n`)).map(({ message }) => message);
  t.match(notes('  - {filter: {where: Party == "x"}}'), [/column "Party": .* Did you mean "party"\?/]);
  t.match(notes('  - {drop: {columns: Betrag}}'), [/The Template calls the column of that header "amount"\./]);
  t.match(notes('  - {filter: {where: party == Summe}}'), [
    /column "Summe": .* Write a text in an expression in quotes\./,
  ]);
  t.strictSame(notes('  - {filter: {where: party == "Summe"}}'), []);
  t.strictSame(notes('  - {drop: {columns: fax, if_missing: skip}}'), [], 'a file without it is no trouble');
  t.strictSame(undeclaredNotes(sound('operations: [{drop: {columns: a}}]')), [], 'nothing is declared at all');
});
