// Values above and below a table: by position and by pattern, in every format that has them, and on every path of the readers.
import { rowsOf, workbookOf } from '../workers/input/xlsx/workbook-writer.ts';
import { golden } from './golden.ts';

const PREAMBLE = `input:
  csv: {delimiter: ";", header_row: 3}
  preamble:
    year: {record: 0, field: 3}
    account: {pattern: 'Account: *(\\w+)'}
`;

golden('above the table', [
  {
    name: 'by place and by pattern, in expressions and conditions',
    template: `${PREAMBLE}operations:
  - set: {columns: {year: int(run.meta.year), account: run.meta.account}}
  - filter: {where: 'run.meta.account == "DE12" && year == 2026'}`,
    input: 'EXTF;700;2026\nMy Account: DE12;;\n\nday;text;amount\n01.02.;a;1\n02.02.;b;2\n',
    output: 'day,text,amount,year,account\n01.02.,a,1,2026,DE12\n02.02.,b,2,2026,DE12\n',
  },
  {
    name: 'the day of a year above',
    template: `input: {csv: {header_row: 1, delimiter: ";"}, preamble: {year: {pattern: '[0-9]{4}'}}}
operations:
  - set: {columns: {day: 'parse_date(day + run.meta.year, "dd.MM.yyyy")'}}`,
    input: 'Year 2024, all\nday;n\n29.02.;1\n',
    output: 'day,n\n2024-02-29,1\n',
  },
  {
    name: 'quoted cells, and the plain reader',
    template: `input: {csv: {header_row: 1, delimiter: "¦"}, preamble: {b: {record: 0, field: 2}, all: {pattern: "^.*$"}}}
operations: [{set: {columns: {x: run.meta.b, y: run.meta.all}}}]`,
    input: 'a¦"x ""1"""¦c\nn¦m\n1¦2\n',
    output: 'n,m,x,y\n1,2,"x ""1""","a¦x ""1""¦c"\n',
  },
  {
    name: 'a null value is none, nor is what stands in the table',
    template: `input: {csv: {header_row: 1}, preamble: {a: {record: 0, field: 1, required: false}, b: {pattern: "z", required: false}}}
operations: [{set: {columns: {x: 'coalesce(run.meta.a, "-")', y: run.meta.b == null}}}]`,
    input: ',q\nn,m\nz,2\n',
    output: 'n,m,x,y\nz,2,-,true\n',
  },
  {
    name: 'a value that the file lacks',
    template: `${PREAMBLE}operations: []`,
    input: ';;\n;;\n;;\nday;text\n1;2\n',
    error: 'TEMPLATE_CHECK_FAILED: The file has no value for input.preamble.year.',
  },
  {
    name: 'a file that lacks columns, too, is told of them',
    template: `${PREAMBLE}operations: [{drop: {columns: nothing}}]`,
    input: ';;\n;;\n;;\nday;text\n1;2\n',
    error: 'TEMPLATE_COLUMNS_MISSING',
  },
  {
    name: 'lines above fixed columns',
    template: `input:
  fixed: {columns: [{name: n, start: 1, length: 3}]}
  csv: {header_row: 2}
  preamble: {no: {pattern: 'No (\\d+)'}, first: {record: 0, field: 1}}
operations: [{set: {columns: {no: run.meta.no, first: run.meta.first}}}]`,
    input: 'Bank\r\nNo 17\r\nnnn\r\n1  \r\n2  \r\n',
    output: 'n,no,first\n1,17,Bank\n2,17,Bank\n',
  },
  {
    name: 'the first rows of a file without a header, which stay rows',
    template: `input:
  csv: {header_row: none}
  preamble: {run: {record: 0, field: 3}, no: {pattern: '^T,(\\d+)'}}
operations:
  - slice: {skip: 1}
  - set: {columns: {run: run.meta.run, no: run.meta.no}}`,
    input: 'H,x,2026\n\n1,a,b\nT,17,\n',
    output: 'column_1,column_2,column_3,run,no\n1,a,b,2026,17\nT,17,,2026,17\n',
  },
  {
    name: 'the first lines of fixed columns without a header, and of a file of lines',
    template: `input:
  fixed: {columns: [{name: n, start: 1, length: 4}]}
  csv: {comment: "#"}
  preamble: {date: {pattern: '^HDR(\\d+)'}}
operations: [{filter: {where: '!n.startsWith("HDR")'}}, {set: {columns: {date: run.meta.date}}}]`,
    input: '# made by\r\nHDR0926\r\n1  \r\n2  \r\n',
    output: 'n,date\n1,0926\n2,0926\n',
  },
  {
    name: 'comments at the head of a file, before its records',
    template: `input:
  csv: {comment: "#"}
  preamble: {start: {pattern: '^Start date: (\\d+)'}, by: {pattern: 'by (\\w+)'}, no: {pattern: '^No (\\d+)', required: false}}
operations: [{set: {columns: {start: run.meta.start, by: run.meta.by, no: run.meta.no}}}]`,
    input: '# Start date: 20260901\n\n#End date: 20260930\nMade by Ann\nn,m\n1,2\n# No 3\n4,5\n',
    output: 'n,m,start,by,no\n1,2,20260901,Ann,\n4,5,20260901,Ann,\n',
  },
  {
    name: 'comments are no records, and are looked through where there is no header',
    template: `input:
  csv: {comment: "//", header_row: none, delimiter: ","}
  preamble: {day: {pattern: '^day (\\S+)'}, first: {record: 0, field: 1}}
operations: [{set: {columns: {day: run.meta.day, first: run.meta.first}}}]`,
    input: '// day 2026-01-31\r\n1,2\r\n3,4\r\n',
    output: 'column_1,column_2,day,first\n1,2,2026-01-31,1\n3,4,2026-01-31,1\n',
  },
  {
    name: 'comments after the line that names the separator',
    template: `input: {csv: {comment: "#"}, preamble: {start: {pattern: '^Start date: (\\d+)'}}}
operations: [{set: {columns: {start: run.meta.start}}}]`,
    input: 'sep=;\n# Start date: 20260901\nn;m\n1;2\n',
    output: 'n,m,start\n1,2,20260901\n',
  },
  {
    name: 'comments above fixed columns',
    template: `input:
  fixed: {columns: [{name: n, start: 1, length: 4}]}
  csv: {comment: "#"}
  preamble: {day: {pattern: '^day (\\S+)'}}
operations: [{set: {columns: {day: run.meta.day}}}]`,
    input: '# day 2026-01-31\r\n1\r\n2\r\n',
    output: 'n,day\n1,2026-01-31\n2,2026-01-31\n',
  },
  {
    name: 'the first lines of a file of lines',
    template: `input: {format: lines, preamble: {day: {record: 1, field: 1}}}
operations: [{slice: {skip: 2}}, {set: {columns: {day: run.meta.day}}}]`,
    input: 'Report, all\n2026-01-31\na, b\n',
    output: 'column_1,day\n"a, b",2026-01-31\n',
  },
  {
    name: 'a first row that lacks a value',
    template: `input: {csv: {header_row: none, delimiter: ","}, preamble: {run: {record: 0, field: 3}}}`,
    input: '1,2\n3,4\n',
    error: 'TEMPLATE_CHECK_FAILED: The file has no value for input.preamble.run.',
  },
  {
    name: 'rows above the header of a sheet',
    template: `input: {csv: {header_row: 4}, preamble: {iban: {record: 1, field: 2}, period: {pattern: 'Period\\t(.*)'}}}
operations: [{set: {columns: {iban: run.meta.iban, period: run.meta.period}}}]`,
    input: workbookOf({
      rows: rowsOf([[], ['Account', 'DE12'], ['Period', 2026], [], ['day', 'amount'], ['a', 1], ['b', 2], ['c', 3]]),
    }),
    output: 'day,amount,iban,period\na,1,DE12,2026\nb,2,DE12,2026\nc,3,DE12,2026\n',
  },
  {
    name: 'a file that has nothing above its records',
    template: `input: {preamble: {a: {pattern: "x", required: false}}}
operations: [{set: {columns: {a: run.meta.a}}}]`,
    input: '[{"n": "x"}]',
    output: 'n,a\nx,\n',
  },
]);

