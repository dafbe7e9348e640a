// The order in which `send` sends files: which workers continue when slots are missing, and what a fault ends.
import t from 'tap';
import { type SendEnding, sendQueued } from '../../../src/commands/send.ts';

const soon = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

t.test('a fault ends all that is under way before it is thrown', async (t) => {
  const fault = new Error('a fault of ours');
  const aborter = new AbortController();
  const ended: string[] = [];
  const send = async (item: string): Promise<SendEnding> => {
    if (item === 'b') throw fault;
    while (!aborter.signal.aborted) await soon();
    // It takes its time to end.
    await soon();
    ended.push(item);
    return { isSent: false, lacksSlot: false, report: () => {} };
  };
  const abort = (): void => aborter.abort();
  await t.rejects(sendQueued({ items: ['a', 'b', 'c', 'd'], parallel: 3, send, abort }), fault);
  t.strictSame(ended, ['a', 'c', 'd']);
});

t.test('a refusal counts when nobody else could have held the slot', async (t) => {
  const told: string[] = [];
  let isTaken = false;
  let tries = 0;
  const send = async (item: string): Promise<SendEnding> => {
    tries += 1;
    const lacksSlot = isTaken || item === 'never';
    isTaken = true;
    await soon();
    if (!lacksSlot) isTaken = false;
    return { isSent: !lacksSlot, lacksSlot, report: () => void told.push(`${item} ${lacksSlot ? 'refused' : 'sent'}`) };
  };
  t.equal(await sendQueued({ items: ['a', 'b', 'never', 'c'], parallel: 4, send, abort: () => {} }), false);
  t.strictSame(told.sort(), ['a sent', 'b sent', 'c sent', 'never refused'], 'each is told once');
  t.ok(tries > 4, `${tries} tries`);
});
