// `npm run bench [-- engine|uploads|small-runs] [--bytes N] [--rounds N] [--folder DIR]`: without a name all of them.
import { existsSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { benchEngine } from './engine.ts';
import { benchSmallRuns } from './small-runs.ts';
import { benchUploads } from './uploads.ts';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    bytes: { type: 'string', default: '200000000' },
    rounds: { type: 'string', default: '5' },
    folder: { type: 'string', default: existsSync('/dev/shm') ? '/dev/shm/template-run-bench' : 'bench/data' },
  },
});
const wanted = (name: string): boolean => positionals.length === 0 || positionals.includes(name);

console.log(`Node ${process.version}, ${process.arch}; folder ${values.folder}; medians, ratio = template-run / other`);
if (wanted('engine')) {
  benchEngine({ folder: values.folder, inputBytes: Number(values.bytes), rounds: Number(values.rounds) });
}
if (wanted('uploads')) await benchUploads(values.folder, Number(values.bytes), Number(values.rounds));
if (wanted('small-runs')) await benchSmallRuns(Number(values.rounds));
