// Keys that several threads share, here two views of the same memory in one thread: each key is new once, sets grow, and
// the memory is paid once.
import { type Test, test } from 'tap';
import { BATCH_ROWS_MAX } from '../../../workers/batch/batch.ts';
import { emptyKeys, OrderedParts, type OrderedStep, SharedPages } from '../../../workers/batch/ordered-parts.ts';
import { compileKernels, instantiateKernel } from '../../../workers/kernel/bindings/kernel.ts';
import { Arena } from '../../../workers/memory/arena.ts';
import { type BudgetShare, unlimitedShare } from '../../../workers/memory/budget.ts';
import { Heap } from '../../../workers/memory/heap.ts';
import { Failed } from '../../../workers/protocol/failure.ts';
import type { KeysMemory } from '../../../workers/protocol/frame.ts';
import { PartTurns, TURNS_BYTES } from '../../../workers/protocol/part-turns.ts';
import { SliceClock } from '../../../workers/scheduling/time-slices.ts';
import type { OperatorContext } from '../../../workers/template/operation.ts';
import { partly } from '../../partly.ts';

const kernels = compileKernels();
const PAGE_BYTES = 65_536;

class Thread {
  readonly parts: { turns: PartTurns; keys: KeysMemory; part: number };
  readonly all: OrderedParts;
  readonly steps: readonly OrderedStep[];
  readonly arena: Arena;
  readonly #context: OperatorContext;

  constructor(shared: SharedArrayBuffer, keys: KeysMemory, budget: BudgetShare = unlimitedShare()) {
    const kernel = instantiateKernel(kernels);
    const heap = new Heap(kernel.memory, kernel.exports.heapStart(), unlimitedShare(), 0);
    this.arena = new Arena(heap, 4 * 1024 * 1024);
    this.#context = partly<OperatorContext>({ arena: this.arena, kernel });
    this.parts = { turns: new PartTurns(shared, 100), keys, part: 0 };
    const clock = new SliceClock(() => undefined);
    this.all = new OrderedParts(this.parts, [true, false, true], { clock, arena: this.arena, budget });
    this.steps = [this.all.step(0)!, this.all.step(2)!];
  }

