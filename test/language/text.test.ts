// Texts: replace, map_values, split, merge, extract, fill, blank, and the columns operations.
import { golden } from './golden.ts';

golden('replace and map_values', [
  {
    name: 'literal: every occurrence, no pattern',
    template: 'operations: [{replace: {columns: [a], find: ".", replace: "$1"}}]',
    input: 'a,b\n1.2.3,x\n',
    output: 'a,b\n1$12$13,x\n',
  },
  {
    name: 'no empty match right after a match',
    template:
      "operations: [{replace: {columns: [a], mode: regex, find: 'a*', replace: '_'}}, {replace: {columns: [b], mode: regex, find: '(?:a|aa)*', replace: '_'}}]",
    input: 'a,b\nbaaac,baaac\nx,aa\n',
    output: 'a,b\n_b_c_,_b_c_\n_x_,_\n',
  },
  {
    name: 'regex',
    template: `operations: [{replace: {columns: [a], mode: regex, find: '(\\d+)-(\\d+)', replace: '$2/$1'}}]`,
    input: 'a,b\n1-2 3-4,x\n',
    output: 'a,b\n2/1 4/3,x\n',
  },
  {
    name: 'a digit directly after a group, however the pattern is run',
    template: `operations:
      - {replace: {columns: a, mode: regex, find: '([0-9]+)k', replace: '\${1}000'}}
      - {replace: {columns: b, mode: regex, find: '(x|xy)(?:z|yz)', replace: '\${1}0\${1}', case_sensitive: false}}
      - {set: {columns: {c: 'replace_re(c, "([0-9]+)k", "\${1}000")', d: 'replace_re(d, "(x|xy)(?:z|yz)", "\${1}0")'}}}
      - {rename: {pattern: '^(d)$', replace: '\${1}1'}}`,
    input: 'a,b,c,d\n12k,xyz,7k 8k,xz\n,XZ,,\n',
    output: 'a,b,c,d1\n12000,x0x,7000 8000,x0\n,X0X,,\n',
  },
  {
    name: 'the tenth group, where there is one',
    template: `operations: [{replace: {columns: a, mode: regex, find: '(.)(.)(.)(.)(.)(.)(.)(.)(.)(.)', replace: '$10\${1}0'}}]`,
    input: 'a,b\nabcdefghij,x\n',
    output: 'a,b\nja0,x\n',
  },
  {
    name: 'whole cell',
    template: 'operations: [{replace: {columns: [a], mode: whole_cell, find: "0", replace: "zero"}}]',
    input: 'a,b\n0,x\n00,x\n',
    output: 'a,b\nzero,x\n00,x\n',
  },
  {
    name: 'what becomes empty is missing',
    template:
      'operations: [{replace: {columns: [a], find: "x", replace: ""}}, {fill_empty: {columns: [a], value: none}}]',
    input: 'a,b\nxx,1\nxy,2\n',
    output: 'a,b\nnone,1\ny,2\n',
  },
  {
    name: 'pairs follow one another',
    template: 'operations: [{replace: {columns: [a], pairs: [{find: a, replace: b}, {find: b, replace: c}]}}]',
    input: 'a,b\nab,1\n',
    output: 'a,b\ncc,1\n',
  },
  {
    name: 'any case, only the first',
    template: 'operations: [{replace: {columns: [a], find: "AB", replace: "-", case_sensitive: false, count: 1}}]',
    input: 'a,b\nxabAB,1\n',
    output: 'a,b\nx-AB,1\n',
  },
  {
    name: 'a pattern that can match nothing',
    template: `operations: [{replace: {columns: [a], mode: regex, find: 'x*', replace: '-'}}]\noutput: {formula_guard: "off"}`,
    input: 'a,b\nabc,1\n',
    output: 'a,b\n-a-b-c-,1\n',
  },
  {
    name: 'a pattern that is not RE2',
    template: `operations: [{replace: {columns: [a], mode: regex, find: '(?=x)', replace: ''}}]`,
    problems: ['/operations/0/replace/find BAD_PATTERN'],
  },
  {
    name: 'map_values: the four defaults',
    template: `operations:
  - {map_values: {columns: [a], map: {p: paid}, into: k}}
  - {map_values: {columns: [a], map: {p: paid}, default: blank, into: b}}
  - {map_values: {columns: [a], map: {p: paid}, default: {value: other}, into: v}}
  - {map_values: {columns: [a], map: {p: paid}, default: error, on_error: flag, into: e}}`,
    input: 'a\np\nP\n\n',
    output: 'a,k,b,v,e,_issues\np,paid,paid,paid,paid,\nP,P,,other,,a:LOOKUP_MISS\n,,,,,\n',
  },
  {
    name: 'map_values with a table',
    template: `tables: {c: {ref: countries}}
operations: [{map_values: {columns: [a], table: c, key: code, value: name, match: case_insensitive, default: blank}}]`,
    tables: { countries: 'code,name\nDE,Germany\nde,second\nFR,\n' },
    input: 'a,x\nde,1\nfr,2\nxx,3\n',
    output: 'a,x\nGermany,1\n,2\n,3\n',
  },
]);

