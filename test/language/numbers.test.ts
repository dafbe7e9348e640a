// Numbers: texts that parse_number accepts and refuses, scale and rounding, format_number, round, cast, exact arithmetic.
import { golden } from './golden.ts';

/** One column `n` of texts through parse_number. Refused texts become empty cells. */
const parsed = (name: string, parameters: string, cells: readonly (readonly [string, string])[]) => ({
  name,
  template: `operations: [{parse_number: {columns: [n], into: v, on_error: blank${parameters}}}]`,
  input: `n\tx\n${cells.map(([text]) => `${text}\t.\n`).join('')}`,
  output: `x,v\n${cells.map(([, value]) => `.,${value}\n`).join('')}`,
});
const dropped = ({ template, ...rest }: ReturnType<typeof parsed>) => ({
  ...rest,
  template: template.replace(/\]$/, ', {drop: {columns: [n]}}]'),
});

golden(
  'parse_number',
  [
    parsed('plain', '', [
      ['5', '5'],
      ['-5', '-5'],
      ['+5', '5'],
      ['007', '7'],
      ['1.50', '1.50'],
      ['-0', '0'],
      ['-0.00', '0.00'],
      ['.5', '0.5'],
      ['5.', '5'],
      ['1e5', ''],
      ['0x10', ''],
      ['Infinity', ''],
      ['NaN', ''],
      ['1,5', ''],
      ['1 000', ''],
      ['--5', ''],
      ['5-', ''],
      ['(5)', ''],
      ['5 %', ''],
      ['٣', ''],
      ['12345678901234567890.123456789', '12345678901234567890.123456789'],
      [' 5 ', '5'],
    ]),
    parsed('words of debit and credit', ", negative: ['-x', x DR, S x]", [
      ['5 DR', '-5'],
      ['5.50Dr.', '-5.50'],
      ['5 CR', '5'],
      ['S 5', '-5'],
      ['h. 5', '5'],
      ['-5', '-5'],
      ['-5 DR', ''],
      ['5 S', ''],
      ['5 D', ''],
      ['DR', ''],
    ]),
    parsed('triangles', ", negative: [▲x], grouping: ','", [
      ['▲1,234', '-1234'],
      ['△5', '-5'],
      ['5▲', ''],
      ['-5', ''],
    ]),
    parsed('German', ', decimal: ",", grouping: "."', [
      ['1.234,56', '1234.56'],
      ['1234,56', '1234.56'],
      ['1.234.567', '1234567'],
      ['-1.234,5', '-1234.5'],
      ['12.34,5', ''],
      ['1.2345', ''],
      ['1,234.5', ''],
      ['1234.567', ''],
      ['.123', ''],
      ['1..234', ''],
      ['1.234,', '1234'],
      ['0,10', '0.10'],
      ['01.234,5', '1234.5'],
      ['1,234,567', ''],
    ]),
    parsed('Swiss and French', ', decimal: ".", grouping: "\'"', [
      ["1'234.50", '1234.50'],
      ['1’234.50', '1234.50'],
    ]),
    parsed('any space', ', decimal: ",", grouping: " "', [
      ['1 234,50', '1234.50'],
      ['1\u00A0234,50', '1234.50'],
      ['1\u202F234\u202F567', '1234567'],
      ['1  234', ''],
    ]),
    parsed('ways to write less than zero', ', negative: ["-x", "x-", "(x)", "x CR"]', [
      ['-5', '-5'],
      ['5-', '-5'],
      ['(5.5)', '-5.5'],
      ['5 CR', '-5'],
      ['5CR', '-5'],
      ['(-5)', ''],
      ['-5-', ''],
      ['−5', '-5'],
    ]),
    parsed('only those that are named', ', negative: ["(x)"]', [
      ['-5', ''],
      ['(5)', '-5'],
      ['5', '5'],
    ]),
    parsed('signs of money', ', strip: ["€", "EUR"]', [
      ['5 €', '5'],
      ['€5', '5'],
      ['EUR -5.50', '-5.50'],
      ['-€5', '-5'],
      ['5 $', ''],
      ['€', ''],
      ['12€50', ''],
      ['5€ EUR', '5'],
      ['€ -', ''],
    ]),
    parsed('signs of money beside every sign', ', strip: ["CHF", ".-"], negative: ["-x", "x-", "(x)", "x CR"]', [
      ['(CHF 5)', '-5'],
      ['CHF (5)', '-5'],
      ['5 CHF-', '-5'],
      ['5- CHF', '-5'],
      ['CHF 5 CR', '-5'],
      ['5 CR CHF', '-5'],
      ['-CHF 5.-', '-5'],
      ['-5-', ''],
    ]),
    parsed('percent', ', percent: true', [
      ['7.5 %', '0.075'],
      ['7.5%', '0.075'],
      ['-100%', '-1.00'],
      ['5', '5'],
      ['5%%', ''],
    ]),
    parsed('percent with every sign', ', percent: true, negative: ["(x)", "x-"]', [
      ['(5 %)', '-0.05'],
      ['(5) %', '-0.05'],
      ['5 %-', '-0.05'],
      ['5- %', '-0.05'],
      ['-5 %', ''],
    ]),
    parsed('exponents where they are asked for', ', exponent: true', [
      ['1.5E3', '1500'],
      ['1e-3', '0.001'],
    ]),
    parsed('scale pads, and refuses digits that would go', ', scale: 2', [
      ['5', '5.00'],
      ['5.5', '5.50'],
      ['5.550', '5.55'],
      ['5.555', ''],
    ]),
    parsed('half up', ', scale: 2, rounding: half_up', [
      ['2.345', '2.35'],
      ['2.344999', '2.34'],
      ['-2.345', '-2.35'],
      ['-0.001', '0.00'],
    ]),
    parsed('half even', ', scale: 2, rounding: half_even', [
      ['2.345', '2.34'],
      ['2.355', '2.36'],
      ['-2.345', '-2.34'],
      ['2.3451', '2.35'],
    ]),
    parsed('down', ', scale: 1, rounding: down', [
      ['2.39', '2.3'],
      ['-2.39', '-2.3'],
    ]),
    parsed('integers', ', type: integer', [
      ['007', '7'],
      ['5.0', '5'],
      ['5.5', ''],
      ['9223372036854775807', '9223372036854775807'],
      ['9223372036854775808', ''],
      ['-9223372036854775808', '-9223372036854775808'],
    ]),
    parsed('doubles', ', type: number', [
      ['0.1', '0.1'],
      ['5', '5'],
      ['1234567890123456789', '1234567890123456800'],
      ['-0', '0'],
    ]),
  ].map(dropped),
);

