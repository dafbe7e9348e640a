// V8's flags that the service sets: this Node knows them, and they have their effect. V8 ignores flags that it does not know.
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { skipUnlessLong } from '../../sweep.ts';

const FLAG_SETTER = /setFlagsFromString\(['`](--[a-z-]+)/g;

t.test('this Node knows every flag that the program sets', async (t) => {
  const known = execFileSync(process.execPath, ['--v8-options'], { encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 });
  const files = ['src', 'workers'].flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((name) => join(folder, name)),
  );
  const flags = files
    .filter((path) => path.endsWith('.ts'))
    .flatMap((path) => [...readFileSync(path, 'utf8').matchAll(FLAG_SETTER)].map(([, flag]) => flag!));
  t.ok(flags.length >= 3, flags.join(' '));
  for (const flag of flags) {
    const name = flag.replace(/^--(?:no-)?/, '');
    t.match(known, new RegExp(`^ +--${name} `, 'm'), flag);
  }
});

/** Prints how many full collections happen while arrays of 256 KiB are kept for a while. */
const PROGRAM = `
import { PerformanceObserver, constants } from 'node:perf_hooks';
import { paceCollections } from './dist/src/runtime/process-settings.js';
if (process.argv[1] === 'paced') paceCollections(16 * 1024 * 1024);
let full = 0;
const observer = new PerformanceObserver((list) => {
  for (const { detail } of list.getEntries()) full += detail.kind === constants.NODE_PERFORMANCE_GC_MAJOR ? 1 : 0;
});
observer.observe({ entryTypes: ['gc'] });
const kept = Array.from({ length: 300 }, (_, index) => 'x'.repeat(32768).concat(index).split(''));
for (let at = 0; at < 1500; at += 1) {
  kept[at % kept.length] = 'y'.repeat(32768).concat(at).split('');
  if (at % 100 === 0) await new Promise((resolve) => setImmediate(resolve));
}
await new Promise((resolve) => setTimeout(resolve, 0));
for (const { detail } of observer.takeRecords()) full += detail.kind === constants.NODE_PERFORMANCE_GC_MAJOR ? 1 : 0;
process.stdout.write(String(full));
`;

t.test('the heap is collected after less growth than by default', { skip: skipUnlessLong }, async (t) => {
  const collections = (kind: string): number => {
    const words = ['--input-type=module', '--eval', PROGRAM, kind];
    return Number(execFileSync(process.execPath, words, { encoding: 'utf8' }));
  };
  const [paced, usual] = [collections('paced'), collections('usual')];
  t.ok(usual > 0, `${usual} full collections by default`);
  t.ok(paced > usual, `${paced} full collections with the flag`);
});
