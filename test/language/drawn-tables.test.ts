// Tables drawn with line characters. They are refused unless the Template declares the delimiter.
import { golden } from './golden.ts';

const PASS = 'operations: []';

const refused = (name: string, input: string, line: number) => ({
  name,
  template: PASS,
  input,
  error:
    `MALFORMED_FILE: Line ${line} consists of dashes between "|" or "+": the file is a table drawn with characters, such ` +
    'as Markdown or the output of psql or mysql, and not CSV. Export the table as CSV. To read such lines as rows, ' +
    'declare the delimiter in the Template (input.csv.delimiter).',
});

golden('tables drawn with characters', [
  refused('Markdown', '| id | name |\n|---|---|\n| 1 | Ada |\n', 2),
  refused('Markdown without names', '|  |  |\n|:--|--:|\n| 1 | Ada |\n| 2 | Bob |\n', 2),
  refused('Markdown without outer lines, below a title', '# Report\r\n\r\nid | name\r\n--- | ---\r\n1 | Ada\r\n', 4),
  refused('psql', ' id | name \n----+------\n  1 | Ada\n(1 row)\n', 2),
  refused('mysql', '+----+------+\n| id | name |\n+----+------+\n|  1 | Ada  |\n+----+------+\n', 1),
  {
    name: 'Markdown in a quoted cell',
    template: PASS,
    input: 'id,text\n1,"| a | b |\n|---|---|\n| ""x"" | y |"\n2,z\n',
    output: 'id,text\n1,"| a | b |\n|---|---|\n| ""x"" | y |"\n2,z\n',
  },
  { name: 'cells of dashes', template: PASS, input: 'id|a|b\n1|--|--\n2|x|--\n', output: 'id,a,b\n1,--,--\n2,x,--\n' },
  { name: 'a line of dashes alone', template: PASS, input: 'a,b\n--,--\n1,2\n', output: 'a,b\n--,--\n1,2\n' },
  {
    name: 'a declared delimiter',
    template: 'input: {csv: {delimiter: "|"}}\noperations: [{filter: {where: id != "--"}}]',
    input: 'id|name\n--|--\n1|Ada\n',
    output: 'id,name\n1,Ada\n',
  },
]);
