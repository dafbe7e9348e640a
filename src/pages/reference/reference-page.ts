// The API reference for people: the OpenAPI document as one page of plain HTML, without scripts.
import { type Child, element, type Html, pageHead, textOf } from '../html-page.ts';

// The parts of the OpenAPI document (src/http/openapi.ts) that the page uses.

interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly format?: string;
  readonly enum?: readonly (string | number)[];
  readonly const?: unknown;
  readonly default?: unknown;
  readonly description?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: Schema | boolean;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly allOf?: readonly Schema[];
  readonly pattern?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
}

interface Media {
  readonly schema: Schema;
  readonly example?: unknown;
  readonly examples?: Readonly<Record<string, { readonly value: unknown }>>;
}

interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly required: boolean;
  readonly description?: string;
  readonly schema: Schema;
}

interface Response {
  readonly description: string;
  readonly headers?: Readonly<Record<string, unknown>>;
  readonly content?: Readonly<Record<string, Media>>;
}

interface Operation {
  readonly operationId: string;
  readonly summary: string;
  readonly description?: string;
  readonly parameters?: readonly Parameter[];
  /** Empty: no key is needed. */
  readonly security?: readonly unknown[];
  readonly requestBody?: { readonly content: Readonly<Record<string, Media>> };
  readonly responses: Readonly<Record<string, Response>>;
}

export interface ApiDocument {
  readonly info: { readonly title: string; readonly version: string; readonly description: string };
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: {
    readonly schemas: Readonly<Record<string, Schema>>;
    readonly headers: Readonly<Record<string, { readonly description: string }>>;
  };
}

// Descriptions of the document as HTML elements. Supports the parts of Markdown that they use: code in backticks, and a
// list at the end.

/** Returns the text before the list, and the list, or null without a list. */
function prose(text: string): { readonly lead: Child; readonly list: Html | null } {
  const [lead = '', ...items] = text.split(/\n+- /);
  return {
    lead: withCode(lead),
    list:
      items.length === 0
        ? null
        : element(
            'ul',
            {},
            items.map((item) => element('li', {}, withCode(item))),
          ),
  };
}

function withCode(text: string): Child {
  return text.split('`').map((part, index) => (index % 2 === 0 ? part : element('code', {}, part)));
}

// A schema of the document for people: its type in words, its limits, and a table of its fields.

/** Maximum depth of nested objects in one table. Named schemas of the document are linked instead. */
const DEPTH_MAX = 4;

function schemaTable(schema: Schema): Html | null {
  const rows = fieldsOf(schema, '', 0);
  if (rows.length === 0) return null;
  return element(
    'table',
    {},
    element('thead', {}, element('tr', {}, ...['Field', 'Type', 'Meaning'].map((name) => column(name)))),
    element('tbody', {}, rows),
  );
}

function column(name: string): Html {
  return element('th', { scope: 'col' }, name);
}

/** For example "text, date-time, or null", with links to the document's named schemas. */
function typeOf(schema: Schema): Child {
  if (schema.$ref !== undefined) return schemaLink(schema.$ref);
  if (schema.const !== undefined) return element('code', {}, JSON.stringify(schema.const));
  if (schema.enum !== undefined) return joined(schema.enum.map((value) => element('code', {}, String(value))));
  const parts = schema.anyOf ?? schema.allOf;
  if (parts !== undefined) return joined(parts.filter((part) => part.$ref ?? part.type).map(typeOf));
  if (schema.items !== undefined) return ['list of ', typeOf(schema.items)];
  const { additionalProperties: values } = schema;
  if (typeof values === 'object') return ['object of ', typeOf(values), ' by name'];
  const types = [schema.type ?? 'any'].flat();
  const names = types.map((type) =>
    schema.format === undefined || type === 'null' ? type : `${type} (${schema.format})`,
  );
  return names.join(' or ');
}

function schemaLink(reference: string): Html {
  const name = reference.split('/').at(-1)!;
  return element('a', { href: `#schema-${name}` }, name);
}