golden('errors of numbers', [
  {
    name: 'words that say the opposite of each other',
    template: "operations: [{parse_number: {columns: [n], negative: [x CR, '-x', x DR]}}]",
    problems: ['/operations/0/parse_number/negative BAD_VALUE'],
  },
  {
    name: 'codes',
    template: 'operations: [{parse_number: {columns: [n], type: integer, on_error: flag}}]',
    input: 'n,x\na,1\n1.5,1\n99999999999999999999,1\n',
    output: 'n,x,_issues\n,1,n:NOT_A_NUMBER\n,1,n:PRECISION_LOSS\n,1,n:OUT_OF_RANGE\n',
  },
]);

golden('format_number, round, cast', [
  {
    name: 'German money',
    template: `operations:
  - {parse_number: {columns: [n]}}
  - {format_number: {columns: [n], decimal: ",", grouping: ".", scale: 2, rounding: half_up, suffix: " €"}}`,
    input: 'n,x\n1234567.891,1\n-0.5,1\n-0.001,1\n999.995,1\n0,1\n,1\n',
    output: 'n,x\n"1.234.567,89 €",1\n"-0,50 €",1\n"0,00 €",1\n"1.000,00 €",1\n"0,00 €",1\n,1\n',
  },
  {
    name: 'accounts',
    template: `operations:
  - {parse_number: {columns: [n]}}
  - {format_number: {columns: [n], grouping: ",", negative: "(x)", prefix: "$"}}
output: {formula_guard: "off"}`,
    input: 'n,x\n-1234.5,1\n12,1\n',
    output: 'n,x\n"($1,234.5)",1\n$12,1\n',
  },
  {
    name: 'round: half even is the rule, and the scale is filled',
    template: 'operations: [{parse_number: {columns: [n]}}, {round: {columns: [n], scale: 1}}]',
    input: 'n,x\n0.25,1\n0.35,1\n-0.04,1\n7,1\n',
    output: 'n,x\n0.2,1\n0.4,1\n0.0,1\n7.0,1\n',
  },
  {
    name: 'cast takes plain texts only',
    template:
      'operations: [{cast: {columns: {i: integer, d: decimal, f: number, b: boolean, t: date, z: datetime}, on_error: blank}}]',
    input:
      'i,d,f,b,t,z\n42,1.50,0.1,true,2026-01-31,2026-01-31T12:00:00Z\n4.5,"1,5",x,yes,31.01.2026,2026-01-31 12:00\n-7,-0.0,1e3,FALSE,2024-02-29,2026-01-31T12:00:00+02:00\n',
    output:
      'i,d,f,b,t,z\n42,1.50,0.1,true,2026-01-31,2026-01-31T12:00:00Z\n,,,,,\n-7,0.0,1000,false,2024-02-29,2026-01-31T10:00:00Z\n',
  },
  {
    name: 'cast: words for true and false in any case, by Unicode',
    template:
      'operations: [{cast: {columns: {b: boolean}, true_values: [groß, aktiv], false_values: [klein, pasıf], on_error: flag}}]',
    input: 'b,n\nGROẞ,1\nGROSS,2\n AKTIV ,3\nKLEIN,4\npasıf,5\npasif,6\nAKTıV,7\n',
    output: 'b,n,_issues\ntrue,1,\ntrue,2,\ntrue,3,\nfalse,4,\nfalse,5,\n,6,b:NOT_A_BOOLEAN\n,7,b:NOT_A_BOOLEAN\n',
  },
  {
    name: 'cast to JSON reads texts and keeps the digits of numbers',
    template:
      'operations: [{cast: {columns: {d: decimal, i: integer, b: boolean, t: date}}}, {cast: {columns: {a: json, d: json, i: json, b: json, t: json}, on_error: flag}}]\noutput: {format: ndjson}',
    input: 'a|d|i|b|t\n{"x": 1.50}|1.50|12345678901234567|true|2026-01-31\n{x}|||false|\nnull|-0.5|7||\n',
    output:
      '{"a":{"x": 1.50},"d":1.50,"i":12345678901234567,"b":true,"t":"2026-01-31","_issues":null}\n' +
      '{"a":null,"d":null,"i":null,"b":false,"t":null,"_issues":"a:BAD_JSON"}\n' +
      '{"a":null,"d":-0.5,"i":7,"b":null,"t":null,"_issues":null}\n',
  },
  {
    name: 'cast back to text',
    template:
      'operations: [{parse_number: {columns: [n]}}, {cast: {columns: {n: text}}}, {text: {columns: [n], steps: [{prefix: "#"}]}}]',
    input: 'n,x\n1.50,1\n',
    output: 'n,x\n#1.50,1\n',
  },
  {
    name: 'minus zero is written without its sign, but for string() of CEL',
    template: `operations:
  - {parse_number: {columns: a, decimal: ","}}
  - {cast: {columns: {b: number}}}
  - {set: {columns: {s: string(b), l: '[b]', z: b * -1.0, e: b == 0.0}}}
  - {cast: {columns: {b: text}, into: {b: t}}}`,
    input: 'a,b\n"-0,00",-0.0\n"-1,50",0\n',
    output: 'a,b,s,l,z,e,t\n0.00,0,-0,[0],0,true,0\n-1.50,0,0,[0],0,true,0\n',
  },
  {
    name: 'money is exact',
    template: `operations:
  - {parse_number: {columns: [a, b]}}
  - {set: {columns: {s: a + b, d: a - b, p: a * b, q: "round(a / b, 2)"}}}`,
    input: 'a,b\n0.1,0.2\n1.10,3\n',
    output: 'a,b,s,d,p,q\n0.1,0.2,0.3,-0.1,0.02,0.50\n1.10,3,4.10,-1.90,3.30,0.37\n',
  },
]);

golden('numbers beyond the range of a double', [
  {
    name: 'are errors, not infinite',
    template: `
operations:
  - {parse_number: {columns: a, type: number, exponent: true, on_error: flag}}
  - {cast: {columns: {b: number}, on_error: flag}}
`,
    input: `a,b\n1e308,-1e308\n1e400,1e-400\n1e-400,-1e400\n${'9'.repeat(400)},${'9'.repeat(308)}\n`,
    output: 'a,b,_issues\n1e+308,-1e+308,\n,0,a:OUT_OF_RANGE\n0,,b:OUT_OF_RANGE\n,1e+308,a:OUT_OF_RANGE\n',
    errors: ['parse_number: OUT_OF_RANGE 2 2 4', 'cast: OUT_OF_RANGE 1 3'],
  },
]);
