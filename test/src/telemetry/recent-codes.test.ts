// The error codes of the last hour: a code that occurs very often hides no other.
import t from 'tap';
import { RecentCodes } from '../../../src/telemetry/recent-codes.ts';

const HOUR_MILLISECONDS = 3_600_000;
const occurrence = (code: string, account: string | null = null) => ({ code, account, template: null });

t.test('counts by code, with the last occurrence', (t) => {
  const codes = new RecentCodes();
  codes.add(occurrence('API_KEY_INVALID'), 0);
  for (let at = 1; at <= 1_500; at++) codes.add(occurrence('NOT_FOUND', `a${at}`), at);
  t.strictSame(codes.list(2_000), [
    { count: 1_000, last: occurrence('NOT_FOUND', 'a1500'), secondsAgo: 0.5 },
    { count: 1, last: occurrence('API_KEY_INVALID'), secondsAgo: 2 },
  ]);
  t.end();
});

t.test('what is older than an hour is not counted', (t) => {
  const codes = new RecentCodes();
  codes.add(occurrence('SERVER_BUSY'), 0);
  codes.add(occurrence('RATE_LIMITED'), 0);
  codes.add(occurrence('RATE_LIMITED'), 2);
  t.match(codes.list(HOUR_MILLISECONDS + 1), [{ count: 1, last: { code: 'RATE_LIMITED' } }]);
  t.equal(codes.list(HOUR_MILLISECONDS + 1).length, 1);
  t.end();
});
