// Failures have a maximum size, and headers of a file leave the engine only if a Run shows headers.
import t from 'tap';
import { FAILURE_MESSAGE_LENGTH_MAX, Failed, reportedFailure } from '../../../workers/protocol/failure.ts';

t.test('a failure has a maximum size, however it was made', async (t) => {
  const long = '\u{1f600}'.repeat(1_000_000);
  const columns = Array.from({ length: 100_000 }, (_, index) => `column ${index}`);
  const { failure } = new Failed('MALFORMED_FILE', long, { columns, localMessage: `x${long}` });
  for (const message of [failure.message, failure.localMessage]) {
    t.ok(message!.length < FAILURE_MESSAGE_LENGTH_MAX + 40);
    t.match(message, /\.\.\. \(\d+ more characters\)$/);
    t.ok(Buffer.from(message!).toString() === message, 'no half of a character');
  }
  t.equal(failure.columns!.length, 100);
  const reported = reportedFailure({ code: 'TEMPLATE_ROW_ERROR', message: long }, false);
  t.ok(reported.message.length < FAILURE_MESSAGE_LENGTH_MAX + 40);
});

t.test(
  'the local message replaces the other one for the person who has the file, and is left out for others',
  async (t) => {
    const place = { row: 1, step: 0, column: 'Header' };
    const failure = {
      code: 'TEMPLATE_ROW_ERROR',
      message: 'column 1',
      localMessage: 'column "Header"',
      place,
    } as const;
    t.strictSame(reportedFailure(failure, true), { code: 'TEMPLATE_ROW_ERROR', message: 'column "Header"', place });
    const shown = reportedFailure(failure, false);
    t.strictSame(shown, { code: 'TEMPLATE_ROW_ERROR', message: 'column 1', place: { ...place, column: null } });
    t.notMatch(JSON.stringify(shown), /Header/);
  },
);