golden('split, merge, extract', [
  {
    name: 'separator, trimmed, in the place of the source',
    template: 'operations: [{split_column: {column: n, by: {separator: ","}, into: [last, first]}}]',
    input: 'i,n,z\n1,"A, B",x\n2,C,y\n3,"D,E,F",z\n4,,w\n',
    output: 'i,last,first,z\n1,A,B,x\n2,C,,y\n3,D,"E,F",z\n4,,,w\n',
  },
  {
    name: 'too many dropped, too few an error',
    template:
      'operations: [{split_column: {column: n, by: {separator: "-"}, into: [a, b], too_many: drop, too_few: fail, on_error: drop_row}}]',
    input: 'n,z\n1-2-3,x\n1,y\n1-2,w\n',
    output: 'a,b,z\n1,2,x\n1,2,w\n',
    errors: ['split_column: SPLIT_COUNT 1 2'],
  },
  {
    name: 'too few flagged',
    template: 'operations: [{split_column: {column: n, by: {separator: "-"}, into: [a, b], too_few: flag}}]',
    input: 'n,z\n1,y\n1-2,w\n',
    output: 'a,b,z,_issues\n1,,y,n:SPLIT_COUNT\n1,2,w,\n',
  },
  {
    name: 'from the end',
    template: 'operations: [{split_column: {column: n, by: {separator: " "}, into: [first, last], from_end: true}}]',
    input: 'n,z\nAnna Maria Berg,1\nCher,2\n',
    output: 'first,last,z\nAnna Maria,Berg,1\n,Cher,2\n',
  },
  {
    name: 'pattern and widths',
    template: `operations:
  - {split_column: {column: p, by: {pattern: "[;/] *"}, into: [a, b, c]}}
  - {split_column: {column: w, by: {widths: [2, 3]}, into: [d, e]}}`,
    input: 'p,w\n1; 2/3,ab123\n1,é\n',
    output: 'a,b,c,d,e\n1,2,3,ab,123\n1,,,é,\n',
  },
  {
    name: 'limit',
    template: 'operations: [{split_column: {column: n, by: {separator: "-"}, into: [a, b, c], limit: 2}}]',
    input: 'n,z\n1-2-3,x\n',
    output: 'a,b,c,z\n1,2-3,,x\n',
  },
  {
    name: 'merge: empty ones and their separators are left out',
    template: 'operations: [{merge_columns: {columns: [a, b, c], into: m, separator: ", "}}]',
    input: 'x,a,b,c\n1,p,,q\n2,,,\n',
    output: 'x,m\n1,"p, q"\n2,\n',
  },
  {
    name: 'merge: empty ones kept',
    template:
      'operations: [{merge_columns: {columns: [a, b], into: m, separator: "-", skip_empty: false}}]\noutput: {formula_guard: "off"}',
    input: 'x,a,b\n1,p,\n2,,\n',
    output: 'x,m\n1,p-\n2,-\n',
  },
  {
    name: 'merge by a template',
    template: 'operations: [{merge_columns: {template: "{no}: {name} {{x}}", into: m, keep_source: true}}]',
    input: 'no,name\n1,Ada\n',
    output: 'no,name,m\n1,Ada,1: Ada {x}\n',
  },
  {
    name: 'extract',
    template: `operations: [{extract: {column: t, pattern: 'RE(?P<no>\\d+)(-(?P<part>\\d+))?', into: {no: invoice, part: part}}}]`,
    input: 't,x\nyour RE17-2 of May,1\nRE5,2\nnone,3\n',
    output: 't,x,invoice,part\nyour RE17-2 of May,1,17,2\nRE5,2,5,\nnone,3,,\n',
  },
  {
    name: 'extract without a match',
    template: `operations: [{extract: {column: t, pattern: '(\\d+)', into: {1: n}, on_no_match: error, on_error: drop_row}}]`,
    input: 't,x\na1,1\nb,2\n',
    output: 't,x,n\na1,1,1\n',
    errors: ['extract: NO_MATCH 1 2'],
  },
]);

