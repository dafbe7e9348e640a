// Memory of the clients for a file that is larger than their permitted memory, each in its own process.
import { spawn } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, rmSync, statSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { plan } from '../../blackbox/catalog-folder.ts';
import { startService } from '../../blackbox/service.ts';
import { skipUnlessLong } from '../../sweep.ts';

const FILE_BYTES = 300_000_000;
const RESIDENT_BYTES_MAX = 150_000_000;
const LINES = Array.from({ length: 20_000 }, (_, line) => `${line},12345.67\n`).join('');

t.setTimeout(1_200_000);

// Each client prints VmHWM of proc(5), the most memory since the program was started. getrusage counts the memory of the process
// that started it too.
const NODE = `
import { readFileSync } from 'node:fs';
import { TemplateRunClient } from './dist/src/client/node/template-run-client.js';
const [, url, key, source, target] = process.argv;
await new TemplateRunClient({ baseUrl: url, apiKey: key }).transform('pick', source, target);
console.log(/^VmHWM:\\s*(\\d+) kB$/m.exec(readFileSync('/proc/self/status', 'utf8'))[1] * 1024);
`;
const PYTHON = `
import re, sys
sys.path.insert(0, 'examples/clients/python')
from template_run import TemplateRunClient
_, url, key, source, target = sys.argv
TemplateRunClient(url, key).transform('pick', source, target)
print(int(re.search(r'VmHWM:\\s*(\\d+) kB', open('/proc/self/status').read())[1]) * 1024)
`;

t.test('a file of 300 MB and its output, in less than 150 MB', { skip: skipUnlessLong }, async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'template-run-memory-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  const source = join(folder, 'in.csv');
  writeLarge(source);
  const service = await startService(t, {
    plans: { large: plan({ upload_bytes_max: 2 * FILE_BYTES, rows_max: null }) },
    accounts: { acme: { plan: 'large' } },
  });
  for (const [name, command, words] of [
    ['Node', process.execPath, ['--input-type=module', '-e', NODE, '--']],
    ['Python', 'python3', ['-B', '-c', PYTHON]],
  ] as const) {
    const target = join(folder, name);
    const child = spawn(command, [...words, service.url, service.catalog.key('acme'), source, target], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let said = '';
    child.stdout.on('data', (piece: Buffer) => {
      said += piece;
    });
    const status = await new Promise<number | null>((resolve) => child.on('close', resolve));
    t.equal(status, 0, name);
    t.ok(statSync(target).size > 0.9 * FILE_BYTES, 'the output is as large');
    const residentBytesMax = Number(said);
    t.ok(residentBytesMax > 0 && residentBytesMax < RESIDENT_BYTES_MAX, `${name}: ${residentBytesMax} bytes`);
    rmSync(target);
  }
});

function writeLarge(path: string): void {
  const file = openSync(path, 'w');
  let bytes = writeSync(file, 'id,amount\n');
  while (bytes < FILE_BYTES) bytes += writeSync(file, LINES);
  closeSync(file);
}
