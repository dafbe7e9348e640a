// That no error code can be forgotten: each mutation of the lists of codes is compiled with the real compiler.
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { test } from 'tap';
import { FAILURE_STATUSES, isHttpError } from '../../../src/http/status.ts';

const FILES = ['src/http/status.ts', 'src/http/code-meanings.ts', 'workers/protocol/failure.ts'];
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

test('a code without a status or a meaning does not compile', async (t) => {
  t.strictSame(mistakes(t.testdir()), [], 'as it is it compiles');
  for (const [text, change, code] of [
    ["  | 'RUN_TIMEOUT'\n", "  | 'RUN_TIMEOUT'\n  | 'RUN_TOO_ODD'\n", 'RUN_TOO_ODD'],
    ["  | 'RATE_LIMITED'\n", "  | 'RATE_LIMITED'\n  | 'TOO_ODD'\n", 'TOO_ODD'],
    ['  RUN_TIMEOUT: null,\n', '', 'RUN_TIMEOUT'],
    ['  MALFORMED_FILE: 400,\n', '', 'MALFORMED_FILE'],
    ['  SERVER_BUSY: 503,\n', '  SERVER_BUSY: null,\n', 'SERVER_BUSY'],
    ['  SERVER_BUSY: 503,\n', '  SERVER_BUSY: 503,\n  NEVER_SENT: 503,\n', 'NEVER_SENT'],
    ["  SERVER_BUSY: 'The node", "  SERVER_BUSIER: 'The node", 'SERVER_BUSIER'],
    ["  RUN_TIMEOUT: 'The Run", "  RUN_TOO_LATE: 'The Run", 'RUN_TOO_LATE'],
    ['  RUN_TIMEOUT: SAME_REQUEST,\n', '', 'RUN_TIMEOUT'],
  ] as const) {
    const lines = mistakes(t.testdir(), text, change);
    t.ok(lines.length > 0, `${code} is refused`);
    t.ok(
      lines.every((line) => /src\/http\/(?:status|code-meanings)\.ts/.test(line)),
      'where statuses and meanings are told',
    );
  }
});

test('what ends a Run as failed is no HTTP error', async (t) => {
  for (const [code, status] of Object.entries(FAILURE_STATUSES) as [keyof typeof FAILURE_STATUSES, number | null][]) {
    t.equal(isHttpError(code), status !== null, code);
  }
});
