// Tests in the Templates of the catalog: a catalog with failed tests is refused, and the previous one remains.
import t from 'tap';
import { skipUnlessLong } from '../sweep.ts';
import { PICK, step, template } from './catalog-folder.ts';
import { until } from './client.ts';
import { expectNew } from './expect.ts';
import { CANARY, file } from './multipart.ts';
import { checkLogs, type Service, startService } from './service.ts';

/** Written with tests of texts, files and tables. */
function tested(total: string, goldenFile = 'pick.csv'): object {
  return template(
    [
      step('select', { columns: ['id', 'amount'] }),
      step('join', { table: 'names', on: [{ left: 'id', right: 'id' }], columns: ['who'] }),
      step('rename', { columns: { amount: total } }),
    ],
    {
      tables: { names: { ref: 'names' } },
      tests: [
        { name: 'rows', input: { text: 'id,amount\n1,2\n' }, expect: { rows: [{ id: '1', total: '2', who: 'Ada' }] } },
        { input: { file: goldenFile }, expect: { text: 'id,total,who\n7,8,\n' } },
      ],
    },
  );
}

const OTHERS = { 'tables/acme/names.csv': 'id,who\n1,Ada\n', 'templates/acme/pick.csv': 'id,amount\n7,8\n' };

const inForce = (service: Service, wanted: number): Promise<number> =>
  until(
    () => service.metric('template_run_catalog_in_force'),
    (value) => value === wanted,
  );

const isTold = (service: Service, text: string): Promise<boolean> =>
  until(async () => service.events.some(({ problems }) => JSON.stringify(problems ?? '').includes(text)), Boolean);

t.test('a Template whose tests fail is refused, and the one before goes on', async (t) => {
  const service = await startService(t, {
    accounts: { acme: { templates: { pick: tested('total') } } },
    others: OTHERS,
  });
  const total = async (): Promise<string> => {
    const client = service.client();
    const { run } = await client.upload('pick', [file('id,amount\n1,2\n')]);
    return (await client.get(new URL(run.output!.download_url).pathname)).text;
  };
  const tests = (result: string): Promise<number> =>
    service.metric(`template_run_catalog_tests_total{result="${result}"}`);
  t.equal(await total(), 'id,total,who\n1,2,Ada\n');
  t.strictSame([await tests('passed'), await tests('failed')], [2 * service.nodeCount, 0], 'each node runs them');

  service.catalog.writeTemplate('acme', 'pick', tested('sum'));
  t.equal(await inForce(service, 0), 0, 'another name than its tests expect');
  t.ok(await isTold(service, 'templates/acme/pick.json /tests/0: the test \\"rows\\" fails.'));
  t.equal(await total(), 'id,total,who\n1,2,Ada\n');
  t.ok((await tests('failed')) >= 2);

  service.catalog.writeTemplate('acme', 'pick', tested('total', '../../tables/acme/names.csv'));
  t.ok(await isTold(service, 'outside the folder of the Template'), 'no file of another folder');
  service.catalog.writeTemplate('acme', 'pick', tested('total', 'none.csv'));
  t.ok(await isTold(service, 'none.csv\\" does not exist'));

  service.catalog.writeTemplate('acme', 'pick', tested('total'));
  t.equal(await inForce(service, 1), 1, 'mended');
  service.catalog.write('tables/acme/names.csv', `id,who\n1,${CANARY}\n`);
  t.equal(await inForce(service, 0), 0, 'a table that the tests were not written for');
  service.catalog.write('tables/acme/names.csv', 'id,who\n1,Ada\n');
  t.equal(await inForce(service, 1), 1);
  await checkLogs(t, service);
});

t.test(
  'at the start such a catalog is refused, unless tests are not asked for',
  { skip: skipUnlessLong },
  async (t) => {
    const wrong = template([step('select', { columns: ['id'] })], {
      tests: [{ input: { text: 'id\n1\n' }, expect: { text: 'id\n2\n' } }],
    });
    const accounts = { acme: { templates: { pick: PICK, wrong } } };
    const refused = startService(t, { accounts });
    await t.rejects(refused, { message: /templates\/acme\/wrong\.json \/tests\/0: the test "test 1" fails/ });
    const service = await startService(t, { accounts }, { 'catalog-tests': 'no' });
    expectNew(t, await service.client().upload('pick', [file('id,amount\n1,2\n')]));
    await checkLogs(t, service);
  },
);
