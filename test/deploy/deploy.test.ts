// The files for operating a node: the systemd unit is hardened, alerts fire on their conditions, and each metric in a rule or
// panel exists in a node.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import t from 'tap';
import { startService } from '../blackbox/service.ts';

/** Maximum exposure by systemd's measure, in tenths: the service's unit must be as closed as the system's own units. */
const EXPOSURE_TENTHS_MAX = 15;

const missing = (command: string): string | false =>
  spawnSync(command, ['--version']).status === 0 ? false : `${command} is not installed`;

t.test('the unit is hardened', { skip: missing('systemd-analyze') }, async (t) => {
  const threshold = `--threshold=${EXPOSURE_TENTHS_MAX}`;
  const { status, stdout, stderr } = spawnSync(
    'systemd-analyze',
    ['security', '--offline=true', '--no-pager', threshold, 'deploy/template-run.service'],
    { encoding: 'utf8' },
  );
  t.equal(status, 0, `${stdout}${stderr}`);
});

t.test('alerts are sound and fire', { skip: missing('promtool') }, async (t) => {
  for (const args of [
    ['check', 'rules', 'deploy/prometheus/rules.yaml'],
    ['test', 'rules', 'deploy/prometheus/rules.test.yaml'],
  ]) {
    const { status, stdout, stderr } = spawnSync('promtool', args, { encoding: 'utf8' });
    t.equal(status, 0, `${args.join(' ')}: ${stdout}${stderr}`);
  }
  const alerts = [...readFileSync('deploy/prometheus/rules.yaml', 'utf8').matchAll(/alert: (\w+)/g)];
  const tests = readFileSync('deploy/prometheus/rules.test.yaml', 'utf8');
  t.ok(alerts.length >= 13, `${alerts.length} alerts`);
  for (const [, name] of alerts) t.ok(tests.includes(`alertname: ${name}\n`), `${name} has a test`);
});

t.test('rules and panels ask for metrics that a node has', async (t) => {
  const service = await startService(t, { accounts: { acme: {} } });
  const { text } = await service.client().get('/metrics');
  const types = new Map([...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, name, type]) => [name!, type!]));
  t.ok(types.size > 20, 'the node was scraped');
  for (const path of ['deploy/prometheus/rules.yaml', 'deploy/grafana/dashboard.json']) {
    const asked = new Set(readFileSync(path, 'utf8').match(/\btemplate_run_[a-z0-9_]+/g));
    t.ok(asked.size >= 9, `${path} asks for ${asked.size} metrics`);
    for (const name of asked) {
      const histogram = name.replace(/_(?:bucket|sum|count)$/, '');
      t.ok(types.has(name) || types.get(histogram) === 'histogram', `${path}: ${name}`);
    }
  }
});
