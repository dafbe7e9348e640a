// What the detectors make of small files as people have them: delimiter and header row, nothing told.
import t from 'tap';
import { detectDialect } from '../../../workers/input/detect/dialect.ts';
import { detectHeaderRow } from '../../../workers/input/detect/header-row.ts';

const UNKNOWN = { delimiter: null, quote: null };

/** Name: [lines of the file, delimiter, 0-based header row or null]. */
const FILES: Record<string, [lines: readonly string[], delimiter: string, headerRow: number | null]> = {
  'a plain table': [['id,amount', '1,2.50', '2,3.00'], ',', 0],
  'a table of texts': [['name;town', 'Ada;London', 'Blaise;Paris'], ';', 0],
  'numbers alone have no header': [['1,2', '3,4', '5,6'], ',', null],
  'dates in the first row are data': [['Ada,2024-01-02', 'Bob,2024-01-03', 'Eve,2024-01-04'], ',', null],
  'a preamble': [['Report of May', '', 'id\tamount', '1\t2', '2\t3'], '\t', 2],
  'a title spread over the columns': [
    ['Sales,Sales,Sales', 'day,net,gross', '2024-01-02,1,2', '2024-01-03,3,4'],
    ',',
    1,
  ],
  'groups of columns above their names': [
    [',first half,,second half,', 'town,net,gross,net,gross', 'Paris,1,2,3,4', 'Rome,5,6,7,8'],
    ',',
    1,
  ],
  'years name columns': [['indicator,1999,2000', 'water,12.5,13.5', 'air,10.25,11'], ',', 0],
  'a first row that lacks its number': [['name,price', 'Ada,unknown', 'Bob,3', 'Eve,4'], ',', 0],
  'names in several lines': [['Dist.,,per', 'No.,Name,pupil', '101,Erie,12.5', '102,Lyons,3'], ',', 1],
  'a sentence with commas above the header': [
    ['Made on Monday, by hand, at noon', 'cm-1,%T', '4000.00,98.78', '3999.00,98.79'],
    ',',
    1,
  ],
  'words in quotes are no columns': [['n,text', '0,say "x"', '1,say "y"', '2,say "z"'], ',', 0],
  'times are no columns of colons': [['time', '15:02:37.143', '15:02:38.001'], ',', 0],
  'spaces between columns': [['a b c', '1 2 3', '4 5 6'], ' ', 0],
  'a sentence is no table of spaces': [['note', 'one two three', 'four'], ',', 0],
};

for (const [name, [lines, delimiter, headerRow]] of Object.entries(FILES)) {
  t.test(name, async (t) => {
    const found = detectDialect(`${lines.join('\n')}\n`, true, UNKNOWN);
    t.equal(found.delimiter, delimiter);
    t.equal(detectHeaderRow(found.sample.records, null), headerRow);
  });
}

t.test('the names that a Template looks for decide, wherever they stand', async (t) => {
  const records = [
    ['a', 'b'],
    ['1', '2'],
    ['Betrag', 'Datum'],
  ];
  t.equal(
    detectHeaderRow(records, (text) => text === 'Betrag'),
    2,
  );
});
