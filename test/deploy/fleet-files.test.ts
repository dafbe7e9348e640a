// compose.yaml and kubernetes.yaml of deploy/: their settings of nodes match the program, the image and the balancer, and a node
// starts with their flags and answers their probes.
// With all tests only: the files of examples and packages.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { parse, parseAllDocuments } from 'yaml';
import { serveFlagsHelp } from '../../src/config.ts';
import { ServedProcess } from '../blackbox/served-process.ts';
import { COMMAND } from '../blackbox/service.ts';
import { skipWithoutHaproxy } from '../fixtures/balancer.ts';
import { freePort, isPortTaken } from '../fixtures/free-port.ts';
import { RedisServer, skipWithoutRedis } from '../fixtures/redis-server.ts';

const FILE_MILLISECONDS = 1_200_000;
/** After both periods of a drain, a node ends in any case (docs/how-to/run-a-node.md). */
const FORCED_END_MILLISECONDS = 1_000;
/** A node is started again when another process has taken its port meanwhile. */
const STARTS_MAX = 5;
const PASSWORD = 'hypothetical';

type Mapping = Readonly<Record<string, unknown>>;

interface ComposeService {
  readonly command: readonly string[];
  readonly user: string;
  readonly read_only: boolean;
  readonly cap_drop: readonly string[];
  readonly tmpfs: readonly string[];
  readonly volumes: readonly string[];
  readonly ports?: readonly string[];
  readonly networks: Readonly<Record<string, { readonly ipv4_address: string }>>;
  readonly healthcheck: { readonly test: readonly string[] };
  readonly stop_grace_period: string;
}

const containerfile = read('Containerfile');
const balancer = read('haproxy.cfg');
const compose = parse(read('compose.yaml'), { merge: true }) as {
  readonly services: Readonly<Record<string, ComposeService>>;
  readonly secrets: Mapping;
  readonly volumes: Mapping;
};
const objects = parseAllDocuments(read('kubernetes.yaml')).map((document) => {
  if (document.errors.length > 0) throw new Error(document.errors[0]!.message);
  return document.toJS() as { readonly kind: string; readonly spec: Mapping };
});
const pod = podOf(objects.find(({ kind }) => kind === 'Deployment')!.spec);
const nodes = ['node1', 'node2'].map((name) => compose.services[name]!);
const imageUser = /^USER (\d+):(\d+)$/m.exec(containerfile)!;

t.setTimeout(FILE_MILLISECONDS);

t.test('every flag is one of serve, and no node is cut off while it drains', async (t) => {
  const known = new Set([...serveFlagsHelp().matchAll(/^ {2}--(\S+) /gm)].map(([, name]) => name!));
  for (const [place, command, graceMilliseconds] of [
    ['compose', nodes[0]!.command, Number.parseInt(nodes[0]!.stop_grace_period, 10) * 1000],
    ['kubernetes', pod.container.args, pod.graceSeconds * 1000],
  ] as const) {
    const flags = flagsOf(command);
    for (const name of flags.keys()) t.ok(known.has(name), `${place}: --${name}`);
    const drain = Number(flags.get('drain-delay-ms')) + Number(flags.get('drain-ms'));
    t.ok(drain > 0, `${place} says how long a node drains`);
    t.ok(graceMilliseconds > drain + FORCED_END_MILLISECONDS, `${place}: ${graceMilliseconds} ms for ${drain} ms`);
  }
});

t.test('compose: nodes are the image, read-only, without root, at the addresses of the balancer', async (t) => {
  for (const node of nodes) {
    t.equal(node.user, `${imageUser[1]}:${imageUser[2]}`);
    t.match(node, { read_only: true, cap_drop: ['ALL'], tmpfs: ['/tmp'] });
    const places = node.volumes.map((volume) => volume.split(':'));
    t.ok(
      places.some(([, to, mode]) => to === '/catalog' && mode === 'ro'),
      'nobody writes into the catalog',
    );
    for (const folder of ['/data', '/outputs']) {
      t.ok(
        places.some(([from, to]) => to === folder && from! in compose.volumes),
        folder,
      );
      t.match(containerfile, new RegExp(`chown ${node.user} .*${folder}\\b`), `${folder} is the user's in the image`);
    }
    t.match(balancer, `${node.networks['nodes']!.ipv4_address}:8080\n`, 'the balancer knows its address');
  }
  t.not(nodes[0]!.volumes[1], nodes[1]!.volumes[1], 'each has data of its own');
  t.match(containerfile, /^EXPOSE 8080$/m);
  for (const { user, read_only: readOnly } of Object.values(compose.services)) {
    t.notMatch(user, /^(?:0|root)\b/);
    t.equal(readOnly, true);
  }
  const { ports, volumes } = compose.services['balancer']!;
  t.match(balancer, `bind :${ports![0]!.split(':')[1]} ssl crt /etc/haproxy/templates.example.com.pem\n`);
  for (const volume of volumes) {
    const [from, to] = volume.split(':');
    t.ok(from!.startsWith('./local/') || existsSync(join('deploy', from!)), from!);
    t.match(to, /^\/etc\/haproxy\//);
  }
});

t.test('kubernetes: the image without root, with probes, a budget of disruptions and a Service', async (t) => {
  const { container, security, volumes } = pod;
  t.match(security, { runAsNonRoot: true, runAsUser: Number(imageUser[1]), runAsGroup: Number(imageUser[2]) });
  t.match(container.securityContext, {
    allowPrivilegeEscalation: false,
    readOnlyRootFilesystem: true,
    capabilities: { drop: ['ALL'] },
  });
  t.strictSame(container.volumeMounts.map(({ name }) => name).sort(), volumes.map(({ name }) => name).sort());
  t.match(
    container.volumeMounts.find(({ mountPath }) => mountPath === '/catalog'),
    { readOnly: true },
  );
  const ports = new Map(container.ports.map(({ name, containerPort }) => [name, containerPort]));
  t.equal(ports.get('api'), 8080, 'as the image exposes it');
  t.equal(String(ports.get('ops')), flagsOf(container.args).get('ops-port'));
  const labels = JSON.stringify(pod.labels);
  for (const [kind, selector] of [
    ['Service', (spec: Mapping) => spec['selector']],
    ['PodDisruptionBudget', (spec: Mapping) => (spec['selector'] as Mapping)['matchLabels']],
  ] as const) {
    const { spec } = objects.find((object) => object.kind === kind)!;
    t.equal(JSON.stringify(selector(spec)), labels, `${kind} is about these pods`);
  }
});

t.test('the balancer takes its configuration', { skip: skipWithoutHaproxy }, async (t) => {
  const folder = folderOf(t);
  // The operator provides the certificate.
  writeFileSync(join(folder, 'haproxy.cfg'), balancer.replace(/ ssl crt \S+/, ''));
  const { status, stderr } = spawnSync('haproxy', ['-c', '-f', join(folder, 'haproxy.cfg')], {
    cwd: 'deploy',
    encoding: 'utf8',
  });
  t.equal(status, 0, stderr);
});

t.test('nodes start with these flags, and answer health probes', { skip: skipWithoutRedis }, async (t) => {
  const redis = await RedisServer.open(['--maxmemory-policy', 'noeviction']);
  t.teardown(() => redis.remove());
  await redis.command('CONFIG', 'SET', 'requirepass', PASSWORD);
  const [health] = /'http:[^']+'/.exec(nodes[0]!.healthcheck.test.join(' '))!;
  const composeProbe = new URL(health.slice(1, -1));
  const port = (name: string): number => pod.container.ports.find((each) => each.name === name)!.containerPort;
  const probes = pod.probes.map(({ httpGet }) => `${port(httpGet.port)} ${httpGet.path}`);
  const outputs = join(folderOf(t), 'outputs');
  mkdirSync(outputs, { recursive: true });
  await checkProbes(t, redis, outputs, nodes[0]!.command, [`${composeProbe.port} ${composeProbe.pathname}`]);
  await checkProbes(t, redis, outputs, pod.container.args, probes);
});

