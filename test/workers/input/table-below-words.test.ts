// Short tables below long preambles, and plain text that contains delimiters but is not a table.
import { test } from 'tap';
import { widthBelowWords } from '../../../workers/input/detect/header-row.ts';
import { listed } from '../../../workers/input/detect/records.ts';

const WORDS = ['# Report', '# Account: Ada', '#', '# from 2024-01-01', '# to 2024-01-31'];
const HEADER = 'page,views,cost';

const FILES: Record<string, [lines: readonly string[], width: number | null]> = {
  'a header and two rows': [[...WORDS, HEADER, '/,12,0.50', '/shop,3,0.25'], 3],
  'one row, most of whose columns are numbers': [[...WORDS, HEADER, '/,12,0.50'], 3],
  'one row, three of whose seven columns are dates and numbers': [
    [...WORDS, 'booked,value,state,from,to,text,amount', '28.03.24,28.03.24,done,Ada,Bob,Rent,-12.34'],
    7,
  ],
  'a blank line after it': [[...WORDS, HEADER, '/,12,0.50', '/shop,3,0.25', ''], 3],
  'rows without their last cell': [[...WORDS, HEADER, '/,12,', '/shop,3,0.25'], 3],
  'one row, of whose columns one is a number': [[...WORDS, 'page,title,views', '/,Home,12'], null],
  'rows without figures': [[...WORDS, 'page,title,text', '/,Home,Hello', '/shop,Shop,Buy'], null],
  'rows and no header': [[...WORDS, '/,12,0.50', '/shop,3,0.25'], null],
  'sentences with commas, apart': [[...WORDS, 'one, two, three', 'word', '1, 2, 3', '4, 5, 6'], null],
  'a table of names and numbers above it': [
    ['name,score', 'Ann,5', 'Bob,7', 'Cyd,9', '', HEADER, '/,12,0.50', '/shop,3,0.25'],
    null,
  ],
  'names and values above it': [
    ['Report,Sales', 'Account,123', 'From,2024-01-01', '', HEADER, '/,12,0.50', '/shop,3,0.25'],
    3,
  ],
  'a list of which some records are wider': [
    [
      'name,street',
      'Ann,Main St',
      'Bob,Elm St',
      'Cyd,Oak St',
      'Dan,Rue X,Paris',
      'Eve,Via Y,75001',
      'Fay,Via Z,75002',
      'Gus,Way 4',
      'Hal,Way 7',
    ],
    null,
  ],
  'a column of sentences': [['Comment', 'good', 'bad', 'so, so, well', '1, 2, 3', '2, 2, 2'], null],
  'a first row that is not the widest': [[...WORDS, HEADER, '/,12,0.50,x', '/shop,3,0.25,y'], null],
};

for (const [name, [lines, width]] of Object.entries(FILES)) {
  test(name, async (t) => t.equal(widthBelowWords(listed(lines.map((line) => line.split(','))), 1), width));
}

test('a file of wide records is none of its business', async (t) => {
  t.equal(widthBelowWords(listed([HEADER, '/,12,0.50', '/shop,3,0.25'].map((line) => line.split(','))), 3), null);
});
