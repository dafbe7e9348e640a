// What carries the requests of browsers, where no answer comes.
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import t from 'tap';
import { TemplateRunClient } from '../../../src/client/browser/template-run-client.ts';

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