/**
 * @param outputs the folder that all nodes of the fleet share
 * @param probes ports as named in the file, with paths
 */
async function checkProbes(
  t: Test,
  redis: RedisServer,
  outputs: string,
  command: readonly string[],
  probes: readonly string[],
): Promise<void> {
  const folder = folderOf(t);
  mkdirSync(join(folder, 'data'), { recursive: true });
  writeFileSync(join(folder, 'password'), `${PASSWORD}\n`);
  t.equal(spawnSync(process.execPath, [COMMAND, 'init', join(folder, 'catalog')]).status, 0);
  for (let starts = 1; ; starts += 1) {
    const ports = new Map([
      ['8080', await freePort()],
      ['8081', await freePort()],
    ]);
    const flags = new Map(flagsOf(command));
    flags.set('redis', redis.url()).set('redis-password-file', join(folder, 'password'));
    flags.set('outputs', outputs).set('ops-port', String(ports.get(flags.get('ops-port')!)));
    flags
      .set('port', String(ports.get('8080')))
      .set('workers', '1')
      .set('drain-delay-ms', '0');
    const words = [...flags].map(([name, value]) => `--${name}=${value}`);
    const places = ['--catalog', join(folder, 'catalog'), '--data', join(folder, 'data')];
    const node = new ServedProcess();
    try {
      await node.start({ words: [COMMAND, 'serve', ...places, ...words], environment: {}, filesMax: null });
    } catch (fault) {
      if (starts === STARTS_MAX || !isPortTaken(node.output + node.errors)) throw fault;
      continue;
    }
    for (const probe of probes) {
      const [number, path] = probe.split(' ');
      const { status } = await fetch(`http://127.0.0.1:${ports.get(number!)}${path}`);
      t.equal(status, 200, `${command.length} flags: ${probe}`);
    }
    node.signal('SIGTERM');
    t.equal(await node.exited(), 0);
    return;
  }
}

function flagsOf([name, ...words]: readonly string[]): Map<string, string> {
  if (name !== 'serve') throw new Error(`${name} is not serve`);
  return new Map(words.map((word) => /^--([a-z-]+)=(.*)$/s.exec(word)!.slice(1, 3) as [string, string]));
}

function podOf(deployment: Mapping) {
  const { metadata, spec } = deployment['template'] as { readonly metadata: Mapping; readonly spec: Mapping };
  const [container] = spec['containers'] as [PodContainer];
  return {
    labels: metadata['labels'],
    graceSeconds: Number(spec['terminationGracePeriodSeconds']),
    security: spec['securityContext'],
    volumes: spec['volumes'] as readonly { readonly name: string }[],
    container,
    probes: [container.startupProbe, container.livenessProbe, container.readinessProbe],
  };
}

interface Probe {
  readonly httpGet: { readonly path: string; readonly port: string };
}

interface PodContainer {
  readonly args: readonly string[];
  readonly ports: readonly { readonly name: string; readonly containerPort: number }[];
  readonly securityContext: Mapping;
  readonly volumeMounts: readonly { readonly name: string; readonly mountPath: string }[];
  readonly startupProbe: Probe;
  readonly livenessProbe: Probe;
  readonly readinessProbe: Probe;
}

function folderOf(t: Test): string {
  const folder = mkdtempSync(join(tmpdir(), 'template-run-deploy-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

function read(name: string): string {
  return readFileSync(join('deploy', name), 'utf8');
}
