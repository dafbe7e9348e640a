// The Helm chart: its values match their schema, and its rendered Deployment for a fleet is that of deploy/kubernetes.yaml.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import Ajv from 'ajv';
import t from 'tap';
import { parse, parseAllDocuments } from 'yaml';

const CHART = 'deploy/helm';
const skip = spawnSync('helm', ['version']).status === 0 ? false : 'helm is not installed';

type Mapping = Readonly<Record<string, unknown>>;

interface Rendered {
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly labels: Mapping; readonly annotations?: Mapping };
  readonly spec: Mapping;
}

/** Values that every installation must set. */
const REQUIRED = {
  image: { repository: 'registry.example.com/template-run' },
  baseUrl: 'https://templates.example.com',
  catalog: { existingClaim: 'template-run-catalog' },
};

/** The fleet of deploy/kubernetes.yaml. */
const FLEET = {
  ...REQUIRED,
  replicas: 2,
  redis: { url: 'redis://redis:6379/0', passwordSecret: { name: 'template-run-redis' } },
  outputs: { place: '/outputs', existingClaim: 'template-run-outputs' },
};

function helm(command: readonly string[], values: object) {
  // helm reads values from standard input.
  const options = { encoding: 'utf8', input: JSON.stringify(values) } as const;
  return spawnSync('helm', [...command, '--values', '-'], options);
}

function objectsIn(yaml: string): Map<string, Rendered> {
  const objects = parseAllDocuments(yaml).map((document) => {
    if (document.errors.length > 0) throw new Error(document.errors[0]!.message);
    return document.toJS() as Rendered | null;
  });
  return new Map(objects.flatMap((object) => (object === null ? [] : [[object.kind, object]])));
}

function render(values: object): Map<string, Rendered> {
  const { status, stdout, stderr } = helm(['template', 'template-run', CHART], values);
  if (status !== 0) throw new Error(stderr);
  return objectsIn(stdout);
}

/** Without the labels of a release and settings that repeat a default of Kubernetes, which only the chart has. */
function withoutRelease({ spec }: Rendered): unknown {
  const left = /^(?:app\.kubernetes\.io\/(?:instance|version|managed-by)|helm\.sh\/chart|imagePullPolicy|type)$/;
  const text = JSON.stringify(spec, (name, value: unknown) => {
    const isLeftOut = left.test(name) && (name !== 'type' || value === 'ClusterIP');
    return isLeftOut ? undefined : value;
  });
  return JSON.parse(text);
}

t.test('the chart has the version of the package', async (t) => {
  const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { readonly version: string };
  t.match(parse(readFileSync(`${CHART}/Chart.yaml`, 'utf8')), { version, appVersion: version });
});

t.test('the schema accepts the default values, knows each of them, and refuses others', async (t) => {
  const schema = JSON.parse(readFileSync(`${CHART}/values.schema.json`, 'utf8')) as Mapping;
  const defaults = parse(readFileSync(`${CHART}/values.yaml`, 'utf8')) as Mapping;
  const validate = new Ajv.Ajv({ strict: true, allowUnionTypes: true, strictTypes: false }).compile(schema);
  t.ok(validate(defaults), JSON.stringify(validate.errors));
  t.strictSame(Object.keys(schema['properties'] as Mapping).sort(), [...Object.keys(defaults), 'global'].sort());
  for (const wrong of [
    { replica: 2 },
    { replicas: 0 },
    { baseUrl: 'runs.example.com' },
    { baseUrl: 'https://runs.example.com/path' },
    { redis: { url: 'http://redis' } },
    { outputs: { place: '/tmp' } },
    { extraFlags: ['console'] },
    { data: { size: '20 GB' } },
    { drain: { milliseconds: '30s' } },
  ])
    t.notOk(validate({ ...defaults, ...wrong }), JSON.stringify(wrong));
});

t.test('helm lint finds nothing', { skip }, async (t) => {
  for (const values of [REQUIRED, FLEET]) {
    const { status, stdout } = helm(['lint', '--strict', CHART], values);
    t.equal(status, 0, stdout);
  }
});

