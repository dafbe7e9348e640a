// The transport of browsers: missing responses, and responses from another origin.
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import t from 'tap';
import { TemplateRunClient } from '../../../src/client/browser/template-run-client.ts';
import { ScriptedService } from './scripted-service.ts';

t.test('an answer that never begins is given up', async (t) => {
  const silent = http.createServer(() => {});
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
  t.teardown(() => {
    silent.closeAllConnections();
    silent.close();
  });
  const baseUrl = `http://127.0.0.1:${(silent.address() as AddressInfo).port}`;
  const client = new TemplateRunClient({ baseUrl, apiKey: 'trs_key', retries: 0, idleMilliseconds: 100 });
  await t.rejects(client.templates(), { code: 'CONNECTION_LOST' });
});

t.test('neither file nor key go where a redirect leads', async (t) => {
  const elsewhere = await ScriptedService.open(t, [{ status: 200, body: '{"data":[]}' }]);
  for (const status of [302, 307, 308]) {
    const location = `${elsewhere.url}/api/v1/templates`;
    const service = await ScriptedService.open(t, [{ status, headers: { location } }]);
    const client = new TemplateRunClient({ baseUrl: service.url, apiKey: 'trs_key' });
    const told = { code: 'UNEXPECTED_ANSWER', message: /redirect/ };
    await t.rejects(client.run('pick', new Blob(['id,amount\n1,2\n'])), told);
    await t.rejects(client.templates(), told);
    t.equal(service.asked.length, 2, 'each was asked once');
  }
  t.strictSame(elsewhere.asked, []);
});
