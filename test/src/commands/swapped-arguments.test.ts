// Swapped arguments: the names of the files show which file is the Template, where names can show it.
import { join } from 'node:path';
import { test } from 'tap';
import { cli } from './command-line.ts';

test('run says that the Template comes first', async (t) => {
  t.match(await cli('run', 'in.csv', 'template.yaml'), {
    status: 2,
    stderr: /The Template comes first: write run template\.yaml in\.csv\./,
  });
  const folder = t.testdir({
    'lines.json': '{"format": 1, "name": "lines", "input": {"format": "lines"}}',
    'a.yaml': 'b: 1\n',
    'in.json': '[]',
  });
  const at = (name: string): string => join(folder, name);
  t.match(await cli('run', at('lines.json'), at('a.yaml')), { status: 0, stdout: 'column_1\nb: 1\n' });
  t.match(await cli('run', at('in.json'), at('a.yaml')), {
    status: 1,
    stderr: /The Template comes first: write run \S+a\.yaml/,
  });
});
