// Expressions in Templates: columns of every type, nulls, decimals, errors, names, refusals of the check, limits.
import { golden } from './golden.ts';

/** Columns of one row: s text, i integer, d decimal, f number, b boolean, t date, z datetime, and e, which is null. */
const TYPED = '{cast: {columns: {i: integer, d: decimal, f: number, b: boolean, t: date, z: datetime}}}';
const ROW = 's,i,d,f,b,t,z,e\nx,5,1.50,0.5,true,2026-01-31,2026-01-31T12:00:00Z,\n';

/** One expression over the row above, and its result in JSON. */
const gives = (expression: string, result: string) => ({
  name: expression,
  template: `operations:\n  - ${TYPED}\n  - {set: {columns: {r: ${JSON.stringify(expression)}}, on_error: flag}}\n  - {select: {columns: [r]}}\noutput: {format: ndjson}`,
  input: ROW,
  output: `{"r":${result},"_issues":null}\n`,
});
const fails = (expression: string, code: string) => ({
  ...gives(expression, 'null'),
  output: `{"r":null,"_issues":"r:${code}"}\n`,
});
const refused = (expression: string, code: string) => ({
  name: expression,
  template: `operations:\n  - ${TYPED}\n  - {set: {columns: {r: ${JSON.stringify(expression)}}}}`,
  problems: [`/operations/1/set/columns/r ${code}`],
});

golden('values of every type', [
  gives('s + "!"', '"x!"'),
  gives('i + 1', '6'),
  gives('i / 2', '2'),
  gives('-i % 3', '-2'),
  gives('d + i', '6.50'),
  gives('d * 1.19', '1.7850'),
  gives('d / 3', '0.50'),
  gives('1.00d / 3d', '0.3333333333'),
  gives('f + 1.5', '2'),
  gives('b && i > 4', 'true'),
  gives('t > date("2026-01-30")', 'true'),
  gives('string(z)', '"2026-01-31T12:00:00Z"'),
  gives('z - duration("1h")', '"2026-01-31T11:00:00Z"'),
  gives('[i, 2]', '[5,2]'),
  gives('{"a": s}', '{"a":"x"}'),
  gives('b"ab"', '"YWI="'),
  gives('type(i)', '"int"'),
  gives('duration("90s")', '"90s"'),
  gives('1.0 / 0.0', 'null'),
  gives('9223372036854775807', '9223372036854775807'),
  gives('18446744073709551615u', '18446744073709551615'),
]);

golden('names', [
  gives('row["s"] + row.s + `s`', '"xxx"'),
  gives('run.row', '1'),
  gives('[1, 2, 3].filter(s, s > 1).size()', '2'),
  {
    name: 'a column with a name that is no word',
    template: 'operations: [{set: {columns: {r: "`Invoice No` + row[\\"Due-Date\\"]"}}}]',
    input: 'Invoice No,Due-Date\n1,2\n',
    output: 'Invoice No,Due-Date,r\n1,2,12\n',
  },
  {
    name: 'value is the cell at hand',
    template:
      'operations: [{set: {columns: {a: upper(value), b: "a + value"}}}, {set: {columns: {c: "value + run.row", d: "value == null"}}}]',
    input: 'a,b,c,d\nx,y,1,\n,x,2,z\n',
    problems: ['/operations/1/set/columns/c EXPR_TYPE'],
  },
  {
    name: 'value in place',
    template:
      'operations: [{set: {columns: {a: upper(value), b: "a + value"}}}, {set: {columns: {d: "value == null"}}}]',
    input: 'a,b,d\nx,y,\n,x,z\n',
    output: 'a,b,d\nX,xy,true\n,,false\n',
  },
  {
    name: 'a name that is nearly known',
    template: 'operations: [{select: {columns: [amount]}}, {filter: {where: "amout > \\"1\\""}}]',
    problems: ['/operations/1/filter/where UNKNOWN_COLUMN'],
  },
]);