  /** Returns the positions of the new keys. */
  add(step: number, texts: readonly string[]): readonly number[] {
    const { arena } = this;
    const count = texts.length;
    arena.clear();
    const [views, rows] = [arena.take(count * 8), arena.take(count * 4)];
    const [prints, ids] = [arena.take(count * 16), arena.take(count * 4)];
    const { u32 } = arena.heap;
    for (const [row, text] of texts.entries()) {
      const at = arena.take(text.length);
      arena.heap.u8.set(Buffer.from(text), at);
      u32.set([at, text.length], views / 4 + row * 2);
      u32[rows / 4 + row] = row;
    }
    const list = { views, rows, count, prints, ids };
    const { keys } = this.steps[step]!;
    keys!.prepare(this.steps[step]!, list, this.#context);
    const first = keys!.add(this.steps[step]!, count);
    keys!.copyIds(list, this.#context);
    let next = first;
    return [...texts.keys()].filter((row) => u32[ids / 4 + row] === next && ++next > 0);
  }
}

function rig() {
  return { shared: new SharedArrayBuffer(TURNS_BYTES), keys: emptyKeys(null) };
}

test('each key is new once, whichever thread brings it', (t) => {
  const { shared, keys } = rig();
  const threads = [new Thread(shared, keys), new Thread(shared, keys)];
  const known = [new Set<string>(), new Set<string>()];
  let number = 0;
  for (let batch = 0; batch < 120; batch++) {
    const step = batch % 3 === 0 ? 1 : 0;
    const texts = Array.from({ length: BATCH_ROWS_MAX }, () => `key ${(number++ * 7) % 200_000}`);
    const expected = [...texts.keys()].filter((row) => !known[step]!.has(texts[row]!) && known[step]!.add(texts[row]!));
    t.strictSame(threads[batch % 2]!.add(step, texts), expected);
  }
  t.end();
});

test('the pages of the keys are paid once, also after a thread has left', (t) => {
  const { shared, keys } = rig();
  const budgets = [unlimitedShare(), unlimitedShare()];
  const [one, other] = budgets.map((budget) => new Thread(shared, keys, budget)) as [Thread, Thread];
  const paid = (): number => budgets[0]!.takenBytes + budgets[1]!.takenBytes;
  let number = 0;
  const batch = (): string[] => Array.from({ length: BATCH_ROWS_MAX }, () => `key ${number++}`);
  for (let times = 0; times < 20; times++) one.add(0, batch());
  t.ok(paid() > 20 * BATCH_ROWS_MAX * 28, `${paid()} bytes`);
  t.ok(paid() < keys.memory.buffer.byteLength);
  const before = paid();
  other.add(0, ['known', 'known']);
  t.equal(budgets[1]!.takenBytes, 0);
  budgets[0]!.release(before);
  one.all.close();
  other.add(0, ['key 1']);
  t.equal(paid(), before, 'the thread that stays pays');
  const refusing = new Thread(shared, keys, { ...unlimitedShare(), take: () => false });
  other.all.close();
  t.throws(() => refusing.add(0, ['key 2']), Failed);
  t.end();
});

test('the memory of an earlier Run is empty again', (t) => {
  const { shared, keys } = rig();
  const batch = Array.from({ length: BATCH_ROWS_MAX }, (_, number) => `key ${number}`);
  for (let times = 0; times < 20; times++)
    new Thread(shared, keys).add(
      0,
      batch.map((text) => `${text} ${times}`),
    );
  const again = emptyKeys(keys);
  t.equal(again.memory, keys.memory);
  const first = new Thread(shared, again);
  const budget = unlimitedShare();
  const second = new Thread(shared, again, budget);
  t.strictSame(first.add(0, batch), [...batch.keys()]);
  t.strictSame(second.add(1, batch), [...batch.keys()]);
  t.strictSame(second.add(0, batch), []);
  t.end();
});

test('a refused thread keeps neither memory of the budget nor addresses', (t) => {
  const keys = emptyKeys(null);
  const budget = unlimitedShare();
  const pages = new SharedPages(keys, budget);
  const other = new SharedPages(keys, unlimitedShare());
  t.not(pages.take(27_000, false), 0, 'nobody touches these pages');
  const { takenBytes } = budget;
  for (let times = 0; times < 10; times++) t.equal(pages.take(2000, false), 0, 'too few addresses are left');
  t.equal(budget.takenBytes, takenBytes);
  const needed = other.take(4000, true);
  t.not(needed, 0, 'pages that a thread cannot do without are still there');
  t.equal(pages.take(2000, true), 0, 'but not more than the memory has');
  t.equal(budget.takenBytes, takenBytes);
  t.ok(pages.take(100, true) > needed);
  t.equal(budget.takenBytes, takenBytes + 100 * PAGE_BYTES);
  t.end();
});

test('the data of the kernels ends before the head of the keys', (t) => {
  const keys = emptyKeys(null);
  const head = (): Buffer => Buffer.from(new Uint8Array(keys.memory.buffer).slice(PAGE_BYTES));
  const before = head();
  new Thread(new SharedArrayBuffer(TURNS_BYTES), keys).all.close();
  t.ok(head().equals(before));
  t.end();
});

test('a part waits for earlier ones, passes with its last batch, and may not come later', (t) => {
  const { shared, keys } = rig();
  const [one, other] = [new Thread(shared, keys), new Thread(shared, keys)];
  const { turns } = one.parts;
  other.parts.part = 1;
  const waiting = [...[other.steps[0]!.enter()]][0]![Symbol.iterator]();
  t.strictSame(waiting.next(), { done: false, value: 'pause' });
  enter(t, one, 0);
  one.steps[0]!.leave();
  t.equal(turns.partAt(0), 0, 'further batches of the part may come');
  one.all.isLastBatch = true;
  one.arena.openBatches = 1;
  one.steps[0]!.leave();
  t.equal(turns.partAt(0), 0, 'further pieces of the batch may come');
  one.arena.openBatches = 0;
  one.steps[0]!.leave();
  t.equal(turns.partAt(0), 1);
  t.equal(waiting.next().done, true);
  t.throws(() => enter(t, one, 0), Failed);
  for (const _ of one.all.endPart()) t.fail('waits');
  t.strictSame([turns.partAt(0), turns.partAt(1)], [1, 1], 'the end of a part passes the other steps');
  const local = { operator: {}, rowLocal: true };
  other.all.begin([local, { ...local, operator: { rowsMost: 3 } }, local]);
  other.all.isLastBatch = true;
  other.steps[0]!.leave();
  t.equal(turns.partAt(0), 1, 'the number of batches is not known');
  for (const _ of other.all.endPart()) t.fail('waits');
  t.equal(turns.partAt(0), 2);
  t.end();
});

function enter(t: Test, { steps }: Thread, step: number): void {
  for (const _ of steps[step]!.enter()) t.fail('waits');
}
