// Zones against the runtime, and against changes of the clock that are known.

import { test } from 'tap';
import { instantOfLocal, timeZone } from '../../../workers/values/time-zone.ts';
import { parseTimestamp } from '../../../workers/values/timestamp.ts';
import { fc } from '../../random.ts';
import { sweep } from '../../sweep.ts';

test('zones know their changes of the clock', async (t) => {
  const berlin = timeZone('Europe/Berlin')!;
  const at = (text: string) => parseTimestamp(text)!.seconds;
  t.equal(berlin.offsetAt(at('2024-03-31T00:59:59Z')), 3600);
  t.equal(berlin.offsetAt(at('2024-03-31T01:00:00Z')), 7200);
  const local = (text: string) => {
    const { seconds, kind } = instantOfLocal(berlin, at(`${text}Z`));
    return `${new Date(seconds * 1000).toISOString().slice(0, 16)} ${kind}`;
  };
  t.equal(local('2024-01-15T12:00:00'), '2024-01-15T11:00 unique');
  t.equal(local('2024-03-31T02:30:00'), '2024-03-31T01:30 gap');
  t.equal(local('2024-10-27T02:30:00'), '2024-10-27T00:30 twice');
  t.equal(local('2024-03-31T03:00:00'), '2024-03-31T01:00 unique');
  t.equal(timeZone('Asia/Kathmandu')!.offsetAt(0), 19_800, 'before 1986 it was +05:30');
  t.equal(timeZone('+05:45')!.offsetAt(0), 20_700);
  for (const wrong of ['', 'Nowhere/City', '+25:00', '__proto__', '../UTC']) t.equal(timeZone(wrong), null, wrong);
});

test('a clock changes at any second of a day', async (t) => {
  const at = (text: string) => parseTimestamp(text)!.seconds;
  for (const [name, change, before, after] of [
    ['America/Goose_Bay', '2010-11-07T03:01:00Z', -10_800, -14_400],
    ['America/St_Johns', '2005-10-30T02:31:00Z', -9_000, -12_600],
    ['Europe/Amsterdam', '1937-06-30T22:40:28Z', 4_772, 4_800],
  ] as const) {
    const zone = timeZone(name)!;
    const start = at(change);
    const changes = [-1, 0].map((second) => zone.offsetAt(start + second));
    if (name === 'Europe/Amsterdam' && changes[1] === 3600) continue; // newer tzdata merges it with Brussels
    t.strictSame(changes, [before, after], name);
  }
});

test('offsets are those of the runtime at any instant', async () => {
  const clock = (name: string) =>
    new Intl.DateTimeFormat('en-US', { timeZone: name, hourCycle: 'h23', dateStyle: 'short', timeStyle: 'medium' });
  const names = [
    'Europe/Berlin',
    'America/St_Johns',
    'Asia/Gaza',
    'Africa/Casablanca',
    'Australia/Lord_Howe',
    'Pacific/Apia',
  ];
  const zones = names.map((name) => ({ zone: timeZone(name)!, local: clock(name) }));
  const utc = clock('UTC');
  fc.assert(
    fc.property(fc.constantFrom(...zones), fc.integer({ min: -2e9, max: 4e9 }), ({ zone, local }, seconds) => {
      return utc.format((seconds + zone.offsetAt(seconds)) * 1000) === local.format(seconds * 1000);
    }),
    { numRuns: sweep({ short: 300, long: 20_000 }) },
  );
});
