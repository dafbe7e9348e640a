// Runs the tests of several files in one process, one file after the other as tap takes them: `node import-several.js FILE...`.
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

for (const file of process.argv.slice(2)) await import(pathToFileURL(join(process.cwd(), file)).href);
