// Sort, dedupe, aggregate, fills and join on a file much larger than their state may be: the answers are Miller's, memory stays
// bounded, and the spill files are removed, also after a cancel and on a full disk.
// With all tests only: work and memory of large inputs.
import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import { Cancelled } from '../../../workers/protocol/failure.ts';
import { sweep } from '../../sweep.ts';
import { digest, type Files, type LimitedRun, makeFiles, runLimited, STATE_BYTES } from './limited-run.ts';

/** Rows of the file: 15 or 30 MB. Each operation's state exceeds STATE_BYTES. test/stress/bounded-state.test.ts uses 200 MB. */
const ROWS = sweep({ short: 37_500, long: 300_000 });

const FILL_DOWN_BY_EMAIL =
  'if ($site == "" && is_present(@last[$email])) {$site = @last[$email]} if ($site != "") {@last[$email] = $site}';

const OPERATIONS: Readonly<Record<string, { readonly operation: object; readonly miller: readonly string[] | null }>> =
  {
    sort: {
      operation: { op: 'sort', by: [{ column: 'name', order: 'desc' }, 'id'] },
      miller: ['sort', '-r', 'name', '-f', 'id'],
    },
    dedupe: { operation: { op: 'dedupe', by: 'email' }, miller: ['head', '-n', '1', '-g', 'email'] },
    aggregate: {
      operation: {
        op: 'aggregate',
        group_by: 'email',
        metrics: [
          { fn: 'count', as: 'amount_count' },
          { fn: 'min', column: 'id', as: 'id_min' },
          { fn: 'max', column: 'name', as: 'name_max' },
        ],
      },
      miller: [
        'stats1',
        '-a',
        'count,min,max',
        '-f',
        'amount,id,name',
        '-g',
        'email',
        'then',
        'cut',
        '-o',
        '-f',
      ].concat(['email,amount_count,id_min,name_max']),
    },
    aggregate_values: {
      // One group has most of the rows: its values do not fit into the memory of the metrics.
      operation: {
        op: 'aggregate',
        group_by: 'site',
        metrics: [
          { fn: 'count_distinct', column: 'id', as: 'id_distinct_count' },
          { fn: 'mode', column: 'name', as: 'name_mode' },
          { fn: 'count_distinct', column: 'email', as: 'email_distinct_count' },
        ],
      },
      miller: ['stats1', '-a', 'distinct_count,mode', '-f', 'id,name,email', '-g', 'site'].concat([
        'then',
        'cut',
        '-o',
        '-f',
        'site,id_distinct_count,name_mode,email_distinct_count',
      ]),
    },
    fill_up: {
      operation: { op: 'fill_up', columns: ['site'] },
      miller: ['tac', 'then', 'fill-down', '-f', 'site', 'then', 'tac'],
    },
    fill_down: {
      operation: { op: 'fill_down', columns: ['site'], group_by: 'email' },
      miller: ['put', FILL_DOWN_BY_EMAIL],
    },
    join: {
      operation: { op: 'join', table: 't', on: 'email', columns: ['city'], type: 'inner' },
      miller: null,
    },
    map_values: {
      operation: { op: 'map_values', columns: 'email', table: 't', key: 'email', value: 'city', default: 'blank' },
      miller: null,
    },
    lookup: { operation: { op: 'set', columns: { city: 'lookup("t", email, "city")' } }, miller: null },
  };

function run(name: string, files: Files, stateBytes: number, isCancelledAtSpill = false): Promise<LimitedRun> {
  return runLimited(name, OPERATIONS[name]!.operation, files, stateBytes, isCancelledAtSpill);
}

const isChild = process.argv[2] === 'full-disk';

if (isChild) {
  // The last test starts this file under a limit on the size of files. With the signal caught, the write fails as on a full disk.
  process.on('SIGXFSZ', () => {});
  const [, , , folder] = process.argv;
  const files = { folder: folder!, input: join(folder!, 'orders.csv'), table: join(folder!, 'table.csv') };
  const { outcome, spill } = await run('sort', files, STATE_BYTES);
  process.stdout.write(JSON.stringify({ code: outcome.failure?.code, left: existsSync(spill) }));
} else {
  const hasMiller = spawnSync('mlr', ['--version']).status === 0;
  t.test('answers within 16 MiB of state', async (t) => {
    const files = makeFiles(t.testdir(), ROWS);
    for (const [name, { miller }] of Object.entries(OPERATIONS)) {
      const { outcome, output, spill, mostBytes } = await run(name, files, STATE_BYTES);
      t.equal(outcome.failure, null, name);
      t.notOk(existsSync(spill), `${name} leaves no spill files`);
      t.ok(mostBytes < STATE_BYTES * 2, `${name} took ${mostBytes} bytes`);
      if (miller === null) {
        const free = await run(name, files, 2 ** 40);
        t.ok(free.mostBytes > mostBytes, `${name} does not fit`);
        t.equal(digest(output), digest(free.output), `${name} gives what it gives in memory`);
      } else if (hasMiller) {
        const made = execFileSync('mlr', ['--csv', '-S', ...miller, files.input], { maxBuffer: 2 ** 30 });
        t.equal(digest(output), createHash('sha256').update(made).digest('hex'), `${name} gives what Miller gives`);
      } else t.comment(`${name} is not compared: mlr is not installed`);
    }
    for (const name of ['sort', 'join']) {
      await t.rejects(run(name, files, STATE_BYTES, true), Cancelled, 'is cancelled in the middle');
      t.same(
        readdirSync(files.folder).filter((file) => file.endsWith('.spill')),
        [],
        'and leaves nothing',
      );
    }
    const script = `ulimit -f 8192; exec "$0" "$1" full-disk "$2"`;
    const self = fileURLToPath(import.meta.url);
    const child = spawnSync('bash', ['-c', script, process.execPath, self, files.folder], { encoding: 'utf8' });
    t.same(child.stdout, '{"code":"RUN_RESOURCE_LIMIT","left":false}', child.stderr);
  });
}
