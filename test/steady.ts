// Repeats `npm test` beside busy loops, and reports the failures: `npm run test:steady [-- RUNS]`. A test that fails only
// sometimes waits too briefly for a condition, or asserts a duration.
import { spawn } from 'node:child_process';

const RUNS = Number(process.argv[2] ?? 10);

/** Together with the tests, a load of about 8 on two cores. */
const BUSY_LOOPS = 6;

interface Outcome {
  readonly isPassed: boolean;
  readonly seconds: number;
  readonly output: string;
}

const loops = Array.from({ length: BUSY_LOOPS }, () =>
  spawn(process.execPath, ['-e', 'for (;;);'], { stdio: 'ignore' }),
);
const failures = new Map<string, number>();
let failedRuns = 0;
try {
  for (let run = 1; run <= RUNS; run += 1) {
    const { isPassed, seconds, output } = await npmTest();
    process.stdout.write(`run ${run} of ${RUNS}: ${isPassed ? 'passed' : 'FAILED'} in ${seconds.toFixed(0)} s\n`);
    if (isPassed) continue;
    failedRuns += 1;
    const failed = [...output.matchAll(/^FAILED (.+)$/gm)].map(([, name]) => name!);
    for (const name of failed) failures.set(name, (failures.get(name) ?? 0) + 1);
    // The whole report of failures; without such a report, the last part of the output.
    const start = output.indexOf('\nFAILED ');
    process.stdout.write(`${start === -1 ? output.slice(-4_000) : output.slice(start)}\n`);
  }
} finally {
  for (const loop of loops) loop.kill('SIGKILL');
}
for (const [name, times] of failures) process.stdout.write(`failed in ${times} of ${RUNS} runs: ${name}\n`);
process.stdout.write(`# ${RUNS - failedRuns} runs passed, ${failedRuns} failed\n`);
process.exitCode = failedRuns === 0 ? 0 : 1;

function npmTest(): Promise<Outcome> {
  const start = performance.now();
  const child = spawn('npm', ['test', '--silent'], { stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text) => (output += text));
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code) => {
      resolve({ isPassed: code === 0, seconds: (performance.now() - start) / 1000, output });
    });
  });
}
