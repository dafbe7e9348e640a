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
