// Headers of several lines, columns without a name, and files whose header and rows may not match.
import t from 'tap';
import { type DetectedForm, detectForm } from '../../../workers/input/detect/detect-form.ts';
import { joinHeaderLines } from '../../../workers/input/detect/header-lines.ts';
import { ExpectedHeaders } from '../../../workers/input/expected-headers.ts';
import { compileKernels, instantiateKernel } from '../../../workers/kernel/bindings/kernel.ts';
import { Arena } from '../../../workers/memory/arena.ts';
import { RUN_RESERVATION_BYTES, unlimitedShare } from '../../../workers/memory/budget.ts';
import { Heap } from '../../../workers/memory/heap.ts';
import { done } from '../../../workers/scheduling/time-slices.ts';
import { sound } from '../template/check-problems.ts';

const UNKNOWN = { delimiter: null, quote: null, headerRow: null, expected: null };

const kernel = instantiateKernel(compileKernels());
const heap = new Heap(kernel.memory, kernel.exports.heapStart(), unlimitedShare(), RUN_RESERVATION_BYTES);
const tools = { kernel, arena: new Arena(heap) };

/** Lines of a file, and the names of its columns. */
const NAMES: Record<string, [lines: readonly string[], names: readonly string[]]> = {
  'a title for several columns': [
    ['town,first half,,second half,', ',net,gross,net,gross', 'Rome,1,2,3,4', 'Bari,5,6,7,8'],
    ['town', 'first half net', 'first half gross', 'second half net', 'second half gross'],
  ],
  'a title ends where names need none': [
    [',7d,,14d,,', 'key,fold,log,fold,log,note', '1,0.2,0.3,0.4,0.5,x', '2,0.6,0.7,0.8,0.9,y'],
    ['key', '7d fold', '7d log', '14d fold', '14d log', 'note'],
  ],
  'cells that were merged': [
    [',1993,1993,1993', 'age,total,male,female', '12,148,213,80', '13,81,104,56'],
    ['age', '1993 total', '1993 male', '1993 female'],
  ],
  'names in several lines': [
    ['Dist.,,per', 'No.,Name,pupil', '101,Erie,12.5', '102,Lyons,3'],
    ['Dist. No.', 'Name', 'per pupil'],
  ],
  'years above totals and a word below one': [
    ['Staff,,', ',,', ',2014,2013', 'unit,Total,Total', ',,Restated', 'A,672,641', 'B,119,115'],
    ['unit', '2014 Total', '2013 Total Restated'],
  ],
  units: [
    ['time,load', 's,(kg)', '1,20', '2,21'],
    ['time s', 'load (kg)'],
  ],
  'a title spread over all columns is none of a group': [
    ['Sales,Sales,Sales', 'day,net,gross', '2024-01-02,1,2', '2024-01-03,3,4'],
    ['day', 'net', 'gross'],
  ],
  'what is told of the file is no title of a group': [
    ['Report,May 2026,', 'id,name,amount', '1,Ada,2.50', '2,Bob,3.00'],
    ['id', 'name', 'amount'],
  ],
  'a short table under more lines of words': [
    ['# Report', '# Pages', '# Account: Ada', '# to 2024-01-31', 'page,views,cost', '/,12,0.50', '/shop,3,0.25'],
    ['page', 'views', 'cost'],
  ],
  'numbers above names are no titles': [
    ['Version,,3', 'id,name,amount', '1,Ada,2.50', '2,Bob,3.00'],
    ['id', 'name', 'amount'],
  ],
};

for (const [name, [lines, names]] of Object.entries(NAMES)) {
  t.test(`names of columns: ${name}`, async (t) => {
    const records = lines.map((line) => line.split(','));
    const form = done(detectForm(Buffer.from(`${lines.join('\n')}\n`), true, UNKNOWN, tools));
    const last = form.headerRow!;
    const { headerLines = 1 } = form;
    t.same(joinHeaderLines(records.slice(last - headerLines + 1, last + 1)), names);
  });
}

t.test('a Template finds joined names, and the names of the last line that it was written for', async (t) => {
  const file = Buffer.from('town,first half,,second half,\n,net,gross,net,gross\nRome,1,2,3,4\nBari,5,6,7,8\n');
  const formFor = (names: string): DetectedForm => {
    const expected = ExpectedHeaders.of(sound(`input: {columns: [${names}]}`));
    return done(detectForm(file, true, { ...UNKNOWN, expected }, tools));
  };
  const joined = { delimiter: ',', quote: '"', headerRow: 1, headerLines: 2 };
  t.same(formFor('{name: first half net}'), joined);
  t.same(formFor('{name: town}, {name: first half net}'), joined);
  t.same(formFor('{name: net}'), { delimiter: ',', quote: '"', headerRow: 1 });
  t.same(formFor('{name: town}'), { delimiter: ',', quote: '"', headerRow: 0 });
});

t.test('a column without a name', async (t) => {
  const found = (text: string): DetectedForm['nameless'] | 'doubt' => {
    const { nameless, isDoubtful } = done(detectForm(Buffer.from(text), true, UNKNOWN, tools));
    return isDoubtful ? 'doubt' : nameless;
  };
  t.equal(found('"x";"y"\n"r1";1;2\n"r2";3;4\n'), 'first');
  t.equal(found('"x","y"\n"r1",1.5,a\n"r2",3,b\n'), 'first');
  t.equal(found('"x","y"\n"r1",1,50\n"r2",3,75\n'), 'doubt', 'a decimal comma');
  t.equal(found('"x","y"\n"r1",1,2\n'), 'first', 'one row');
  t.equal(found('"x";"y"\n"r1";1;2\n"r1";3;4\n'), undefined, 'two rows of one name');
  t.equal(found('x;y\nr1;1;2\nr2;3;4\n'), undefined, 'nothing is in quotes');
  t.equal(found('"x";"y"\n"r1";1;2\n"r2";3\n'), undefined, 'not every row');
  t.equal(found('"x";"y"\n"1";"2";" "\n'), 'last');
  t.equal(found('"x";"y"\n"1";"2";""\n'), undefined, 'a delimiter after the last column');
});

t.test('words that hold a delimiter put no header and rows in doubt that fit', async (t) => {
  const text = 'a,b,c\n1;2;x,"5;6"\n3;4;y,"7;8"\n';
  t.notOk(done(detectForm(Buffer.from('a,b,c,d\n1,x;y,2\n3,z;y,4\n'), true, UNKNOWN, tools)).isDoubtful);
  t.ok(done(detectForm(Buffer.from(text), true, UNKNOWN, tools)).isDoubtful);
});
