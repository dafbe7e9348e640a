// The demo fits on a screen, and shows the messy file, the Template and the clean output beside each other.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import { PACKAGE_FOLDER } from '../../src/package-folder.ts';
import { skipUnlessLong } from '../sweep.ts';

const LINES_MAX = 20;

t.test('the demo prints twenty lines', { skip: skipUnlessLong }, async (t) => {
  const demo = join(fileURLToPath(PACKAGE_FOLDER), 'examples', 'demo.mjs');
  const { status, stdout, stderr } = spawnSync(process.execPath, [demo], { encoding: 'utf8' });
  t.equal(status, 0, stderr);
  t.ok(stdout.trimEnd().split('\n').length <= LINES_MAX, stdout);
  t.match(stdout, /^ORDERS-EXPORT\.CSV, AS IT CAME +THE TEMPLATE SHOP-ORDERS +THE OUTPUT OF THE SERVICE\n/);
  t.match(stdout, /000418,open,89\.00,/, 'no amount is still text');
});
