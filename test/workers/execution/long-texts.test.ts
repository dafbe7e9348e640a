// Memory of long texts in chains of text steps: each text that a step makes is reported, so that it is collected before the
// next ones fill the memory of the node.
import t from 'tap';
import { chainScratchBytes, runTextChain } from '../../../workers/execution/cells/text-chain.ts';
import { matchSteps } from '../../../workers/execution/keys/row-keys.ts';
import { compileKernels, instantiateKernel } from '../../../workers/kernel/bindings/kernel.ts';
import { VIEW_BYTES } from '../../../workers/kernel/layout/cells.ts';
import { Arena } from '../../../workers/memory/arena.ts';
import { RUN_RESERVATION_BYTES, unlimitedShare } from '../../../workers/memory/budget.ts';
import { Heap } from '../../../workers/memory/heap.ts';

const ARENA_BYTES = 24 * 1024 * 1024;

/** Runs the steps of `match: loose` over one cell. Returns the lengths that were reported, and the edited text. */
function reported(cell: string, arenaBytes = ARENA_BYTES): { readonly lengths: number[]; readonly text: string } {
  const kernel = instantiateKernel(compileKernels());
  const heap = new Heap(kernel.memory, kernel.exports.heapStart(), unlimitedShare(), RUN_RESERVATION_BYTES);
  const lengths: number[] = [];
  const arena = new Arena(heap, arenaBytes, (bytes) => lengths.push(bytes));
  const views = arena.take(VIEW_BYTES);
  const rows = arena.take(chainScratchBytes(1));
  const bytes = Buffer.from(cell);
  const start = heap.allocate(bytes.length);
  heap.u8.set(bytes, start);
  heap.u32.set([start, bytes.length], views >>> 2);
  heap.u32[rows >>> 2] = 0;
  const isDone = runTextChain(matchSteps(heap, 'loose'), kernel, arena, { views, rows, count: 1 });
  const [at, length] = heap.u32.subarray(views >>> 2, (views >>> 2) + 2);
  return { lengths, text: isDone ? Buffer.from(heap.u8.slice(at!, at! + length!)).toString() : '' };
}

t.test('the texts between the steps of a long cell are reported', async (t) => {
  const piece = 'Ｚoë, The 1st; ';
  const repeated = 150_000;
  const { lengths, text } = reported(piece.repeat(repeated));
  t.equal(text, 'zoe,the1st;'.repeat(repeated), 'all steps have run');
  // The decoded cell, and the texts after the normal form, the fold of case, the accents and the removed characters.
  t.ok(lengths.length >= 5, `${lengths.length} texts: ${lengths.join(', ')}`);
});

t.test('texts of usual length are not reported', async (t) => {
  const { lengths } = reported('Zoë, The 1st; '.repeat(1_000));
  t.strictSame(lengths, []);
});

t.test('a text that the whole arena cannot hold is made once', async (t) => {
  const cell = 'Ｚoë, The 1st; '.repeat(150_000);
  const small = reported(cell, 1024 * 1024);
  const large = reported(cell);
  t.equal(small.text, large.text, 'the arena was enlarged, and no step refused the text');
  t.strictSame(small.lengths, large.lengths);
});
