// The thread that checks Templates: its results, and Templates that block or end the thread.
// With all tests only: faults that only time limits detect.
import t from 'tap';
import { CheckThread, OVERRUNS_MAX } from '../../../src/catalog/check-thread.ts';

/** A machine that is busy with other things may not give it two seconds of a processor in twenty. */
const OVERRUN = { problems: [{ message: /more than 2 s to check|not checked within 20 s/ }] };

t.test('a thread that a Template overruns is replaced, and the others go on being checked', async (t) => {
  const checks = new CheckThread({ entry: new URL('../../fixtures/odd-checks.js', import.meta.url) });
  t.teardown(() => checks.close());
  const context = { account: 'a', templateId: 't', tables: new Map(), secrets: new Set(['pepper']) };
  const check = (source: string) => checks.check(source, 'json', context);
  const sound = '{"operations": [{"op": "hash", "columns": "a", "key": "pepper"}]}';
  t.match(await check(sound), { template: { outputFormat: 'csv', checked: { output: {}, reservationBytes: Number } } });
  t.match(await check(sound.replace('pepper', 'salt')), { problems: [{ message: /no secret "salt"/ }] });
  t.match(await check('spin'), OVERRUN);
  t.match(await check(sound), { template: {} }, 'by another thread');
  await t.rejects(check('fault'), { message: 'ours' });
  await t.rejects(check('exit'), 'a thread that ends is a fault of ours');
  t.match(await check(sound), { template: {} });
  for (let left = OVERRUNS_MAX - 1; left > 0; left--) t.match(await check('spin'), OVERRUN);
  t.match(await check(sound), { problems: [{ message: /was not checked, because 5 others/ }], isTemporary: true });
  checks.reset();
  t.match(await check(sound), { template: {} }, 'with the next loading');
  const spinning = check('spin');
  checks.close();
  t.match(await spinning, { problems: [{ message: /the service ends/ }] }, 'whoever closes does not wait');
});
