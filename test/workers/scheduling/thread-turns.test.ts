// Turns of the paused Runs of a thread: between accounts, and between the Runs of one account.
import t, { type Test } from 'tap';
import { ThreadTurns } from '../../../workers/scheduling/time-slices.ts';

const MANY = 1;
const ONE = 2;
const OTHER = 3;

/** Starts a Run that takes `turns` turns and notes its name in `order` at each. */
async function run(turns: ThreadTurns, order: string[], name: string, accountRow: number, count: number) {
  for (let turn = 0; turn < count; turn++) {
    await turns.next(accountRow);
    order.push(name);
  }
}

t.test('an account with one Run waits for one turn of an account with many', async (t) => {
  const turns = new ThreadTurns();
  const order: string[] = [];
  const many = Array.from({ length: 8 }, (_, index) => run(turns, order, `many ${index}`, MANY, 4));
  await turns.next(MANY);
  const before = order.length;
  await Promise.all([run(turns, order, 'one', ONE, 3), run(turns, order, 'other', OTHER, 3)]);
  const turnsTaken = order.slice(before);
  for (const name of ['one', 'other']) {
    const places = turnsTaken.flatMap((taken, place) => (taken === name ? [place] : []));
    t.equal(places.length, 3, `${name} has had its turns`);
    t.ok(places[2]! <= 8, `${name} had to wait for one turn of each other account: ${turnsTaken.join(', ')}`);
  }
  await Promise.all(many);
  inTurns(t, order, 8, 4);
});

t.test('one turn of the event loop gives one Run its turn', async (t) => {
  const turns = new ThreadTurns();
  const order: string[] = [];
  const runs = Array.from({ length: 3 }, (_, index) => run(turns, order, `many ${index}`, MANY, 1));
  const seen: number[] = [];
  while (order.length < 3) {
    await new Promise((resolve) => setImmediate(resolve));
    seen.push(order.length);
  }
  await Promise.all(runs);
  const most = Math.max(...seen.map((count, index) => count - (seen[index - 1] ?? 0)));
  t.ok(most <= 1, `${seen.join(', ')} turns after each turn of the event loop`);
});

/** The Runs of one account take turns: none is two turns ahead of another that still waits. */
function inTurns(t: Test, order: readonly string[], runs: number, count: number): void {
  const ofMany = order.filter((name) => name.startsWith('many'));
  t.equal(ofMany.length, runs * count, 'all Runs had all their turns');
  for (let round = 0; round < count; round++) {
    const names = new Set(ofMany.slice(round * runs, (round + 1) * runs));
    t.equal(names.size, runs, `round ${round}: each Run had one turn`);
  }
}
