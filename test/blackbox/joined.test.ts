// A repeat that comes while the first request with its Idempotency-Key is still uploading.
import t from 'tap';
import { expectError, expectNew, expectReplay } from './expect.ts';
import { file, form } from './multipart.ts';
import { checkLogs, startService } from './service.ts';

const CSV = 'id,amount,CanaryColumn\n001,1.50,CanaryCell\n';
const OTHER = 'id,amount,CanaryColumn\n001,1.51,CanaryCell\n';
const HALF = 200;
const service = await startService(t, { accounts: { acme: {} } });
const acme = service.client();

t.test('a repeat joins the first while it uploads and gets its Run', async (t) => {
  const first = await service.letIn(() => acme.hold('pick', [file(CSV)], HALF, { key: 'join' }));
  const second = acme.hold('pick', [file(CSV)], -1, { key: 'join' });
  const joined = second.finish();
  await service.joined();
  t.notOk(second.answered(), 'waits');
  const made = await first.finish();
  expectNew(t, made);
  expectReplay(t, await joined, made);
});

t.test('a repeat that joined takes the place of a first that vanishes', async (t) => {
  const first = await service.letIn(() => acme.hold('pick', [file(CSV)], HALF, { key: 'take-over' }));
  first.answer.catch(() => {});
  const joined = acme.upload('pick', [file(CSV)], { key: 'take-over' });
  await service.joined();
  first.vanish();
  const made = await joined;
  expectNew(t, made);
  expectReplay(t, await acme.upload('pick', [file(CSV)], { key: 'take-over' }), made);
});

t.test('a repeat that joined takes the place of a first that is refused, with another file too', async (t) => {
  const broken = form([file(OTHER)], { closed: false });
  const first = await service.letIn(() => acme.hold('pick', broken, -20, { key: 'take-over-refused' }));
  const joined = acme.upload('pick', [file(CSV)], { key: 'take-over-refused' });
  await service.joined();
  expectError(t, await first.finish(), 400, 'MALFORMED_FILE');
  expectNew(t, await joined);
});

t.test('a repeat that joined takes the place of a first whose file is refused, with a better file', async (t) => {
  for (let count = 0; count < 5; count++) {
    const key = `better-file-${count}`;
    const first = await service.letIn(() =>
      acme.hold('pick', [file('id,CanaryColumn\n001,CanaryCell\n')], -60, { key }),
    );
    const joined = acme.upload('pick', [file(CSV)], { key });
    await service.joined();
    expectError(t, await first.finish(), 422, 'TEMPLATE_COLUMNS_MISSING');
    expectNew(t, await joined);
  }
});

t.test('a repeat that joined with another file: 409 when the first has its Run', async (t) => {
  const first = await service.letIn(() => acme.hold('pick', [file(CSV)], HALF, { key: 'join-other' }));
  const joined = acme.upload('pick', [file(OTHER)], { key: 'join-other' });
  await service.joined();
  expectNew(t, await first.finish());
  expectError(t, await joined, 409, 'IDEMPOTENCY_KEY_REUSED');
});

t.test('logs', (t) => checkLogs(t, service, [service.catalog.key('acme')]));