function joined(parts: readonly Child[]): Child {
  return parts.flatMap((part, index) => (index === 0 ? [part] : [' or ', part]));
}

/** @param path path of the object in the whole, ending with a dot */
function fieldsOf(schema: Schema, path: string, depth: number): Html[] {
  const own = Object.entries(schema.properties ?? {}).flatMap(([name, field]) => {
    const isRequired = schema.required?.includes(name) === true;
    const { lead, list } = prose(meaningOf(field));
    const row = element(
      'tr',
      {},
      element(
        'th',
        { scope: 'row' },
        element('code', {}, path + name),
        isRequired && element('small', {}, 'always there'),
      ),
      element('td', {}, typeOf(field)),
      element('td', {}, lead, list),
    );
    return depth === DEPTH_MAX ? [row] : [row, ...fieldsOf(field, `${path}${name}.`, depth + 1)];
  });
  const inner =
    schema.items ?? (typeof schema.additionalProperties === 'object' ? schema.additionalProperties : undefined);
  const below = inner === undefined ? [] : fieldsOf(inner, `${path.replace(/\.$/, '')}[].`, depth + 1);
  return [...own, ...below, ...(schema.allOf ?? []).flatMap((part) => fieldsOf(part, path, depth))];
}

/** Its description and its limits. */
function meaningOf(schema: Schema): string {
  const limits: readonly (readonly [string, unknown])[] = [
    ['at least', schema.minimum],
    ['at most', schema.maximum],
    ['at least so many characters:', schema.minLength === 0 ? undefined : schema.minLength],
    ['at most so many characters:', schema.maxLength],
    ['default', schema.default],
  ];
  const constraints = limits.flatMap(([words, value]) =>
    value === undefined ? [] : [`${words} ${JSON.stringify(value)}`],
  );
  return [schema.description ?? '', constraints.join(', ')].filter((part) => part !== '').join(' ');
}

// One operation of the document: its parameters, and each response with its codes, headers and examples.

function operationView(method: string, path: string, operation: Operation): Html {
  const { operationId, summary, description, parameters = [], requestBody, responses } = operation;
  return element(
    'section',
    { id: operationId, 'aria-labelledby': `${operationId}-name` },
    element('h2', { id: `${operationId}-name` }, summary),
    element('p', { class: 'request' }, element('strong', {}, method.toUpperCase()), ' ', element('code', {}, path)),
    description === undefined ? null : element('p', {}, description),
    parameters.length === 0 ? null : [element('h3', {}, 'Parameters'), parameterTable(parameters)],
    requestBody === undefined ? null : [element('h3', {}, 'Body'), bodyView(requestBody.content)],
    element('h3', {}, 'Samples'),
    samplesOf(sampledOperation(method, path, operation)).map(({ language, text }) =>
      element(
        'details',
        { open: language === 'curl' ? '' : null },
        element('summary', {}, language),
        element('pre', {}, element('code', {}, text)),
      ),
    ),
    element('h3', {}, 'Answers'),
    Object.entries(responses).map(([status, response]) => responseView(status, response)),
  );
}

function sampledOperation(method: string, path: string, operation: Operation): SampledOperation {
  const { requestBody, responses, security } = operation;
  const media = Object.entries(responses).flatMap(([status, { content = {} }]) =>
    status.startsWith('2') ? Object.keys(content) : [],
  );
  return {
    method,
    path,
    needsKey: security === undefined || security.length > 0,
    sendsFile: requestBody !== undefined,
    returnsFile: !media.includes('application/json'),
  };
}

function parameterTable(parameters: readonly Parameter[]): Html {
  const rows = parameters.map(({ name, in: place, required, description, schema }) =>
    element(
      'tr',
      {},
      element(
        'th',
        { scope: 'row' },
        element('code', {}, name),
        element('small', {}, required ? `${place}, required` : place),
      ),
      element('td', {}, typeOf(schema)),
      element('td', {}, [description ?? '', meaningOf(schema)].join(' ').trim()),
    ),
  );
  return element(
    'table',
    {},
    element('thead', {}, element('tr', {}, ...['Name', 'Type', 'Meaning'].map((name) => column(name)))),
    element('tbody', {}, rows),
  );
}