golden('below the table', [
  {
    name: 'a sum at the foot is compared with the sum of the rows',
    template: `input: {footer: {total: {pattern: "^Total;+(.*)$"}, count: {record: 0, field: 2}}}
operations:
  - stop_when: {where: 'name == "Total"'}
  - parse_number: {columns: amount, decimal: ","}
  - set: {columns: {share: 'amount * 100d / parse_number(run.meta.total), of: run.meta.count}}`.replace(
      'parse_number(run.meta.total), of',
      "parse_number(run.meta.total)', of",
    ),
    input: 'name;amount\na;1,5\nb;2,5\nTotal;4\nRows;2\n\n',
    output: 'name,amount,share,of\na,1.5,37.5,2\nb,2.5,62.5,2\n',
  },
  {
    name: 'the last of several, and a Ctrl-Z after it',
    template: `input: {csv: {delimiter: ","}, footer: {a: {pattern: "^n,(.*)"}}}
operations: [{slice: {limit: 1}}, {set: {columns: {a: run.meta.a}}}]`,
    input: 'x,y\n1,2\nn,first\nn,"la,st"\r\n\x1a',
    output: 'x,y,a\n1,2,"la,st"\n',
  },
  {
    name: 'in another encoding, after many rows',
    template: `input: {csv: {encoding: windows-1252, delimiter: ","}, footer: {who: {record: 0, field: 2}}}
operations: [{slice: {limit: 1}}, {set: {columns: {who: run.meta.who}}}]`,
    input: Buffer.from(`x,y\n${'1,2\n'.repeat(20_000)}z,J\xf6rg\n`, 'latin1'),
    output: 'x,y,who\n1,2,Jörg\n',
  },
  {
    name: 'in UTF-16, after many rows',
    template: `input: {csv: {delimiter: ","}, footer: {who: {record: 0, field: 2}}}
operations: [{slice: {limit: 1}}, {set: {columns: {who: run.meta.who}}}]`,
    input: Buffer.from(`\ufeffx,y\n${'1,2\n'.repeat(10_000)}z,Jörg`, 'utf16le'),
    output: 'x,y,who\n1,2,Jörg\n',
  },
  {
    name: 'of fixed columns',
    template: `input: {fixed: {columns: [{name: n, start: 1, length: 3}]}, footer: {rows: {record: 0, field: 1}}}
operations: [{slice: {skip_last: 1}}, {set: {columns: {rows: run.meta.rows}}}]`,
    input: '1  \n2  \n002\n',
    output: 'n,rows\n1,002\n2,002\n',
  },
  {
    name: 'a value that the file lacks',
    template: `input: {footer: {total: {pattern: "^Total"}}}\noperations: []`,
    input: 'a,b\n1,2\n',
    error: 'TEMPLATE_CHECK_FAILED: The file has no value for input.footer.total.',
  },
]);

