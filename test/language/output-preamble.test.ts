// Lines above the header of a CSV output that contain values of the file.
import { test } from 'tap';
import { problemsOf } from '../workers/template/check-problems.ts';
import { golden } from './golden.ts';

const YEAR = 'preamble: {year: {pattern: "Year ([0-9]+)"}}';

golden('lines above the header of the output', [
  {
    name: 'texts are quoted as those of the table, numbers and null are not',
    template: `input: {${YEAR}, csv: {header_row: 1}}
output:
  csv:
    delimiter: ";"
    quoting: text
    line_ending: crlf
    preamble: [[EXTF, 700, 1.5, true, null, "{run.meta.year}0101", 'say "x"'], [], [second]]`,
    input: 'Year 2026\na,b\n1,2\n',
    output: '"EXTF";700;1.5;true;;"20260101";"say ""x"""\r\n\r\n"second"\r\n"a";"b"\r\n"1";"2"\r\n',
  },
  {
    name: 'two header lines, without one of its own',
    template: `output: {csv: {header: false, preamble: [["2025, all", "2026"], [net, net]]}}`,
    input: 'a,b\n1,2\n',
    output: '"2025, all",2026\nnet,net\n1,2\n',
  },
  {
    name: 'a byte order mark stands before it; what the file says cannot break out of its cell',
    template: `input: {preamble: {t: {record: 0, field: 1}, none: {record: 0, field: 9, required: false}}, csv: {header_row: 1, delimiter: ","}}
output: {csv: {bom: true, preamble: [["{run.meta.t}", "{run.meta.none}", "{t}"]]}}`,
    input: '"=x\n,"""\na,b\n1,2\n',
    output: '\ufeff"\'=x\n,""",,{t}\na,b\n1,2\n',
  },
  {
    name: 'a formula that the guard refuses',
    template: `input: {preamble: {t: {record: 0, field: 1}}, csv: {header_row: 1, delimiter: ","}}
output: {formula_guard: fail, csv: {preamble: [[a, "{run.meta.t}"]]}}`,
    input: '=1+1\na,b\n1,2\n',
    error: 'TEMPLATE_CHECK_FAILED',
  },
  {
    name: 'a value of the end, in tsv, above no row at all',
    template: `input: {csv: {delimiter: ","}, footer: {total: {pattern: "^Total,(.*)$"}}}
operations: [{stop_when: {where: a == "Total"}}]
output: {format: tsv, csv: {preamble: [["total", "{run.meta.total}"]]}}`,
    input: 'a,b\nTotal,7\n',
    output: 'total\t7\na\tb\n',
  },
]);

test('a value that nobody declares', async (t) => {
  const [problem, ...others] = problemsOf(`format: 1
input: {preamble: {year: {record: 0, field: 1}}}
output: {csv: {preamble: [["{run.meta.yaer}"]]}}
`);
  t.match(problem, {
    pointer: '/output/csv/preamble',
    code: 'UNKNOWN_NAME',
    message: /no "yaer"\. Did you mean "year"\?/,
  });
  t.strictSame(others, []);
});