function bodyView(content: Readonly<Record<string, Media>>): Child {
  return Object.entries(content).map(([type, { schema }]) => [
    element('p', {}, element('code', {}, type), ': ', typeOf(schema)),
    schemaTable(schema),
  ]);
}

function responseView(status: string, { description, headers = {}, content = {} }: Response): Html {
  const names = Object.keys(headers);
  const { lead, list } = prose(description);
  return element(
    'div',
    { class: 'answer' },
    element('h4', {}, element('code', {}, status), ' ', lead),
    list,
    names.length === 0 ? null : element('p', {}, 'Headers: ', names.map(headerLink)),
    Object.entries(content).map(([type, media]) => [
      element('p', {}, element('code', {}, type), ': ', typeOf(media.schema)),
      examplesOf(media).map(([name, value]) =>
        element(
          'details',
          {},
          element('summary', {}, name),
          element('pre', {}, element('code', {}, JSON.stringify(value, null, 2))),
        ),
      ),
    ]),
  );
}

function headerLink(name: string, index: number): Child {
  return [index === 0 ? '' : ', ', element('a', { href: `#header-${name}` }, name)];
}

function examplesOf({ example, examples = {} }: Media): readonly (readonly [name: string, value: unknown])[] {
  const named = Object.entries(examples).map(([name, { value }]) => [`Example: ${name}`, value] as const);
  return example === undefined ? named : [['Example', example], ...named];
}

// Style of the reference, in a light and a dark theme.

const REFERENCE_STYLE = `
:root {
  color-scheme: light dark;
  --paper: #ffffff; --panel: #f4f5f7; --line: #c9ced6; --text: #1b1f24; --quiet: #57606a; --accent: #0b5cad;
}
@media (prefers-color-scheme: dark) {
  :root { --paper: #14181d; --panel: #1c2128; --line: #444c56; --text: #e6edf3; --quiet: #a3adb8; --accent: #7ab7ff; }
}
* { box-sizing: border-box; }
body {
  margin: 0; color: var(--text); background: var(--paper); font: 15px/1.5 system-ui, "DejaVu Sans", sans-serif;
  display: grid; grid-template-columns: 17rem minmax(0, 1fr);
}
nav {
  position: sticky; top: 0; height: 100vh; overflow: auto; padding: 1rem; background: var(--panel);
  border-right: 1px solid var(--line);
}
nav h2 { font-size: 0.9rem; margin: 0.8rem 0 0.2rem; }
nav ul { list-style: none; margin: 0; padding: 0; }
nav li { padding: 0.15rem 0; }
main { padding: 1rem 2rem 4rem; max-width: 62rem; overflow-wrap: anywhere; }
main:focus { outline: none; }
section { border-top: 1px solid var(--line); margin-top: 2rem; padding-top: 0.5rem; }
h1 { font-size: 1.6rem; }
h2 { font-size: 1.25rem; }
h3 { font-size: 1.05rem; }
h4 { font-size: 0.95rem; font-weight: 600; margin: 1.2rem 0 0.3rem; }
a { color: var(--accent); }
a:focus-visible, summary:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
code, pre { font-family: ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace; font-size: 0.9em; }
code { overflow-wrap: anywhere; }
pre {
  margin: 0.3rem 0; padding: 0.6rem; background: var(--panel); border: 1px solid var(--line);
  white-space: pre-wrap; overflow-wrap: anywhere;
}
.request { padding: 0.4rem 0.6rem; background: var(--panel); border: 1px solid var(--line); }
.answer { margin-left: 0.2rem; }
.answer p { margin: 0.2rem 0; }
summary { cursor: pointer; }
table { border-collapse: collapse; width: 100%; }
th, td { text-align: left; vertical-align: top; padding: 0.3rem 0.6rem 0.3rem 0; border-bottom: 1px solid var(--line); }
th { font-weight: 600; }
small { display: block; color: var(--quiet); font-weight: 400; }
dt { margin-top: 0.6rem; }
dd { margin: 0; }
.skip { position: absolute; left: -99rem; }
.skip:focus { left: 1rem; top: 0.5rem; z-index: 1; background: var(--paper); padding: 0.3rem 0.6rem; }
@media (max-width: 48rem) {
  body { display: block; }
  nav { position: static; height: auto; border-right: 0; }
  main { padding: 1rem; }
}
`;

