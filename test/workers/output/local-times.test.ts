// Date cells of a workbook show the local time of the zone that to_timezone names, whatever happens to the column later. Other
// outputs write the instant.
import { type Test, test } from 'tap';
import { applyTemplate, type Limits } from '../apply-template.ts';
import { readWorkbook } from './read-workbook.ts';

const FILE = 'at\n2026-10-01T12:00:00.25Z\n\n2026-12-01T12:00:00Z\n1969-12-31T23:30:00Z\n';
const UTC = ['2026-10-01T12:00:00.250Z', null, '2026-12-01T12:00:00.000Z', '1969-12-31T23:30:00.000Z'];
const BERLIN = ['2026-10-01T14:00:00.250Z', null, '2026-12-01T13:00:00.000Z', '1970-01-01T00:30:00.000Z'];
const TOKYO = ['2026-10-01T21:00:00.250Z', null, '2026-12-01T21:00:00.000Z', '1970-01-01T08:30:00.000Z'];

const READ = { cast: { columns: { at: 'datetime' } } };
const berlin = (name: string, time = 'at') => ({
  set: { columns: { [name]: `to_timezone(${time}, "Europe/Berlin")` } },
});

async function timesOf(operations: readonly object[], column: string, limits: Limits = {}): Promise<unknown[]> {
  const { bytes } = await applyTemplate({ operations, output: { format: 'xlsx' } }, FILE, 2, {}, limits);
  const [sheet] = await readWorkbook(bytes!);
  const [header, ...rows] = sheet!.rows.map((row) => row.map((cell) => cell?.value ?? null));
  const index = header!.indexOf(column);
  return rows.map((row) => (row[index] instanceof Date ? (row[index] as Date).toISOString() : (row[index] ?? null)));
}

async function shows(t: Test, expected: unknown[], column: string, ...operations: readonly object[]): Promise<void> {
  t.strictSame(await timesOf([READ, ...operations], column), expected, JSON.stringify(operations));
}

test('expressions that name a zone', async (t) => {
  await shows(t, BERLIN, 'local', berlin('local'));
  await shows(t, BERLIN, 'at', berlin('at'));
  await shows(t, UTC, 'at', berlin('local'));
  for (const expression of [
    'at.to_timezone("Europe/Berlin")',
    'at == null ? null : to_timezone(at, "Europe/Berlin")',
    'coalesce(to_timezone(at, "Europe/Berlin"), null)',
    'to_timezone(to_timezone(at, "Asia/Tokyo"), "Europe/Berlin")',
  ]) {
    await shows(t, BERLIN, 'local', { set: { columns: { local: expression } } });
  }
  await shows(t, TOKYO, 'at', { set: { each: ['at'], expr: 'to_timezone(value, "Asia/Tokyo")' } });
  await shows(t, TOKYO, 'at', { set: { columns: { at: 'to_timezone(at, "+09:00")' } } });
});

test('operations that keep the zone', async (t) => {
  for (const [column, ...operations] of [
    ['when', { rename: { columns: { local: 'when' } } }],
    ['when', { copy: { from: 'local', to: 'when' } }],
    ['when', { set: { column: 'when', value: { column: 'local' } } }],
    ['when', { set: { columns: { when: 'local' } } }],
    ['local', { filter: { where: 'true' } }, { reorder: { first: ['local'] } }],
  ] as const) {
    await shows(t, BERLIN, column, berlin('local'), ...operations);
  }
  await shows(t, [BERLIN[0]], 'last', berlin('local'), {
    aggregate: { metrics: [{ fn: 'first', column: 'local', as: 'last' }] },
  });
  const previous = { window: { columns: [{ column: 'local', fn: 'previous', as: 'before' }] } };
  await shows(t, [null, ...BERLIN.slice(0, -1)], 'before', berlin('local'), previous);
});

test('rows that are read back from files', async (t) => {
  const sort = { sort: { by: [{ column: 'local', order: 'desc' }] } };
  const operations = [READ, berlin('local'), sort];
  const expected = [BERLIN[2], BERLIN[0], BERLIN[3], null];
  t.strictSame(await timesOf(operations, 'local'), expected);
  t.strictSame(await timesOf(operations, 'local', { spills: true }), expected);
});

test('operations that remove the zone', async (t) => {
  await shows(t, UTC, 'local', berlin('local'), { set: { columns: { local: 'at' } } });
  await shows(
    t,
    UTC,
    'local',
    berlin('local'),
    {
      cast: { columns: { local: 'text' } },
    },
    { cast: { columns: { local: 'datetime' } } },
  );
  await shows(t, TOKYO, 'local', berlin('local'), { set: { columns: { local: 'to_timezone(local, "Asia/Tokyo")' } } });
  const mixed = 'run.row == 1 ? to_timezone(at, "Europe/Berlin") : to_timezone(at, "Asia/Tokyo")';
  await shows(t, UTC, 'local', { set: { columns: { local: mixed } } });
});

test('parse_date shows the clock of to_timezone, and reads by timezone', async (t) => {
  const parse = {
    parse_date: { columns: 'at', formats: ["yyyy-MM-dd'T'HH:mm:ssX"], type: 'datetime', on_error: 'blank' },
  };
  const times = (parameters: object) => timesOf([{ parse_date: { ...parse.parse_date, ...parameters } }], 'at');
  t.strictSame((await times({ to_timezone: 'Europe/Berlin' }))[2], BERLIN[2]);
  t.strictSame((await times({ timezone: 'Europe/Berlin' }))[2], UTC[2]);
});

test('other outputs write the instant', async (t) => {
  for (const format of ['csv', 'json']) {
    const { text } = await applyTemplate({ operations: [READ, berlin('at')], output: { format } }, FILE);
    t.match(text, /2026-10-01T12:00:00\.25Z/);
  }
});

test('rows that are larger than the buffer of the writer', async (t) => {
  // Each cell has fewer characters than a workbook allows, and the row has more bytes than the buffer of 256 KiB.
  const names = Array.from({ length: 10 }, (_, index) => `c${index}`);
  const row = (time: string, cell: string) => [time, ...names.map(() => cell)].join(',');
  const [, first, , second, third] = FILE.split('\n') as [string, string, string, string, string];
  const file = [['at', ...names].join(','), row(first, 'x'), row(second, 'y'.repeat(32_000)), row(third, 'z'), ''];
  const operations = [READ, berlin('local')];
  for (const batchRows of [1, 4096]) {
    const { bytes } = await applyTemplate({ operations, output: { format: 'xlsx' } }, file.join('\n'), batchRows);
    const [sheet] = await readWorkbook(bytes!);
    const times = (column: number) => sheet!.rows.slice(1).map((cells) => (cells[column]!.value as Date).toISOString());
    t.strictSame(times(0), [UTC[0], UTC[2], UTC[3]]);
    t.strictSame(times(names.length + 1), [BERLIN[0], BERLIN[2], BERLIN[3]]);
    t.equal(sheet!.rows[2]![names.length]!.value, 'y'.repeat(32_000));
  }
});
