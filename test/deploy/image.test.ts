// The image that deploy/Containerfile builds from the packed package. It is built on a base with the installed version of Node,
// started as its user with a read-only root, checked by its own health check, and ended by SIGTERM.
// With all tests only: the files of examples and packages.
import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { chownSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { Client, until } from '../blackbox/client.ts';
import { file } from '../blackbox/multipart.ts';
import { isLong, skipUnlessLong } from '../sweep.ts';

const FILE_MILLISECONDS = 1_800_000;
const REGISTRY_MILLISECONDS_MAX = 20_000;
/** The user of the Containerfile. */
const USER = 65532;

t.setTimeout(FILE_MILLISECONDS);

interface ImageConfig {
  readonly User: string;
  readonly Env: readonly string[];
  readonly Entrypoint: readonly string[];
  readonly Cmd: readonly string[];
  readonly Volumes: Readonly<Record<string, object>>;
  readonly Healthcheck: { readonly Test: readonly string[] };
}

/** The reason why an image cannot be built on this machine, or false. */
function obstacle(): string | false {
  if (!isLong) return skipUnlessLong;
  if (process.getuid?.() !== 0) return 'mounts need root';
  for (const command of ['buildah', 'unshare'])
    if (spawnSync(command, ['--version']).status !== 0) return `${command} is not installed`;
  if (spawnSync('unshare', ['--mount', 'true']).status !== 0) return 'this machine gives no mounts of its own';
  const ping = spawnSync('npm', ['ping'], { timeout: REGISTRY_MILLISECONDS_MAX });
  return ping.status === 0 ? false : 'the npm registry is not reachable';
}

interface Running {
  readonly process: ChildProcess;
  readonly ended: Promise<number | null>;
  output(): string;
}

/** The image with a read-only root and with /tmp and /data mounted, without root privileges. */
class MountedImage {
  #root: string;
  #data: string;
  #environment: NodeJS.ProcessEnv;

  constructor(root: string, data: string, { Env }: ImageConfig) {
    this.#root = root;
    this.#data = data;
    this.#environment = Object.fromEntries(Env.map((line) => line.split(/=(.*)/s).slice(0, 2)));
    mkdirSync(data);
    chownSync(data, USER, USER);
  }

  /** The shell replaces itself with the program (`exec`), so that signals reach the program. */
  run(words: readonly string[]): Running {
    const script = [
      'mount --bind "$0" "$0"',
      'mount -o remount,bind,ro "$0"',
      'mount -t tmpfs tmpfs "$0/tmp"',
      'mount --bind "$1" "$0/data"',
      'mount --rbind /proc "$0/proc"',
      'mount --rbind /dev "$0/dev"',
      'shift; exec env -i "$@"',
    ].join(' && ');
    const environment = Object.entries(this.#environment).map(([name, value]) => `${name}=${value}`);
    const inside = ['/usr/sbin/chroot', `--userspec=${USER}:${USER}`, '--groups=', this.#root, ...words];
    const child = spawn('unshare', ['--mount', 'sh', '-c', script, this.#root, this.#data, ...environment, ...inside], {
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let output = '';
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (text) => (output += text));
    const ended = new Promise<number | null>((resolve) => child.on('close', (code) => resolve(code)));
    return { process: child, ended, output: () => output };
  }
}

t.test('the image runs read-only without root, is healthy, and drains', { skip: obstacle() }, async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'template-run-image-'));
  const store = ['--storage-driver', 'vfs', '--root', `${folder}/root`, '--runroot', `${folder}/runroot`];
  const buildah = (...words: readonly string[]): string =>
    execFileSync('buildah', [...store, ...words], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] }).trim();
  let container = '';
  t.teardown(() => {
    if (container !== '') buildah('umount', container);
    rmSync(folder, { recursive: true, force: true });
  });

  mkdirSync(`${folder}/context`);
  // An error has the output of npm in its message.
  execFileSync('npm', ['pack', '--ignore-scripts', '--pack-destination', `${folder}/context`], { stdio: 'pipe' });
  execFileSync('sh', ['test/fixtures/image-base.sh', folder], { stdio: ['ignore', 'ignore', 'inherit'] });
  const words = ['--isolation', 'chroot', '--format', 'docker', '--build-arg', 'BASE=localhost/template-run-base'];
  buildah('bud', ...words, '--tag', 'template-run', '--file', 'deploy/Containerfile', `${folder}/context`);

  const inspected = JSON.parse(buildah('inspect', '--type', 'image', 'template-run')) as {
    readonly Docker: { readonly config: ImageConfig };
  };
  const { config } = inspected.Docker;
  t.equal(config.User, `${USER}:${USER}`);
  t.strictSame(Object.keys(config.Volumes), ['/data'], 'nothing else is written to');

  container = buildah('from', 'template-run');
  const root = buildah('mount', container);
  const files = readdirSync(`${root}/app/node_modules`, { recursive: true, encoding: 'utf8' });
  // The package bundles classic-level, and npm installs uWebSockets.js beside the package.
  const library = /(?:^|\/)(classic-level|uWebSockets\.js)\/.*\.node$/;
  const binaries = files.flatMap((path) => library.exec(path)?.[1] ?? []);
  // npm installs uWebSockets.js on Node 22 and later, and it loads on Node 22.
  const libraries = process.versions.modules === '127' ? ['classic-level', 'uWebSockets.js'] : ['classic-level'];
  t.strictSame(binaries.sort(), libraries, 'only binaries that are loaded');

  const key = execFileSync(process.execPath, ['dist/src/cli.js', 'init', `${root}/catalog`], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  execFileSync('chown', ['-R', `${USER}:${USER}`, `${root}/catalog`]);
  const image = new MountedImage(root, join(folder, 'data'), config);
  const service = image.run([
    ...config.Entrypoint,
    ...config.Cmd,
    '--port',
    '0',
    '--base-url',
    'http://127.0.0.1:8080',
  ]);
  t.teardown(() => service.process.kill('SIGKILL'));
  const listening = await until(
    async () => /"event":"listening".*"port":(\d+)/.exec(service.output()),
    (found) => found !== null || service.process.exitCode !== null,
  );
  t.ok(listening, `it listens: ${service.output()}`);
  const port = Number(listening![1]);
  t.equal((await fetch(`http://127.0.0.1:${port}/livez`)).status, 200);

  const [kind, ...check] = config.Healthcheck.Test;
  t.equal(kind, 'CMD');
  const asked = check.map((word) => word.replace(':8080/', `:${port}/`));
  t.not(asked.join(' '), check.join(' '), 'the health check asks the port that the image exposes');
  t.equal(await image.run(asked).ended, 0, 'its health check says that it is well');
  const elsewhere = check.map((word) => word.replace(':8080/', ':1/'));
  t.equal(await image.run(elsewhere).ended, 1, 'and says where it is not');
  t.not(await image.run(['sh', '-c', ': > /app/written']).ended, 0, 'its root cannot be written to');
  t.equal(await image.run(['sh', '-c', ': > /data/written']).ended, 0, 'its data can');

  const client = new Client(port, key.trim());
  const upload = client.hold('shop-orders', [file(readFileSync('examples/files/orders-export.csv'))], -20);
  const isUnderWay = await until(
    () => client.get('/api/v1/usage'),
    ({ json }) => json['runs_in_flight'] === 1,
  );
  t.equal(isUnderWay.status, 200);
  service.process.kill('SIGTERM');
  await until(
    async () => service.output(),
    (output) => output.includes('"event":"draining"'),
  );
  const answer = await upload.finish();
  t.equal(answer.status, 201, 'what arrives when it is told to stop is still served');
  t.equal(answer.json['rows_written'], 6);
  t.equal(await service.ended, 0, service.output());
  t.match(service.output(), /"event":"draining"/);
  t.match(service.output(), /"event":"stopped"/);
  t.notMatch(service.output(), /"level":"(?:error|fatal)"/);
  t.notOk(existsSync(`${root}/app/written`));
});