/**
 * @param nonce placeholder for the nonce of each response
 * @param openApiPath path of the OpenAPI document
 */
export function referencePage(document: ApiDocument, nonce: string, openApiPath: string): string {
  const { info, paths, components } = document;
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
  );
  const page = element(
    'html',
    { lang: 'en' },
    pageHead(`${info.title}: reference`, REFERENCE_STYLE, nonce),
    element(
      'body',
      {},
      element('a', { class: 'skip', href: '#reference' }, 'To the reference'),
      element(
        'nav',
        { 'aria-label': 'Contents' },
        element('h2', {}, 'Operations'),
        links(operations.map(({ operation: { operationId, summary } }) => [operationId, summary])),
        element('h2', {}, 'Schemas'),
        links(Object.keys(components.schemas).map((name) => [`schema-${name}`, name])),
        element('h2', {}, 'Headers'),
        links([['headers', 'Headers of answers']]),
      ),
      element(
        'main',
        { id: 'reference', tabindex: '-1' },
        element('h1', {}, info.title),
        element('p', {}, info.description),
        element('p', {}, 'Send the key with each request as ', element('code', {}, 'Authorization: Bearer KEY'), '.'),
        element('p', {}, 'For programs: ', element('a', { href: openApiPath }, 'the OpenAPI document'), '.'),
        operations.map(({ path, method, operation }) => operationView(method, path, operation)),
        Object.entries(components.schemas).map(([name, schema]) =>
          element(
            'section',
            { id: `schema-${name}`, 'aria-labelledby': `schema-${name}-name` },
            element('h2', { id: `schema-${name}-name` }, name),
            element('p', {}, meaningOf(schema)),
            schemaTable(schema) ?? element('p', {}, typeOf(schema)),
          ),
        ),
        headersView(components.headers),
      ),
    ),
  );
  return `<!doctype html>\n${textOf(page)}\n`;
}

function links(targets: readonly (readonly [id: string, text: string])[]): Html {
  return element(
    'ul',
    {},
    targets.map(([id, text]) => element('li', {}, element('a', { href: `#${id}` }, text))),
  );
}

function headersView(headers: ApiDocument['components']['headers']): Html {
  return element(
    'section',
    { id: 'headers', 'aria-labelledby': 'headers-name' },
    element('h2', { id: 'headers-name' }, 'Headers of answers'),
    element(
      'dl',
      {},
      Object.entries(headers).map(([name, { description }]) => [
        element('dt', { id: `header-${name}` }, element('code', {}, name)),
        element('dd', {}, description),
      ]),
    ),
  );
}

// Samples of one request in curl, JavaScript and Python, made from an operation of the OpenAPI document.

/** The parts of an operation that a sample needs. */
export interface SampledOperation {
  readonly method: string;
  /** With parameters in braces. */
  readonly path: string;
  /** False: the request works without a key. */
  readonly needsKey: boolean;
  /** True: the request sends a form with a file. */
  readonly sendsFile: boolean;
  /** True: the response is a file. Else it is JSON. */
  readonly returnsFile: boolean;
}

export interface Sample {
  readonly language: string;
  readonly text: string;
}

/** Stands for the origin of the service. */
const ORIGIN = 'https://runs.example.com';

/** Environment variable of the key, as in the documents. */
const KEY_VARIABLE = 'TEMPLATE_RUN_API_KEY';

const FILE = 'orders.csv';