golden('fill and blank', [
  {
    name: 'fill_down, and in groups',
    template: 'operations: [{fill_down: {columns: [a]}}, {fill_down: {columns: [b], group_by: [g]}}]',
    input: 'g,a,b\nx,,1\ny,1,\nx,,\ny,2,3\ny,,\n',
    output: 'g,a,b\nx,,1\ny,1,\nx,1,1\ny,2,3\ny,2,3\n',
  },
  {
    name: 'blank_down',
    template: 'operations: [{blank_down: {columns: [a]}}]',
    input: 'a,b\nx,1\nx,2\ny,3\nx,4\n',
    output: 'a,b\nx,1\n,2\ny,3\nx,4\n',
  },
  {
    name: 'fill_empty: value, from, expr',
    template: `operations:
  - {fill_empty: {columns: [a], value: "0"}}
  - {fill_empty: {columns: [b], from: [c, a]}}
  - {fill_empty: {columns: [c], expr: 'a + "!"'}}`,
    input: 'a,b,c\n,,\n1,,2\n',
    output: 'a,b,c\n0,0,0!\n1,2,2\n',
  },
  {
    name: 'fill_empty of a number',
    template: 'operations: [{parse_number: {columns: [n]}}, {fill_empty: {columns: [n], value: 0}}]',
    input: 'n,x\n,1\n2.50,2\n',
    output: 'n,x\n0,1\n2.50,2\n',
  },
  {
    name: 'blank_if',
    template:
      'operations: [{blank_if: {columns: "*", values: ["-", "N/A"], case_sensitive: false}}, {blank_if: {columns: [b], where: "a == \\"1\\""}}]',
    input: 'a,b\nn/a,x\n-,y\n1,z\n',
    output: 'a,b\n,x\n,y\n1,\n',
  },
  {
    name: 'blank_if: numbers by value in columns of numbers, as written in texts',
    template: `operations:
  - cast: {columns: {i: integer, d: decimal, n: number}}
  - blank_if: {columns: "*", values: [0, -9.5, "-"]}`,
    input: 't,i,d,n\n0,0,0.00,0\n0.00,1,-9.50,-9.5\n-,9007199254740993,0.01,1e3\n-9.5,,,-0\n',
    output: 't,i,d,n\n,,,\n0.00,1,,\n,9007199254740993,0.01,1000\n,,,\n',
  },
  {
    name: 'blank_if: texts alone are not compared with numbers',
    template: 'operations: [{cast: {columns: {n: integer}}}, {blank_if: {columns: n, values: ["0"]}}]',
    problems: ['/operations/1/blank_if/columns WRONG_TYPE'],
  },
]);

golden('columns', [
  {
    name: 'select, keep_rest, drop, reorder, copy',
    template: `operations:
  - {select: {columns: [c, a], keep_rest: true}}
  - {copy: {from: a, to: e}}
  - {reorder: {first: [e], last: c}}
  - {drop: {columns: {pattern: "^b"}}}`,
    input: 'a,b1,c,b2,d\n1,2,3,4,5\n',
    output: 'e,a,d,c\n1,1,5,3\n',
  },
  {
    name: 'rename: crosswise, by pattern, by style',
    template: `operations:
  - {rename: {columns: {a: b, b: a}}}
  - {rename: {pattern: "^x_", replace: ""}}
  - {rename: {style: snake}}`,
    input: 'a,b,x_Net Amount,TotalEUR\n1,2,3,4\n',
    output: 'b,a,net_amount,total_eur\n1,2,3,4\n',
  },
  {
    name: 'rename to a name that is there',
    template: 'input: {columns: [{name: a}, {name: b}]}\noperations: [{rename: {columns: {a: b}}}]',
    problems: ['/operations/0/rename/columns COLUMN_EXISTS'],
  },
  {
    name: 'sets of columns',
    template: `operations:
  - {parse_number: {columns: [n]}}
  - {text: {columns: {type: text}, steps: [upper]}}
  - {text: {columns: {except: [a, n]}, steps: [{suffix: "!"}]}}
  - {round: {columns: "*"}}`,
    input: 'a,b,n\nx,y,1.5\n',
    output: 'a,b,n\nX,Y!,2\n',
  },
  {
    name: 'set: all expressions see the row as it came in',
    template: 'operations: [{set: {columns: {a: b, b: a, c: "a + b"}}}]',
    input: 'a,b\n1,2\n',
    output: 'a,b,c\n2,1,12\n',
  },
  {
    name: 'set: constants, another column, where',
    template: `operations:
  - {set: {column: k, value: "7", type: integer}}
  - {set: {column: l, value: {column: a}}}
  - {set: {columns: {a: '"void"'}, where: 'b == "1"'}}`,
    input: 'a,b\nx,1\ny,2\n',
    output: 'a,b,k,l\nvoid,1,7,x\ny,2,7,y\n',
  },
]);