t.test('a fleet is the one of deploy/kubernetes.yaml', { skip }, async (t) => {
  const rendered = render(FLEET);
  const wanted = objectsIn(readFileSync('deploy/kubernetes.yaml', 'utf8'));
  t.strictSame([...rendered.keys()].sort(), [...wanted.keys()].sort());
  for (const [kind, object] of rendered) t.strictSame(withoutRelease(object), withoutRelease(wanted.get(kind)!), kind);
});

t.test('a single node keeps its data, is never two processes, and has no disruption budget', { skip }, async (t) => {
  const rendered = render({ ...REQUIRED, data: { existingClaim: 'own' } });
  t.strictSame([...rendered.keys()].sort(), ['Deployment', 'Service']);
  const text = JSON.stringify(rendered.get('Deployment')!.spec);
  t.match(rendered.get('Deployment')!.spec, { replicas: 1, strategy: { type: 'Recreate' } });
  t.match(text, '{"name":"data","persistentVolumeClaim":{"claimName":"own"}}');
  t.notMatch(text, /redis|"outputs"|emptyDir":\{"sizeLimit":"20Gi/);
});

t.test('optional values reach their places', { skip }, async (t) => {
  const rendered = render({
    ...REQUIRED,
    extraFlags: ['--console=yes'],
    drain: { delayMilliseconds: 0, milliseconds: 90_500 },
    outputs: { environmentSecret: 'bucket' },
    podAnnotations: { scraped: 'yes' },
    nodeSelector: { disk: 'ssd' },
    tolerations: [{ key: 'dedicated', operator: 'Exists' }],
    affinity: { nodeAffinity: {} },
    image: { repository: 'r', tag: 't', pullSecrets: ['registry'] },
    ingress: { enabled: true, className: 'nginx', host: 'runs.example.com', tlsSecret: 'certificate' },
  });
  const { template } = rendered.get('Deployment')!.spec as { readonly template: Rendered };
  t.match(template, {
    metadata: { annotations: { scraped: 'yes' } },
    spec: {
      terminationGracePeriodSeconds: 111,
      nodeSelector: { disk: 'ssd' },
      tolerations: [{ key: 'dedicated', operator: 'Exists' }],
      affinity: { nodeAffinity: {} },
      imagePullSecrets: [{ name: 'registry' }],
      containers: [{ image: 'r:t', envFrom: [{ secretRef: { name: 'bucket' } }] }],
    },
  });
  const [{ args }] = template.spec['containers'] as [{ readonly args: readonly string[] }];
  t.ok(args.includes('--console=yes'));
  t.ok(args.includes('--drain-ms=90500'));
  t.match(rendered.get('Ingress')!.spec, {
    ingressClassName: 'nginx',
    tls: [{ hosts: ['runs.example.com'], secretName: 'certificate' }],
    rules: [{ host: 'runs.example.com', http: { paths: [{ path: '/api/v1', pathType: 'Prefix' }] } }],
  });
});

t.test('contradictory values are refused with a suggestion', { skip }, async (t) => {
  for (const [values, message] of [
    [{ ...REQUIRED, image: {} }, /image\.repository is empty/],
    [{ ...REQUIRED, baseUrl: '' }, /baseUrl is empty/],
    [{ ...REQUIRED, catalog: {} }, /catalog\.existingClaim is empty/],
    [{ ...REQUIRED, replicas: 2 }, /redis\.url is empty/],
    [{ ...REQUIRED, outputs: { place: 's3://bucket/prefix' } }, /outputs\.place is for nodes with redis\.url/],
    [{ ...FLEET, outputs: {} }, /outputs\.place is empty/],
    [{ ...FLEET, outputs: { place: '/outputs' } }, /outputs\.existingClaim is empty/],
    [{ ...FLEET, data: { existingClaim: 'own' } }, /data\.existingClaim is for a single node/],
    [{ ...REQUIRED, ingress: { enabled: true } }, /ingress\.host is empty/],
    [{ ...REQUIRED, replica: 2 }, /'replica' not allowed/],
  ] as const) {
    const { status, stderr } = helm(['template', 'template-run', CHART], values);
    t.equal(status, 1);
    t.match(stderr, message);
  }
});