const SAVED_FILE = 'output.csv';

export function samplesOf(operation: SampledOperation): readonly Sample[] {
  return [
    { language: 'curl', text: curlSample(operation) },
    { language: 'JavaScript', text: javaScriptSample(operation) },
    { language: 'Python', text: pythonSample(operation) },
  ];
}

/** Parameters become names that are to be replaced: `{run_id}` becomes `RUN_ID`. */
function addressOf({ path }: SampledOperation): string {
  return ORIGIN + path.replaceAll(/\{(\w+)\}/g, (_, name: string) => name.toUpperCase());
}

function curlSample(operation: SampledOperation): string {
  const { method, needsKey, sendsFile, returnsFile } = operation;
  return [
    'curl --fail-with-body',
    ...(method === 'get' || sendsFile ? [] : [`--request ${method.toUpperCase()}`]),
    ...(needsKey ? [`--header "Authorization: Bearer $${KEY_VARIABLE}"`] : []),
    ...(sendsFile ? ['--header "Idempotency-Key: $(uuidgen)"', `--form file=@${FILE}`] : []),
    ...(returnsFile ? [`--output ${SAVED_FILE}`] : []),
    addressOf(operation),
  ].join(' \\\n  ');
}

function javaScriptSample(operation: SampledOperation): string {
  const { method, needsKey, sendsFile, returnsFile } = operation;
  const headers = [
    ...(needsKey ? [`    Authorization: \`Bearer \${process.env.${KEY_VARIABLE}}\`,`] : []),
    ...(sendsFile ? ["    'Idempotency-Key': crypto.randomUUID(),"] : []),
  ];
  const options = [
    ...(method === 'get' ? [] : [`  method: '${method.toUpperCase()}',`]),
    ...(headers.length === 0 ? [] : ['  headers: {', ...headers, '  },']),
    ...(sendsFile ? ['  body: form,'] : []),
  ];
  const address = `'${addressOf(operation)}'`;
  return [
    ...(sendsFile ? ["import { openAsBlob } from 'node:fs';"] : []),
    ...(returnsFile ? ["import { writeFile } from 'node:fs/promises';"] : []),
    ...(sendsFile || returnsFile ? [''] : []),
    ...(sendsFile
      ? ['const form = new FormData();', `form.append('file', await openAsBlob('${FILE}'), '${FILE}');`]
      : []),
    ...(options.length === 0
      ? [`const response = await fetch(${address});`]
      : [`const response = await fetch(${address}, {`, ...options, '});']),
    'if (!response.ok) throw new Error(await response.text());',
    returnsFile
      ? `await writeFile('${SAVED_FILE}', new Uint8Array(await response.arrayBuffer()));`
      : 'console.log(await response.json());',
  ].join('\n');
}

/** With the package `requests`. */
function pythonSample(operation: SampledOperation): string {
  const { method, needsKey, sendsFile, returnsFile } = operation;
  const headers = [
    ...(needsKey ? [`"Authorization": "Bearer " + os.environ["${KEY_VARIABLE}"]`] : []),
    ...(sendsFile ? ['"Idempotency-Key": str(uuid.uuid4())'] : []),
  ];
  const values = [
    `"${addressOf(operation)}"`,
    ...(headers.length === 0 ? [] : [`headers={${headers.join(', ')}}`]),
    ...(sendsFile ? ['files={"file": file}'] : []),
  ];
  const call = [`response = requests.${method}(`, ...values.map((value) => `    ${value},`), ')'];
  return [
    ...(needsKey ? ['import os'] : []),
    ...(sendsFile ? ['import uuid'] : []),
    'import requests',
    '',
    ...(sendsFile ? [`with open("${FILE}", "rb") as file:`, ...call.map((line) => `    ${line}`)] : call),
    'response.raise_for_status()',
    ...(returnsFile
      ? [`with open("${SAVED_FILE}", "wb") as file:`, '    file.write(response.content)']
      : ['print(response.json())']),
  ].join('\n');
}