golden('null', [
  gives('e + "x"', 'null'),
  gives('upper(e)', 'null'),
  gives('e < "a"', 'null'),
  gives('e == null', 'true'),
  gives('e != "paid"', 'true'),
  gives('e == "x" || b', 'true'),
  gives('(e < "a") && false', 'false'),
  gives('(e < "a") || false', 'null'),
  gives('!(e < "a")', 'null'),
  gives('(e < "a") ? 1 : 2', '2'),
  gives('coalesce(e, s)', '"x"'),
  gives('concat_ws("-", s, e, i)', '"x-5"'),
  gives('is_blank(e)', 'true'),
  gives('e in ["a"]', 'false'),
]);

golden('functions on equal values, whole numbers and times without a day', [
  gives('concat_ws(", ", "a", e, "", i)', '"a, , 5"'),
  gives('hash_key(1.5d) == hash_key(1.500d)', 'true'),
  gives('hash_key("1.5") == hash_key("1.50")', 'false'),
  gives('hash_key(z) == hash_key(to_timezone(z, "Asia/Tokyo"))', 'true'),
  gives('round(1250, -2)', '1300'),
  gives('round(-1250, -2, "half_even")', '-1200'),
  gives('round(1299, -2, "down")', '1200'),
  gives('round(i, 2)', '5'),
  fails('round(9223372036854775807, -1)', 'OUT_OF_RANGE'),
  fails('round(5, -1, "error")', 'PRECISION_LOSS'),
  gives('start_of_month(z)', '"2026-01-01"'),
  gives('end_of_month(z)', '"2026-01-31"'),
  gives('start_of_month(to_timezone(timestamp("2026-01-31T23:30:00Z"), "Europe/Berlin"))', '"2026-02-01"'),
  gives('strip_accents("Weiß, Æsop, Crème")', '"Weiss, AEsop, Creme"'),
  gives('title("3rd o\'neil ΑΣ")', '"3rd O\'neil Ας"'),
]);

golden('errors of a row', [
  fails('double("1e400")', 'OUT_OF_RANGE'),
  fails('double("-1e400") < 0.0', 'OUT_OF_RANGE'),
  gives('double("1e-400")', '0'),
  fails('i / (i - 5)', 'EXPR_DIV_ZERO'),
  fails('int(s)', 'NOT_A_NUMBER'),
  fails('date(s)', 'NOT_A_DATE'),
  fails('9223372036854775807 + i', 'OUT_OF_RANGE'),
  gives('if_error(int(s), -1)', '-1'),
  gives('true || int(s) > 1', 'true'),
  gives('false && int(s) > 1', 'false'),
]);

golden('expressions that the check refuses', [
  refused('s > 5', 'EXPR_TYPE'),
  refused('s + i', 'EXPR_TYPE'),
  refused('s +', 'EXPR_SYNTAX'),
  refused('now()', 'EXPR_UNKNOWN_FUNCTION'),
  refused('s.matches("(?=x)")', 'EXPR_BAD_ARGUMENT'),
  refused('s.matches("(a{1000}){1000}")', 'EXPR_BAD_ARGUMENT'),
  refused('eval("1")', 'EXPR_UNKNOWN_FUNCTION'),
  refused('s.constructor', 'EXPR_TYPE'),
  refused(`${'('.repeat(100)}i${')'.repeat(100)}`, 'EXPR_LIMIT'),
  refused(`"${'x'.repeat(5000)}"`, 'EXPR_LIMIT'),
]);

const TEN = '[1,2,3,4,5,6,7,8,9,10]';
golden('an evaluation ends', [
  fails(`${TEN}.all(a, ${TEN}.all(b, ${TEN}.all(c, ${TEN}.all(d, ${TEN}.all(e2, ${TEN}.all(f2, true))))))`, 'TOO_LONG'),
  fails('pad_left("x", 4000000, "x") + pad_left("x", 4000000, "y")', 'TOO_LONG'),
  fails(
    `size(replace_re(pad_left("x", 2000000, "a"), "(a|ab)(c|bcd)*", "x")) + ${Array.from({ length: 20 }, () => 'size(replace_re(pad_left("x", 2000000, "a"), "(a|ab)(c|bcd)*", "x"))').join(' + ')}`,
    'TOO_LONG',
  ),
]);