golden('mistakes', [
  {
    name: 'of the section',
    template: `input:
  preamble: {a b: {record: 0, field: 1}, c: {record: 0}, d: {pattern: "("}, e: {pattern: x}}
  footer: {e: {pattern: x}}
operations: []`,
    problems: [
      '/input/preamble/a b BAD_VALUE',
      '/input/preamble/c BAD_VALUE',
      '/input/preamble/d/pattern BAD_PATTERN',
      '/input/footer/e BAD_VALUE',
    ],
  },
  {
    name: 'a value that nobody declares',
    template: `input: {preamble: {year: {pattern: x}}}\noperations: [{set: {columns: {a: run.meta.yaer}}}]`,
    problems: ['/operations/0/set/columns/a EXPR_UNKNOWN_COLUMN'],
  },
]);

const TOTALS = `input: {csv: {delimiter: ";"}, footer: {total: {pattern: "^Total;(.*)$"}}}
operations:
  - {stop_when: {where: a == "Total"}}
  - {parse_number: {columns: n, decimal: ",", grouping: "."}}
  - {check_totals: {checks: [{expr: sum(n), equals: {meta: total, decimal: ",", grouping: "."}, tolerance: "0.01"}]}}`;

golden('a total that the file names', [
  {
    name: 'that is right, or nearly',
    template: TOTALS,
    input: 'a;n\n1;1.000,10\n2;-0,05\nTotal;1.000,06\n',
    output: 'a,n\n1,1000.10\n2,-0.05\n',
  },
  {
    name: 'that is wrong',
    template: TOTALS,
    input: 'a;n\n1;1.000,10\nTotal;1.000,12\n',
    error: 'TEMPLATE_CHECK_FAILED: Operation 3 check_totals (line 1, /operations/2): Total 1: TOTAL_MISMATCH.',
  },
  {
    name: 'a total that is not a number',
    template: TOTALS,
    input: 'a;n\n1;1\nTotal;one\n',
    error: 'TEMPLATE_CHECK_FAILED',
  },
]);
