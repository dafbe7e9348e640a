// No error code can be forgotten: each mutation of the table of error codes is compiled with the real compiler.
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { test } from 'tap';
import { busy, FAILURES, isHttpError, refusal } from '../../../src/http/error-codes.ts';
import { skipUnlessLong } from '../../sweep.ts';

const FILES = ['src/http/error-codes.ts', 'workers/protocol/failure.ts'];
const COMPILER = join(dirname(createRequire(import.meta.url).resolve('typescript/package.json')), 'lib/tsc.js');

/** The lines that the compiler finds fault with. `change` is put into the file that holds `text`. */
function mistakes(folder: string, text = '', change = text): string[] {
  let changed = 0;
  for (const file of FILES) {
    const source = readFileSync(file, 'utf8');
    if (text !== '' && source.includes(text)) changed += 1;
    mkdirSync(join(folder, dirname(file)), { recursive: true });
    writeFileSync(join(folder, file), source.replace(text, change));
  }
  if (changed !== (text === '' ? 0 : 1)) throw new Error(`${text} stands in ${changed} files`);
  const options = { extends: join(process.cwd(), 'tsconfig.json'), include: ['src', 'workers'] };
  const types = { typeRoots: [join(process.cwd(), 'node_modules/@types')], noEmit: true };
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ ...options, compilerOptions: types }));
  writeFileSync(join(folder, 'package.json'), '{"type": "module"}');
  const { status, stdout, stderr } = spawnSync(process.execPath, [COMPILER, '-p', folder], { encoding: 'utf8' });
  const lines = stdout.split('\n').filter((line) => line.includes('error TS'));
  if ((status === 0) !== (lines.length === 0)) throw new Error(`${stdout}${stderr}`);
  return lines;
}

test('a code without a status or a meaning does not compile', { skip: skipUnlessLong }, async (t) => {
  t.strictSame(mistakes(t.testdir()), [], 'as it is it compiles');
  for (const [text, change, code] of [
    ["  | 'RUN_TIMEOUT'\n", "  | 'RUN_TIMEOUT'\n  | 'RUN_TOO_ODD'\n", 'RUN_TOO_ODD'],
    ["  | 'RATE_LIMITED'\n", "  | 'RATE_LIMITED'\n  | 'TOO_ODD'\n", 'TOO_ODD'],
    ['  RUN_TIMEOUT: {\n', '  RUN_TOO_LATE: {\n', 'RUN_TOO_LATE'],
    ['  MALFORMED_FILE: {\n    status: 400,\n', '  MALFORMED_FILE: {\n', 'MALFORMED_FILE'],
    ['    status: 503,\n', '    status: null,\n', 'SERVER_BUSY'],
    ['  SERVER_BUSY: {\n', "  NEVER_SENT: { status: 503, meaning: '' },\n  SERVER_BUSY: {\n", 'NEVER_SENT'],
    ["    meaning: 'The node has", "    reason: 'The node has", 'SERVER_BUSY'],
    ["    meaning: 'The Run took", "    reason: 'The Run took", 'RUN_TIMEOUT'],
    ["    advice: 'See the message.',\n", '', 'TEMPLATE_CHECK_FAILED'],
  ] as const) {
    const lines = mistakes(t.testdir(), text, change);
    t.ok(lines.length > 0, `${code} is refused`);
    t.ok(
      lines.every((line) => line.includes('src/http/error-codes.ts')),
      'in the table of error codes',
    );
  }
});

test('what ends a Run as failed is no HTTP error', async (t) => {
  for (const [code, { status }] of Object.entries(FAILURES) as [keyof typeof FAILURES, { status: number | null }][]) {
    t.equal(isHttpError(code), status !== null, code);
  }
});

test('a refusal has the Retry-After header of its code, unless the header is computed', async (t) => {
  const headers = [['Retry-After', '1']];
  t.strictSame(busy('full'), { code: 'SERVER_BUSY', message: 'full', headers });
  t.strictSame(refusal('CONCURRENCY_LIMIT_REACHED', 'full').headers, headers);
  for (const code of ['RATE_LIMITED', 'RUN_NOT_FOUND', 'NOT_FOUND', 'MALFORMED_FILE'] as const) {
    t.strictSame(refusal(code, 'no'), { code, message: 'no' });
  }
});
