// Time zones against the runtime, and against known changes of clocks.

import { test } from 'tap';
import { instantsOfLocal, startOfDay, timeZone } from '../../../workers/values/time-zone.ts';
import { parseTimestamp } from '../../../workers/values/timestamp.ts';
import { fc } from '../../random.ts';
import { sweep } from '../../sweep.ts';

test('zones know their changes of the clock', async (t) => {
  const berlin = timeZone('Europe/Berlin')!;
  const at = (text: string) => parseTimestamp(text)!.seconds;
  t.equal(berlin.offsetAt(at('2024-03-31T00:59:59Z')), 3600);
  t.equal(berlin.offsetAt(at('2024-03-31T01:00:00Z')), 7200);
  const local = (text: string) => {
    const { earlier, later, kind } = instantsOfLocal(berlin, at(`${text}Z`));
    const [first, second] = [earlier, later].map((seconds) => new Date(seconds * 1000).toISOString().slice(0, 16));
    return first === second ? `${first} ${kind}` : `${first} ${second} ${kind}`;
  };
  t.equal(local('2024-01-15T12:00:00'), '2024-01-15T11:00 unique');
  t.equal(local('2024-03-31T02:30:00'), '2024-03-31T00:30 2024-03-31T01:30 gap');
  t.equal(local('2024-10-27T02:30:00'), '2024-10-27T00:30 2024-10-27T01:30 twice');
  t.equal(local('2024-03-31T03:00:00'), '2024-03-31T01:00 unique');
  t.equal(timeZone('Asia/Kathmandu')!.offsetAt(0), 19_800, 'before 1986 it was +05:30');
  t.equal(timeZone('+05:45')!.offsetAt(0), 20_700);
  for (const wrong of ['', 'Nowhere/City', '+25:00', '__proto__', '../UTC']) t.equal(timeZone(wrong), null, wrong);
});

test('a local time means the instants at which the clock shows it', async (t) => {
  const at = (text: string) => parseTimestamp(text)!.seconds;
  // Changes by half an hour, at midnight, in the opposite season, by a whole day, and by seconds.
  const changes = [
    ['Australia/Lord_Howe', '2026-04-04T15:00:00Z'],
    ['Australia/Lord_Howe', '2026-10-03T15:30:00Z'],
    ['America/Sao_Paulo', '2018-02-18T02:00:00Z'],
    ['America/Sao_Paulo', '2018-11-04T03:00:00Z'],
    ['America/Havana', '2026-11-01T05:00:00Z'],
    ['Africa/Casablanca', '2026-02-15T02:00:00Z'],
    ['Africa/Casablanca', '2026-03-22T02:00:00Z'],
    ['Pacific/Apia', '2011-12-30T10:00:00Z'],
    ['America/Juneau', '1867-10-19T00:00:00Z'],
    ['Europe/Amsterdam', '1937-06-30T22:40:28Z'],
  ] as const;
  for (const [name, change] of changes) {
    const zone = timeZone(name)!;
    const shownAt = new Map<number, number[]>();
    const [from, to, step] = [at(change) - 2 * 86_400, at(change) + 2 * 86_400, 300];
    for (let seconds = from; seconds < to; seconds += step) {
      const local = seconds + zone.offsetAt(seconds);
      shownAt.set(local, [...(shownAt.get(local) ?? []), seconds]);
    }
    const wrong = [];
    for (const [local, shown] of shownAt) {
      if (local < from + 93_600 || local > to - 93_600) continue;
      const { kind, earlier, later } = instantsOfLocal(zone, local);
      const expected = kind === 'twice' ? [earlier, later] : [earlier];
      if (kind === 'gap' || String(expected.filter((seconds) => (seconds - from) % step === 0)) !== String(shown))
        wrong.push([local, kind, earlier, later, shown]);
    }
    t.strictSame(wrong, [], name);
  }
  const apia = timeZone('Pacific/Apia')!;
  t.strictSame(
    instantsOfLocal(apia, at('2011-12-30T12:00:00Z')),
    { kind: 'gap', earlier: at('2011-12-29T22:00:00Z'), later: at('2011-12-30T22:00:00Z') },
    'a day that was left out',
  );
  const day = (text: string) => at(`${text}T00:00:00Z`) / 86_400;
  t.equal(startOfDay(apia, day('2011-12-30')), at('2011-12-30T10:00:00Z'));
  t.equal(startOfDay(timeZone('America/Sao_Paulo')!, day('2018-11-04')), at('2018-11-04T03:00:00Z'), 'begins at 01:00');
  t.equal(
    startOfDay(timeZone('America/Havana')!, day('2026-11-01')),
    at('2026-11-01T04:00:00Z'),
    'midnight comes twice',
  );
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

test('offsets equal those of the runtime at any instant', async () => {
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
    { numRuns: sweep({ short: 75, long: 20_000 }) },
  );
});
